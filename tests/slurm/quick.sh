# labels: once long
# Experiments on a real Slurm: seeds as an array, a failure, a dependency, cancelling one
# that waits and one that runs, what is refused, retry, and the scripts that are kept.
. "$ROOT/tests/slurm/begin"
mkdir 'the project' && cd 'the project' || exit
lockstep exp init >/dev/null
export SBATCH_PARTITION=none SQUEUE_PARTITION=l40s_public SQUEUE_STATES=RUNNING SBATCH_COMMENT=mine

echo '--- an array of seeds, GPUs, and one that comes after a seed'
new b15 --seeds 42,123,456 --num-gpus 2 --partition h200_tandon -- \
	sh -c 'echo "{seed} on $CUDA_VISIBLE_DEVICES" >"{out}/seen"; echo "it'"'"'s {name}, attempt {attempt}, from \"{previous}\""; exit $(({seed} == 123 ? 3 : 0))'
new after --after b15_seed42 --partition l40s_public -- sh -c 'cat runs/b15_seed42/attempt-1/out/seen'
new never --after b15_seed123 --partition l40s_public -- true
lockstep exp submit --slurm b15 after never | sed -E 's/job-[0-9a-f]+/job-ID/; s/job [0-9]+/job N/'
until_ok are done b15_seed42 b15_seed456 after
until_ok are failed b15_seed123
cat runs/*/attempt-1/out/seen runs/b15_seed42/attempt-1/output.log
lockstep exp logs after
lockstep exp explain b15_seed123
until_ok sh -c 'lockstep exp explain never | grep -q NeverSatisfied'
lockstep exp explain never | sed -E 's/job [0-9]+/job N/'
history b15_seed42
grep -h '#SBATCH' runs/b15/job-*.sh | sed -E "s/$(pwd | sed 's/\//\\\//g')/PROJECT/; s/(lockstep:|job-)[0-9a-f-]{8,36}/\1ID/g"

unset SBATCH_PARTITION
echo '--- what Slurm refuses is not submitted, and says why'
new more --seeds 1,2 --num-gpus 3 --partition h200_tandon -- true
new fine -- true
fails lockstep exp submit fine more_seed1 --slurm
fails lockstep exp submit more --partition nowhere
fails lockstep exp submit fine --mem 64G
fails lockstep exp submit fine --partition h200_tandon --engine local
fails lockstep exp submit fine --slurm --sbatch nice
lockstep exp list --columns name,state,reason | grep -E 'more|fine'
ls runs

echo '--- cancel: one that runs and one that waits for its GPUs'
cat >long.sh <<'J'
trap 'echo told to end; exit 0' TERM
echo begun
while :; do sleep 0.05; done 2>/dev/null # bash says when its sleep is ended
J
new runs --num-gpus 2 --partition h200_tandon -- bash long.sh
new waits --num-gpus 2 --partition h200_tandon -- true
lockstep exp submit runs --slurm >/dev/null
until_ok are running runs
lockstep exp submit waits --slurm >/dev/null
until_ok sh -c 'lockstep exp explain waits | grep -q "free"'
until_ok grep -q begun runs/runs/attempt-1/output.log
lockstep exp cancel runs waits never
until_ok are cancelled runs waits never
lockstep exp logs runs
lockstep exp list --columns name,state,reason | grep -E 'runs|waits|never' | sed 's/  */ /g'

lockstep exp cancel b15 # a group that has ended
fails lockstep exp cancel runs

echo '--- again, with another seed'
lockstep exp retry --failed b15 --seed 7
until_ok are done b15_seed123
cat runs/b15_seed123/attempt-2/out/seen
history b15_seed123

echo '--- harvest'
new metrics --seeds 1,2 -- sh -c 'printf "step,loss\\n1,0.5\\n2,0.{seed}\\n" >"{out}/metrics.csv"'
lockstep exp submit metrics --slurm >/dev/null
until_ok are done metrics_seed1 metrics_seed2
lockstep exp harvest metrics
lockstep exp list --group metrics --columns name,loss
lockstep exp check
