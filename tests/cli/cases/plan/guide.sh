# The figures of a move from 4 L40S to 2 H200: 192 = 4 × 48 = 2 × 96 = 2 × 48 × 2, 537
# steps an epoch, 2685 of warm-up, 16110 in all; 1073 and 5365 if only the GPUs changed.
set -e
plan="lockstep plan --from L40S:4 --to H200:2 --batch 48 --samples 103000 --epochs 30 --warmup-epochs 5"
$plan
echo "status $?"
$plan --json | python3 -c '
import json, sys
p = json.load(sys.stdin)
o = p["options"]
print(p["exact"], [(x["batch_per_gpu"], x["gpus"], x["accumulation"]) for x in o])
assert all(x["batch_per_gpu"] * x["gpus"] * x["accumulation"] == 192 for x in o)
assert all((x["steps_per_epoch"], x["warmup_steps"], x["total_steps"]) == (537, 2685, 16110) for x in o)
u = p["unchanged"]
print(u["global_batch"], u["steps_per_epoch"], u["warmup_steps"])'
# the same from steps, and back
lockstep plan --from H200:2 --to L40S:4 --batch 48 --accum 2 --samples 103000 --steps 16110 --warmup-steps 2685 | sed -n 1,5p
