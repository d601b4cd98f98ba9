# each refused with status 2 and a sentence, and nothing left behind
D=$ROOT/tests/data
try() { lockstep fm train "$@" -q; echo "status $?"; }
try $D/small.svm
try no-such-file -o m
try $D/small.svm -o m --kind ffm
try $D/regression.svm -o m
try $D/multiclass.svm -o m --task multiclass --classes 3
try $D/unlabelled.svm -o m
try $D/small.svm -o m --metric auc
try $D/small.svm -o m --valid $D/small-valid.svm --metric rmse
try $D/small.svm -o m --lr -1
try $D/small.svm -o m --factors 1000
try $D/small.svm -o m --decay linear
try $D/small.svm -o m --resume
try $D/small.svm -o m --checkpoint c --resume
try $D/small.svm -o m --class-weight 1,2,3
try $D/small.svm -o m --device gpu
try $D/small.svm -o m --kernels mmx
try $D/small.svm -o no/such/folder/m
try $D/small.svm -o m --warm-start $D/small.svm
try $D/small.svm -o m --task regression --lr 1e6 --optimizer sgd --epochs 50
ls
