# the best epoch is the one whose metric is best, whichever it is; the loss is the mean by
# weight; time and rate are those of the rows
D=$ROOT/tests/data
# check METRIC LOG: best_epoch of stdin's JSON is the first with the best value in the
# log, of which the last is not
check() {
	python3 -c '
import json, sys
metric, log = sys.argv[1:]
got = json.load(sys.stdin) # to its end: then the log is whole
values = [json.loads(l)["valid"][metric] for l in open(log)]
best = min(values) if metric in ("logloss", "rmse") else max(values)
worst = max(values) if metric in ("logloss", "rmse") else min(values)
print(metric, got["best_epoch"] == values.index(best) + 1 and got[metric] == best and best != worst)' "$@"
}
valid=small # which the training learns; by the other metrics also what it does not
for metric in logloss accuracy auc macro-f1; do
	lockstep fm train $D/small.svm --valid $D/$valid.svm --metric $metric --lr 0.3 --batch 128 --l2 0 --epochs 12 --early-stop 0 --log $metric.log -o m -q --json | check $metric $metric.log
	valid=small-valid
done
lockstep fm train $D/regression.svm --task regression --valid $D/regression.svm --epochs 6 --early-stop 0 --lr 0.1 --batch 64 --l2 0 --log rmse.log -o m -q --json | check rmse rmse.log
echo "= loss"
mean() { # OPTION…: training and validation are of the same rows and hardly learn
	lockstep fm train "$@" --lr 1e-30 --init-scale 0.5 --valid "$1" --epochs 1 --log one --log-every 1 -o m -q
	python3 -c '
import json
*steps, epoch = map(json.loads, open("one"))
print(len(steps) > 1, round(epoch["loss"] / epoch["valid"]["logloss"], 5), epoch["seconds"] > 0)'
	rm one
}
mean $D/small.svm --batch 64
mean $D/small.svm --batch 64 --class-weight 100,100
awk '{ $1 = $1 " " (NR % 7) / 2; print }' $D/small.svm >weighted.svm
mean weighted.svm --batch 64
echo "= rate"
lockstep fm train $D/small.svm --batch 64 --epochs 2 --log two -o m 2>err >/dev/null
python3 -c '
import json, re
rows = sum(1 for _ in open("'$D/small.svm'"))
log = [json.loads(l)["seconds"] for l in open("two")]
said = [float(x) for x in re.findall(r" ([0-9.]+) M rows/s", open("err").read())]
print([abs(m - rows / s / 1e6) < 0.00051 for s, m in zip(log, said)])'
echo "= a log that was cut short"
printf '{"half' >cut
lockstep fm train $D/small.svm --epochs 1 --log cut -o m -q
wc -l <cut
tail -n 1 cut | python3 -c 'import json, sys; print(json.load(sys.stdin)["event"])'
echo "= classes that nobody has"
printf '1 1:1\n1 2:1\n' >one.svm
lockstep fm train one.svm -o m -q && lockstep fm eval m one.svm | grep -E 'macro|acc'
printf '0 1:1\n2 2:1\n5 3:1\n' >three.svm
lockstep fm train three.svm --task multiclass --classes 8 --epochs 30 --lr 1 -o m -q && lockstep fm eval m three.svm | grep -E 'macro|acc'
