# The same experiment on other GPUs, through plan: new --like, and where it could run now.
set -u
fails() { "$@" 2>&1; echo "exit $?"; }
show() { lockstep exp list --columns name,num_gpus,batch_size,accumulation,global_batch,warmup_steps,total_steps --where "name=$1" | tail -n 1 | sed 's/  */ /g'; }
lockstep exp init >/dev/null
lockstep exp template ijepa_mlp --partition l40s_public --num-gpus 4 --batch-size 48 --samples 103000 --epochs 30 \
	--warmup-epochs 5 --precision bf16 -- train.py --batch '{batch}' --accum '{accum}'
echo '--- the baseline, and the equivalent run, said and computed'
lockstep exp new --exp-id b15 --template ijepa_mlp --seed 42
fails lockstep exp new --exp-id b15_h200 --template ijepa_mlp --partition h200_tandon --num-gpus 2 --batch-size 96 --seed 42
show b15_h200
fails lockstep exp new like --like b15 --partition h200_tandon --num-gpus 2
show like
lockstep exp show like | grep -A1 ^notes | sed -E 's/[0-9-]+T[0-9:.]+Z/TIME/'
echo '--- what silently halves the global batch; what cannot be kept'
fails lockstep exp new wrong --like b15 --partition h200_tandon --num-gpus 2 --batch-size 48
show wrong
fails lockstep exp new five --like b15 --num-gpus 5
fails lockstep exp new v100 --like b15 --partition v100 --num-gpus 4
echo '--- resources'
fails lockstep exp resources --exp-id b15 --gpus H200:2,L40S:4,A100-80GB:5
fails lockstep exp resources b15 --gpus Z80:2
lockstep exp new cpu -- true
lockstep exp resources cpu | sed 's/has [0-9]* proc/has N proc/'
lockstep exp new unsized --num-gpus 2 -- true
fails lockstep exp resources unsized
fails lockstep exp resources nobody
fails lockstep exp resources

echo '--- GPUs of this machine, one held by a job; Slurm'
cat >nvml.txt <<'N'
driver 550.54.15
library 12.550.54.15
cuda 12040
N
for i in 0 1 2; do
	echo "gpu name=NVIDIA L40S|cc=8.9|memory=46068|power=350000|default=350000|ecc=1|mig=-|persistence=1|throttle=0x1|used=10|uuid=GPU-0000000$i-aaaa-bbbb-cccc-000000000000" >>nvml.txt
done
mkdir bin
cat >bin/sinfo <<'S'
#!/bin/sh
row() { printf '%-128s%-16s%-32s%-256s%-32s%-64s%-32s%-1024s%-1024s\n' "$@"; }
row h200_tandon* up 2-00:00:00 h1 idle 0/64/0/64 96000 gpu:h200:2 gpu:h200:0
row l40s_public up 2-00:00:00 l1 mixed 32/32/0/64 96000 gpu:l40s:4 gpu:l40s:4
S
cp bin/sinfo bin/squeue
chmod +x bin/*
here() { LD_LIBRARY_PATH=$BUILD/fake/nvml-new LS_FAKE_NVML=nvml.txt "$@"; }
lockstep exp new hold --num-gpus 1 -- sh -c 'touch begun; until [ -e go ]; do sleep 0.01; done' >/dev/null
lockstep exp submit hold
lockstep worker --once --gpus 1 2>/dev/null &
worker=$!
for _ in $(seq 3000); do
	if [ -e begun ]; then break; fi
	sleep 0.01
done
PATH="$PWD/bin:$PATH" here lockstep exp resources b15
touch go
wait $worker
PATH="$PWD/bin:$PATH" here lockstep exp resources b15 --json | python3 -c 'import json, sys
for p in json.load(sys.stdin)["places"]: print(p["where"], p["partition"], p["gpu"], p["free"], p["total"], p.get("config"))'
export PATH="$SCRATCH/.bin" # neither Slurm nor a driver
fails lockstep exp resources b15
