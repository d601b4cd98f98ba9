# labels: isa
# a plain training with validation, its log, and what can be done with the model
set -e
D=$ROOT/tests/data
lockstep fm train $D/small.svm --valid $D/small-valid.svm -o m.safetensors --batch 512 --lr 0.05 --epochs 3 --early-stop 0 --log log.jsonl --log-every 1 -q
python3 - <<'P'
import json
lines = [json.loads(l) for l in open("log.jsonl")]
print([(l["event"], l["epoch"], l["step"], "valid" in l) for l in lines])
print(sorted(set(k for l in lines for k in l)))
P
lockstep fm train $D/small.svm --valid $D/small-valid.svm -o n.safetensors --batch 512 --lr 0.05 --epochs 3 --early-stop 0 --json 2>/dev/null | python3 -c "
import json, sys
r = json.load(sys.stdin)
print(sorted(r), r['epochs'], r['best_epoch'])"
cmp m.safetensors n.safetensors
lockstep fm eval m.safetensors $D/small-valid.svm | cut -d' ' -f1
lockstep fm predict m.safetensors $D/unlabelled.svm -o p.txt
lockstep fm predict m.safetensors $D/small-valid.svm | cmp - p.txt
wc -l <p.txt
lockstep fm inspect m.safetensors --top 2 --json | python3 -c "
import json, sys
r = json.load(sys.stdin)
print(r['kind'], len(r['top_features']), len(r['top_pairs']), r['exact'])"
ls
