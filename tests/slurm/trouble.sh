# labels: slow
# Experiments on a real Slurm that goes wrong: an answer that is old, time limits, a submitter
# that is killed, jobs that only the accounting remembers. lost.sh has interrupted jobs.
. "$ROOT/tests/slurm/begin"
lockstep exp init >/dev/null
training

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
