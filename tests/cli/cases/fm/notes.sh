# what the course of a training tells its user, in a line each; nothing with -q
D=$ROOT/tests/data
say() { echo "- $*"; lockstep fm train "$@" 2>&1 >/dev/null | grep '^lockstep:'; }
say $D/small.svm -o m --batch 1000 --epochs 5
say $D/small.svm -o m --batch 100 --lr 1e-9 --valid $D/small-valid.svm --epochs 3
say $D/small.svm -o m --batch 100 --lr 50 --early-stop 1 --valid $D/small-valid.svm --epochs 3
say $D/small.svm -o m --batch 100 --lr 50 --epochs 1
say $D/small.svm -o m --batch 100 --epochs 5 --least-gain 1 --valid $D/small-valid.svm
say $D/regression.svm -o m --task regression --optimizer sgd --lr 1e5 --epochs 9 --batch 64
rate=$(lockstep fm train $D/regression.svm -o m --task regression --optimizer sgd --lr 1e5 --epochs 9 2>&1 | sed -n 's/.*try --lr //p')
lockstep fm train $D/regression.svm -o m --task regression --optimizer sgd --lr "$rate" --epochs 9 -q && echo "that rate stays"
lockstep fm train $D/small.svm -o m --batch 1000 -q 2>&1 | wc -l
