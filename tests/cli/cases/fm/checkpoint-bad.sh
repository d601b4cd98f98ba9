# a checkpoint that is torn, foreign or of another kind is refused with the reason; the
# model is not touched
plain="--epochs 1 --batch 1024 --l2 0" # whatever the defaults are
D=$ROOT/tests/data
lockstep fm train $plain $D/small.svm -o m --checkpoint c -q && lockstep fm train $plain $D/small.svm -o m2 --checkpoint c2 --lr 0.1 -q
try() { lockstep fm train $plain "$@" -q; echo "status $?"; }
head -c 5000 c > torn; try $D/small.svm -o x --checkpoint torn --resume
try $D/small.svm -o x --checkpoint c2 --resume
try $D/small-valid.svm -o x --checkpoint c --resume
try $D/small.svm -o x --checkpoint m --resume
lockstep fm digest c; echo "status $?"
lockstep fm digest torn; echo "status $?"
python3 - <<'P'
data = bytearray(open("c", "rb").read())
n = int.from_bytes(data[:8], "little")
head = data[8 : 8 + n].replace(b'"numerics_version":"4"', b'"numerics_version":"9"')
open("other", "wb").write(data[:8] + head + data[8 + n :])
P
try $D/small.svm -o x --checkpoint other --resume
ls
