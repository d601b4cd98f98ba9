# A precision and a TF32 setting that both sides have, and the caveats with their reasons.
lockstep plan --from A100-80GB:4 --to V100-32GB:8 --batch 48 --samples 103001 --precision bf16 --tf32 on \
	--batch-norm per-gpu --workers 12 --optimizer adamw --lr 3e-4
lockstep plan --from L40S:4 --to H200:2 --batch 48 --precision fp8 --tf32 on --json | python3 -c '
import json, sys
p = json.load(sys.stdin)
print(p["settings"], p["variance"][0])
print([(f["risk"], f["what"]) for f in p["findings"]])'
lockstep plan --from L40S:3 --to L40S:4 --batch 10 --optimizer sgd --lr 0.1 | sed -n '/precision/,$p'
