# the metrics of every task, what rows of one class leave out, and ndcg by groups
D=$ROOT/tests/data
lockstep fm train $D/small.svm -o binary -q --epochs 3
lockstep fm train $D/regression.svm -o regression --task regression -q
awk '{ $1 = NR % 3; print }' $D/small.svm >three.svm
lockstep fm train three.svm -o multiclass --task multiclass -q
names() { awk '{ print $1, ($2 == "left" ? $0 : "") }' | sed 's/ *$//'; }
echo "= binary"
lockstep fm eval binary $D/small-valid.svm | names
echo "= regression"
lockstep fm eval regression $D/regression.svm | names
echo "= multiclass"
lockstep fm eval multiclass three.svm | names
echo "= one class"
awk '{ $1 = 0; print }' $D/small-valid.svm >zeros.svm
lockstep fm eval binary zeros.svm | names
lockstep fm eval binary zeros.svm --json | python3 -c 'import json, sys; print(sorted(json.load(sys.stdin)["left_out"]))'
lockstep fm eval multiclass zeros.svm | names
echo "= groups"
python3 - <<'P'
import struct
def npy(name, numbers):
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d,), }" % len(numbers)
    head += " " * (-(len(head) + 11) % 64) + "\n"
    open(name, "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack("<%df" % len(numbers), *numbers))
npy("two.npy", [0, 0, 1, 1])
npy("three.npy", [0, 0, 1])
P
printf '1 1:1\n0 2:1\n0 1:1\n0 2:1\n' >four.svm
lockstep fm eval binary four.svm --group two.npy | grep ndcg
lockstep fm eval binary four.svm --group three.npy
lockstep fm eval multiclass four.svm --group two.npy
echo "status $?"
