# a checkpoint keeps every option to the bit: resumed with the same ones, even odd ones,
# it goes on
D=$ROOT/tests/data
common=($D/small.svm --factors 5 --batch 96 --lr 0.0312345678 --l1 1.2345678e-5 --l2 3.0000001e-4 --init-scale 0.0712345678 --normalize
	--label-smoothing 0.101234567 --class-weight 0.312345678,1.71234567 --shuffle blocks --seed 9223372036854775807 -q)
rate="--decay invsqrt --warmup-steps 3 --decay-steps 11"
for own in "sgd $rate" "ftrl --ftrl-beta 1.2345678" "adagrad $rate --initial-sum 0.312345678" \
	"adam $rate --beta1 0.812345678 --beta2 0.991234567 --eps 1.2345678e-7"; do
	args=("${common[@]}" --optimizer $own)
	lockstep fm train "${args[@]}" --epochs 3 -o whole --checkpoint end
	lockstep fm train "${args[@]}" --epochs 1 -o m --checkpoint c
	lockstep fm train "${args[@]}" --epochs 3 -o m --checkpoint c --resume && cmp m whole && cmp c end && echo ${own%% *}
done
# another value in its last digit is another option
no() { lockstep fm train "${args[@]}" --epochs 4 -o m --checkpoint c --resume "$@"; echo "status $?"; }
no --lr 0.0312345699
no --seed 9223372036854775806
no --class-weight 0.312345678,1.7123461
no --shuffle rows
no --warmup-steps 4
cmp m whole
# with a start from another model that need not be named again
lockstep fm train $D/small.svm --warm-start whole --factors 5 --epochs 2 -o warm -q
lockstep fm train $D/small.svm --warm-start whole --factors 5 -o w --checkpoint cw -q
lockstep fm train $D/small.svm --factors 5 --epochs 2 -o w --checkpoint cw --resume -q && cmp w warm && echo warm
# a best model of other data in the place of the one that the checkpoint tells of
lockstep fm train $D/small.svm --valid $D/small-valid.svm --epochs 2 -o b --checkpoint cb -q
head -500 $D/small.svm >other.svm
lockstep fm train other.svm -o b -q
lockstep fm train $D/small.svm --valid $D/small-valid.svm --epochs 3 -o b --checkpoint cb -q --resume; echo "status $?"
echo "= other validation data, or none"
again() { lockstep fm train $D/small.svm --epochs 2 -o v --checkpoint cv -q "$@"; echo "status $?"; }
again --valid $D/small-valid.svm --epochs 1
again --valid other.svm --resume
again --resume
again --valid $D/small-valid.svm --resume
