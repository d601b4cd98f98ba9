# what a training is about to do: rows, features, balance of labels, options and defaults
D=$ROOT/tests/data
say() { lockstep fm train "$@" -o m 2>&1 >/dev/null | grep -v '^fold' | head -n 2; }
say $D/small.svm
say $D/small.svm --valid $D/small-valid.svm --batch 64 --early-stop 2
say $D/small.ffm --kind ffm -k 2 --optimizer ftrl --epochs 3
say $D/regression.svm --task regression
awk '{ $1 = NR % 5 ? NR % 3 : 0; print }' $D/small.svm >three.svm
say three.svm --task multiclass
