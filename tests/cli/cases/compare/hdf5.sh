# HDF5 through Debian's libhdf5 (tests/tensor/files/make.py): a and b hold the same in
# other forms of the format, c does not. What is not read is counted.
f=$ROOT/tests/tensor/files
show() {
	echo "--- $1 $2"
	lockstep compare "$f/$1" "$f/$2"
	echo "exit $?"
}
show types-a.h5 types-b.h5
show types-a.h5 types-c.h5
show unread-a.h5 unread-b.h5
show a.weights.h5 b.weights.h5
show a.weights.h5 c.weights.h5
show a.keras b.keras
show a.keras c.keras
show a.legacy.h5 b.legacy.h5
show a.legacy.h5 c.legacy.h5
# cut short, and another byte where the superblock is
head -c 9000 "$f/types-a.h5" >cut.h5
python3 - "$f/types-a.h5" <<'PY'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
data[13] = 77
open("size.h5", "wb").write(data)
PY
for bad in cut size; do
	lockstep compare "$f/types-a.h5" $bad.h5 >out 2>&1
	echo "$bad: exit $?"
	sed 's/(libhdf5.*/(libhdf5)/' out
done
# a library that is none, and one that crashes, in the place of the real one
mkdir none crash
echo 'int nothing;' | cc -shared -fPIC -o none/libhdf5_serial.so.103 -x c -
grep -o '"H5[A-Za-z0-9_]*"' "$ROOT/src/tensor/hdf5_lib.c" | tr -d '"' |
	sed 's/.*/int &(void) { __builtin_trap(); }/' | cc -shared -fPIC -o crash/libhdf5_serial.so.103 -x c -
for place in none crash; do
	cp "$f/types-a.h5" a.h5
	cp "$f/types-c.h5" c.h5
	ASAN_OPTIONS=handle_sigill=0:${ASAN_OPTIONS:-} LD_LIBRARY_PATH=$PWD/$place lockstep compare a.h5 c.h5 >out 2>&1
	echo "$place: exit $?"
	sed 's|'"$PWD"'||; s/signal [0-9]*/signal N/' out
done
