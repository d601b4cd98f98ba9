# labels: once
# The lease of a Slurm job ends with the job's script, even when only that is killed: else a
# lost job would look alive for ever.
set -u
. "$ROOT/tests/job/wait.sh"
{
	echo 'experiment=x first=1 submission=u soft_limit=0 grace=1 requeue=false'
	echo 'program() { echo $BASHPID >program; exec sleep 1000; }'
	sed 's/pause 60/pause 0.1/' "$ROOT/src/job/slurm_attempt.sh"
} >job.sh
mkdir -p runs/x
SLURM_JOB_ID=1 SLURM_JOB_NODELIST=n bash "$PWD/job.sh" &
script=$!
until_ok test -e runs/x/attempt-1/alive
echo 'the lease is renewed'
until_ok test -s program
lives() { pgrep -f "^bash $PWD/job.sh" >/dev/null; }
ended() { ! lives; }
lives || echo 'pgrep does not see the script'
kill -9 $script
wait $script 2>/dev/null
until_ok ended
echo 'and ends with the script'
kill "$(cat program)"
