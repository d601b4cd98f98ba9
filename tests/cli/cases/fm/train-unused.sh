# An option that would do nothing beside the others is refused with status 2, and nothing
# is left behind; the same option
# where it means something is taken.
D=$ROOT/tests/data
try() { lockstep fm train "$D/small.svm" -o m -q "$@"; echo "status $?: $*"; rm -f m; }
fits() { lockstep fm train "$D/$1" -o m -q "${@:2}" || echo "refused: $*"; rm -f m; }
try --optimizer ftrl --warmup-steps 5
try --optimizer ftrl --decay linear --decay-steps 5
try --optimizer ftrl --decay-steps 5
try --optimizer ftrl --decay none
try --optimizer ftrl --warmup-steps 0
try --decay-steps 5
try --decay none --decay-steps 5
try --task regression --label-smoothing 0.1
try --log-every 5
try --beta1 0.8
try --optimizer sgd --beta2 0.9
try --optimizer ftrl --eps 1e-6
try --optimizer adam --initial-sum 2
try --optimizer adam --ftrl-beta 2
try --task regression --class-weight balanced
try --classes 3
try --early-stop 2
try --valid-labels y.npy
try --checkpoint-every 5
try --kernels baseline --device cuda
try --device-memory 8G --device cpu
try --device-memory 8G --kernels baseline
fits small.svm --optimizer ftrl --ftrl-beta 2 --l1 0.01
fits small.svm --optimizer adam --beta1 0.8 --beta2 0.9 --eps 1e-6 --warmup-steps 5 --decay linear --decay-steps 5
fits small.svm --optimizer sgd --l1 0.001 --label-smoothing 0.1 --class-weight balanced --device auto --kernels baseline
fits small.svm --initial-sum 2 --log log --log-every 1
fits small.svm --device-memory 8G
ls
