# labels: once
# Who knows experiment managers finds their words here, with the options that they type:
# new, submit, resources, harvest, export, and variance over a prefix of names.
set -u
manage() { lockstep exp "$@" 2>>notes || echo "$1: exit $?"; }
lockstep exp init >/dev/null
manage template ijepa_mlp --partition l40s_public --num-gpus 4 --batch-size 48 --samples 103000 --epochs 30 --warmup-epochs 5 \
	--harvest stdout:pdm_score -- sh -c 'echo "pdm_score: 0.82$(printf %s {name} | cksum | cut -c 1-2)"'

echo '--- the baseline, and the same on other GPUs'
manage new \
	--exp-id b15_baseline \
	--template ijepa_mlp \
	--description "Baseline on L40S" \
	--partition l40s_public \
	--num-gpus 4 \
	--batch-size 48
manage submit b15_baseline
manage resources --exp-id b15_baseline --gpus H200:2 | head -n 2
manage new \
	--exp-id b15_h200 \
	--template ijepa_mlp \
	--description "Same config on H200" \
	--partition h200_tandon \
	--num-gpus 2 \
	--batch-size 96
manage submit b15_h200

echo '--- three seeds each, one by one'
for seed in 42 123 456; do
	manage new \
		--exp-id b15_l40s_seed${seed} \
		--template ijepa_mlp \
		--partition l40s_public \
		--seed ${seed}
	manage new \
		--exp-id b15_h200_seed${seed} \
		--template ijepa_mlp \
		--partition h200_tandon \
		--num-gpus 2 \
		--batch-size 96 \
		--seed ${seed}
	manage submit b15_l40s_seed${seed} b15_h200_seed${seed}
done
lockstep worker --once --gpus 0,1,2,3 2>>notes

echo '--- what came out'
manage harvest b15_baseline
manage harvest b15_h200
manage harvest --all
manage export comparison.csv
python3 - <<'P'
import csv
for row in csv.DictReader(open("comparison.csv")):
    print(*[row[k] for k in ("exp_id", "pdm_score", "partition", "num_gpus", "batch_size", "total_steps")])
P
manage variance --exp-prefix b15_l40s
manage variance --exp-prefix b15_h200
grep -c 'other orders of summation' notes
