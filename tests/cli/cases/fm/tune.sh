# labels: once
# a search for options: the same trials for the same seed, each repeated by its command to
# the bit, and the best of them is the model
D=$ROOT/tests/data
lockstep fm tune $D/small.svm -o best --trials 5 --epochs 4 --threads 1 -q >table
lockstep fm tune $D/small.svm -o again --trials 5 --epochs 4 --threads 2 -q >table2
cmp best again && echo same
diff <(sed 's/--threads .//; s/again/best/' table2) <(sed 's/--threads .//' table) && echo same
wc -l <table
n=0
head -n 5 table | while read -r value command; do
	n=$((n + 1))
	eval "${command/-o MODEL/-o m$n} --json" 2>/dev/null | python3 -c "
import json, sys
print('%.6f' % json.load(sys.stdin)['logloss'] == '$value')"
done
cmp m1 best && echo "the best is its command's"
head -n 1 table | grep -c 'fm train .*--valid-fraction 0.2'
lockstep fm tune $D/small.ffm --kind ffm --valid $D/small-valid.ffm --metric auc --lr 0.1 --batch 64 -o f --trials 2 --epochs 2 -q --json | python3 -c '
import json, sys
v = json.load(sys.stdin)
print(len(v["trials"]), [t["command"].count("--lr 0.1 --batch 64") for t in v["trials"]], v["trials"][0]["auc"] >= v["trials"][1]["auc"] or v["trials"][0]["epochs"] > v["trials"][1]["epochs"])'
echo "= the rate runs away"
lockstep fm tune $D/regression.svm --task regression --optimizer sgd --lr 1e6 --batch 8 -o x --trials 1 --epochs 1 -q
echo "status $?"
ls x 2>/dev/null
lockstep fm tune $D/small.svm
echo "status $?"
lockstep fm tune $D/small.svm -o x --valid $D/small-valid.svm --valid-fraction 0.1
echo "status $?"
