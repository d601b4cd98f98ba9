# a row at a time is the CPU's: where there is a GPU too, --device cuda is refused, and
# auto takes the CPU
mkdir lib
cp "$BUILD/fake/libcuda.so.1" lib
train() { LD_LIBRARY_PATH=lib lockstep fm train "$ROOT/tests/data/online.ffm" --kind ffm --online -o m -q "$@"; }
train --device cuda
echo "status $?"
train --device auto --json | grep -o '"engine": "cpu'
lockstep fm digest m | cut -d' ' -f1 >auto
train --device cpu && lockstep fm digest m | cut -d' ' -f1 | cmp - auto && echo "the CPU's bytes"
