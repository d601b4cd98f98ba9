# rows that do not fit the task, or count for nothing, or are too long to be normalised:
# refused by name, in training, validation and use
D=$ROOT/tests/data
try() { lockstep fm "$@"; echo "status $?"; }
lockstep fm train $D/small.svm -o m -q && lockstep fm train $D/multiclass.svm --task multiclass -o c -q
lockstep fm train $D/small.svm --normalize -o n -q
try train $D/small.svm --valid $D/regression.svm -o x -q
try eval m $D/regression.svm
printf '2.5 1:1\n' > half.svm; try eval c half.svm
printf -- '-1 1:1\n' > below.svm; try eval c below.svm
printf '1 1:1\n0 2:1\n' > two.svm
python3 - <<'P'
import struct
def npy(name, values):
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d,), }" % len(values)
    head += " " * (-(10 + len(head) + 1) % 64) + "\n"
    open(name, "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack("<%df" % len(values), *values))
npy("none.npy", [0, 0])
npy("one.npy", [0, 1])
npy("five.npy", [1, 5])
P
try eval m two.svm --weights none.npy
try eval m two.svm --weights one.npy | tail -1
try train two.svm --weights none.npy -o x -q
try train two.svm --class-weight 0,0 -o x -q
try train two.svm --class-weight 0,1 -o y -q
printf '1 1:2e19 2:1e19\n' > long.svm; printf '1 1:1e-30 2:1\n0 1:1e-30\n' > short.svm; printf '0 1:0\n1 1:1e18 2:1e18\n' > fits.svm
try predict n long.svm
try predict n short.svm
printf '1 1:1e-20\n' > faint.svm; try predict n faint.svm
try predict n fits.svm | tail -1
try train long.svm --normalize -o x -q
# what the model does not know is no part of a row, nor of its length
printf '1 1:1 2:2\n1 1:1 2:2\n' > known.svm; printf '1 1:1 9999:3 2:2\n1 1:1 2:2 9999:1e20\n' > more.svm
lockstep fm predict n known.svm > want && lockstep fm predict n more.svm | cmp - want && echo as without
printf '1 1:1e-25 9999:1\n' > hidden.svm; try predict n hidden.svm; try eval n hidden.svm
try train two.svm --normalize --valid hidden.svm -o x -q
echo "= validation rows, to which class weights are nothing"
printf '1 0 1:1\n0 0 2:1\n' > nothing.svm
printf '0 1:1\n0 2:1\n' > zeros.svm
try train two.svm --class-weight 0,1 --valid zeros.svm -o y -q
try train two.svm --valid nothing.svm -o x -q
try train two.svm --valid long.svm --normalize -o x -q
echo "= a feature number that no machine has memory for"
printf '1 4294967295:1\n' > far.svm
try train far.svm --factors 256 -o x -q 2>&1 | sed 's/for [0-9]* MiB/for N MiB/'
echo "= validation has its own form, weights and classes"
grep '^1' $D/small-valid.svm > ones.svm; lockstep fm convert $D/small.svm -o s.lsd >/dev/null
try train s.lsd --valid ones.svm --metric auc -o x -q
try train s.lsd --format lsd --valid $D/small-valid.svm -o y -q
try train - --valid - -o x -q < $D/small.svm
try train $D/small.svm --valid $D/small-valid.svm --valid-weights one.npy -o x -q
try train $D/small.svm --valid two.svm --valid-weights one.npy -o y -q
try train $D/small.svm --valid-weights one.npy -o x -q
printf '1 1:1\n-1 2:1\n' > minus.svm; printf '\n1 1:1\n  70000 2:1\n' > far.svm
try train minus.svm --task multiclass -o x -q
try train far.svm --task multiclass -o x -q
try train far.svm --task multiclass --classes 10 -o x -q
echo "= labels and weights of another file are told by its name"
sed 's/^[^ ]* //' two.svm > bare.svm
try train bare.svm --labels five.npy -o x -q
try train bare.svm --labels one.npy --weights none.npy -o x -q
[ -e x ] || echo nothing written
