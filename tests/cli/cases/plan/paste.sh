# YAML, variables and the lines for torchrun and sbatch are what those programs take.
set -e
plan="lockstep plan --from L40S:4 --batch 48 --samples 103000 --epochs 30 --warmup-epochs 5"
$plan --to H200:2 --yaml --precision bf16 --tf32 on --workers 12 --lr 3e-4
$plan --to H200:5 --yaml >nearest.yaml || echo "status $?"
sed -n 1,8p nearest.yaml
$plan --to H200:2 --env --precision fp16 --tf32 off >plan.env
cat plan.env
( . ./plan.env && env | grep -c -E '^(PER_GPU_BATCH=96|GRAD_ACCUM=1|WARMUP_STEPS=2685|TOTAL_STEPS=16110|TF32=0)$' )
# stand-ins show the words that arrive
torchrun() { env | grep -E '^(PER_GPU_BATCH|TOTAL_STEPS)=' | sort; printf 'torchrun'; printf ' <%s>' "$@"; echo; }
srun() { echo srun; "$@"; }
sbatch() { printf 'sbatch'; printf ' <%s>' "${@:1:$#-1}"; echo; eval "${@: -1}"; }
hostname() { echo node1; }
HEAD_NODE=node1
run() { $plan --json "$@" >plan.json; for how in torchrun sbatch; do
	eval "$(python3 -c 'import json, sys; print(json.load(open("plan.json"))["launch"][sys.argv[1]])' $how)"; done; }
run --to H200:2 --precision bf16
run --to H200:4 --gpus-per-node 2 --partition 'h200 tandon' -- python3 train.py --bs={batch} '{"steps": {steps}}' "it's" '$HOME' '{unknown} {}'
run --to A100-80GB:2 -- python3 -u train.py {accum}
run --to "RTX 4090:4" -- /opt/python3.11 -m pkg.train --warmup {warmup}
run --to H200:2 -- ./trainer {global}
