# labels: once long
# Jobs on a real Slurm that are interrupted: a requeue, a node that fails, a controller that
# is killed while one runs and one waits.
. "$ROOT/tests/slurm/begin"
lockstep exp init >/dev/null
training
# Jobs of others, which squeue lists, too: a throttled array, comments that look like
# ours.
sbatch -a 0-9%1 --comment='lockstep:' --wrap 'sleep 100000' >/dev/null
sbatch --hold --comment="$(printf 'lockstep:\n1\x1fN/A\x1fRUNNING\x1f\x1f\x1f\x1f\x1flockstep:12345678-1234-1234-1234-123456789abc')" --wrap true >/dev/null

echo '--- requeued by an administrator, or preempted'
new again --num-gpus 4 -- bash train.sh {attempt}
lockstep exp submit again --slurm >/dev/null
until_ok test -e runs/again/attempt-1/out/kept
scontrol requeue "$(job again)"
until_ok are done again
lockstep exp logs again
history again

echo '--- a node fails'
new node --num-gpus 4 -- bash train.sh {attempt}
lockstep exp submit node --slurm >/dev/null
until_ok test -e runs/node/attempt-1/out/kept
until_ok are running node
host=$(squeue -h -j "$(job node)" -o %N)
cluster kill "slurmd-$host"
read -r script program <runs/node/attempt-1/out/pids
kill -9 "$(ps -o ppid= -p "$script" | tr -d ' ')" "$script" "$program" # and all that ran on it
scontrol update "nodename=$host" state=down reason=test
until_ok are done node
history node
lockstep exp logs node
cluster node "$host"
scontrol update "nodename=$host" state=resume

echo '--- the controller is killed while one runs and one waits'
new runs --num-gpus 2 --partition h200_tandon -- bash train.sh {attempt}
new waits --num-gpus 2 --partition h200_tandon -- true
lockstep exp submit runs waits --slurm >/dev/null
until_ok are running runs
saved() { # the controller has written its state since
	[ "$SCRATCH/slurm/state/job_state" -nt runs/runs/attempt-1/out/kept ]
}
until_ok saved
cluster kill slurmctld
lockstep exp status 2>&1 | sed -E 's/  +/ | /g; s/job [0-9]+/job N/; s/old: .*/old: …/'
lockstep exp explain waits 2>/dev/null | sed 's/ (.*//'
touch go
until_ok test -e runs/runs/attempt-1/exit.json
lockstep exp status 2>/dev/null | grep -c runs # its record is enough
cluster controller 2>/dev/null
until_ok are done runs waits
history runs
history waits
rm go


states
lockstep exp check
