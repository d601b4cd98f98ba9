# early stopping counts epochs in a row that are no better, and does not know of
# interruptions
D=$ROOT/tests/data
args=($D/small.svm --valid $D/small-valid.svm --batch 128 --l2 0 --metric auc --early-stop 2 -q --json)
brief() { grep -E '"(epochs|best_epoch|auc|digest)"'; }
lockstep fm train "${args[@]}" --lr 0.3 --epochs 12 -o whole --log log | brief >want
grep -o '"best":[a-z]*' log | tr '\n' ' '
# an epoch at a time, always resumed, it ends where a training in one go does
for epochs in 1 2 3 4 5 6 7 8 9; do
	lockstep fm train "${args[@]}" --lr 0.3 --epochs $epochs -o m --checkpoint c $resume >r || break
	resume=--resume
done
brief <r | cmp - want && cmp m whole && echo same
# an epoch that is only as good is not better, by whatever metric
for metric in logloss accuracy auc macro-f1; do
	lockstep fm train "${args[@]}" --lr 1e-30 --epochs 9 --metric $metric -o m | grep -E 'epoch'
done
# the log: steps where they were asked for, and what was lost on the mean of the rows so
# far
lockstep fm train $D/small.svm --batch 128 --lr 1e-30 --shuffle none --epochs 2 --log-every 3 --log steps -o m -q
sed 's/\(loss":0\.[0-9]\{7\}\).*/\1/' steps
# checkpoints, too, in every epoch: 5 steps each, and after step 6 of this training
# nothing is finite
lockstep fm train $D/regression.svm --task regression --optimizer sgd --lr 2 --epochs 20 --batch 120 --shuffle none --checkpoint c --checkpoint-every 3 -o m -q 2>/dev/null
echo "status $?"
grep -aom 1 'step..: [0-9]*' c
