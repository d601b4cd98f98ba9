# labels: slow
# Experiments on a real Slurm that goes wrong: a requeue, a node that fails, a controller
# that is killed while jobs run and wait, an answer that is old, time limits, a submitter
# that is killed, jobs that only the accounting remembers.
. "$ROOT/tests/slurm/begin"
lockstep exp init >/dev/null
# Goes on from what the attempt before has kept; its first attempt waits for the end.
cat >train.sh <<'J'
echo $PPID $$ >"$LOCKSTEP_OUT/pids"
if [ -e "$LOCKSTEP_PREVIOUS/kept" ]; then echo "went on from $(cat "$LOCKSTEP_PREVIOUS/kept")"; exit 0; fi
trap 'exit 1' TERM
echo "attempt $1" >"$LOCKSTEP_OUT/kept"
until [ -e go ]; do sleep 0.05; done 2>/dev/null
echo went >>"$LOCKSTEP_OUT/kept"
J
# Jobs of others, which squeue lists, too: a throttled array, comments that look like ours.
sbatch -a 0-9%1 --comment='lockstep:' --wrap 'sleep 100000' >/dev/null
sbatch --hold --comment="$(printf 'lockstep:\n1\x1fN/A\x1fRUNNING\x1f\x1f\x1f\x1f\x1flockstep:12345678-1234-1234-1234-123456789abc')" --wrap true >/dev/null
states() { lockstep exp list --columns name,state,attempt,reason | sed -E 's/  +/ | /g; s/job [0-9]+/job N/; s/after [0-9]+ s/after S s/'; }
gone() { ! squeue -h -j "$1" -t running,completing -o %T 2>/dev/null | grep -q .; }

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

echo '--- time limits'
new soft -- bash train.sh {attempt}
new hard -- bash -c 'trap "" TERM; while :; do sleep 0.1; done 2>/dev/null'
lockstep exp submit soft --slurm --soft-limit 1 --requeue >/dev/null
lockstep exp submit hard --slurm --hard-limit 60 >/dev/null
until_ok are done soft
lockstep exp logs soft
history soft
until_ok are failed hard

echo '--- a job begins after Slurm was asked and before its folder is looked at'
mkdir bin
cat >bin/squeue <<J
#!/bin/bash
$(command -v squeue) "\$@" >answer
touch asked
until [ -e answer-now ]; do sleep 0.05; done
cat answer
J
chmod +x bin/squeue
new late --num-gpus 1 -- bash train.sh {attempt}
lockstep exp submit late --slurm --sbatch=--hold >/dev/null
PATH=$PWD/bin:$PATH lockstep exp status >/dev/null &
looking=$!
until_ok test -e asked
scontrol release "$(job late)"
until_ok test -e runs/late/attempt-1/out/kept
touch answer-now
wait $looking
history late
touch go
until_ok are done late
history late
rm -r bin go

echo '--- the submitter is killed before and after Slurm has the job'
real=$(command -v sbatch)
mkdir bin
cat >bin/sbatch <<'J'
#!/bin/bash
case $1 in --test-only) exec "$REAL" "$@" ;; esac
[ "$WHEN" = before ] || "$REAL" "$@"
kill -9 "$PPID"
J
chmod +x bin/sbatch
for when in before after; do
	new cut-$when --seeds 1,2 -- true
	WHEN=$when REAL=$real PATH=$PWD/bin:$PATH lockstep exp submit cut-$when --slurm 2>/dev/null
	echo "status $?"
done
until_ok are done cut-after_seed1 cut-after_seed2
until_ok are cancelled cut-before_seed1 cut-before_seed2
lockstep exp submit cut-before --slurm >/dev/null
until_ok are done cut-before_seed1 cut-before_seed2
squeue -h -r -t all -o %j | grep -c cut-after # sent once

echo '--- the accounting knows what squeue has forgotten'
new old -- bash -c 'echo $$ >"$LOCKSTEP_OUT/pid"; while :; do sleep 0.1; done 2>/dev/null'
lockstep exp submit old --slurm >/dev/null
until_ok test -e runs/old/attempt-1/out/pid
id=$(job old)
cat >bin/squeue <<J
#!/bin/bash
$(command -v squeue) "\$@" | grep -v "^$id"
J
cat >bin/sacct <<J
#!/bin/bash
printf '$id\\x1f%s\\x1fNODE_FAIL\\x1fold\\n' "\$(date +%s)"
J
rm bin/sbatch
chmod +x bin/*
PATH=$PWD/bin:$PATH until_ok are dead old
scancel "$id"

echo '--- eight submitters at once'
for i in 1 2 3 4 5 6 7 8; do new many$i --seeds 1,2 -- true; done
for i in 1 2 3 4 5 6 7 8; do lockstep exp submit many$i --slurm >/dev/null & done
wait %1 %2 %3 %4 %5 %6 %7 %8
until_ok are done many{1,2,3,4,5,6,7,8}_seed{1,2}
squeue -h -r -t all -o %j | grep -c many

states
lockstep exp check
