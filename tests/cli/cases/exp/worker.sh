# The local engine: order, GPUs, dependencies, limits, cancel, retries; and that a killed
# worker or supervisor neither loses a job nor lets one run twice. Everything waits for
# files and states.
set -u
trap 'kill $(jobs -p) 2>/dev/null' EXIT
. "$ROOT/tests/job/wait.sh"
table() { lockstep exp list --columns name,state,attempt,reason; }

lockstep exp init >/dev/null
echo '--- order: priority, then first in first out; dependencies; GPUs'
for n in a b c d; do quiet lockstep exp new $n -- sh -c 'echo {name} >>order' >/dev/null; done
quiet lockstep exp new e --after b --num-gpus 2 -- sh -c 'echo {name} on $CUDA_VISIBLE_DEVICES >>gpus' >/dev/null
quiet lockstep exp new big --num-gpus 3 -- true >/dev/null
lockstep exp submit a
lockstep exp submit e b c big
lockstep exp submit d --priority 5 --json
lockstep exp explain e
lockstep exp explain a
fails lockstep exp submit a
quiet lockstep worker --once --gpus 4,7 --cpus 1
cat order gpus
table
fails lockstep exp submit a
lockstep exp cancel big --json
fails lockstep exp cancel big

echo '--- how they end'
quiet lockstep exp new fail --seed 1 -- sh -c 'echo {seed} $LOCKSTEP_EXPERIMENT; exit 3' >/dev/null
quiet lockstep exp new none -- ./not-there >/dev/null
quiet lockstep exp new killed -- sh -c 'kill -9 $$' >/dev/null
# ends only by the limits; goes on from what the attempt before has kept
quiet lockstep exp new soft -- bash -c 'if [ -e "{previous}/kept" ]; then echo went on; exit 0; fi
	trap "touch {out}/kept; exit 1" TERM
	while :; do sleep 0.01; done' >/dev/null
# ignores SIGTERM, and has a child in a session of its own that does, too
quiet lockstep exp new hard -- bash -c 'trap "" TERM; setsid bash -c "trap \"\" TERM; while :; do sleep 1; done" & echo $! >{out}/child; while :; do sleep 1; done' >/dev/null
quiet lockstep exp new left -- bash -c 'sleep 100000 & echo $! >{out}/child' >/dev/null
lockstep exp submit fail none left
lockstep exp submit killed --retries 1
lockstep exp submit soft --soft-limit 0.1 --requeue --retries 100
lockstep exp submit hard --soft-limit 0.1 --hard-limit 0.3 --grace 1000
fails quiet lockstep worker --once --gpus none --cpus 3
table | tail -n 6 | sed -E 's/(soft +done +)[0-9]+/\1N/; s/  +/ | /g'
lockstep exp logs soft
lockstep exp logs fail
lockstep exp logs none
for n in hard left; do
	kill -0 "$(cat runs/$n/attempt-1/out/child)" 2>/dev/null && echo "the child of $n lives"
done
lockstep exp explain killed
lockstep exp retry fail --seed 9
fails lockstep exp retry --failed
lockstep exp cancel fail none killed hard big
lockstep exp retry fail
fails quiet lockstep worker --once --gpus none
lockstep exp logs fail
lockstep exp logs fail --attempt 1
lockstep exp show fail | grep attempt-[12] | sed -E 's/[0-9.]+ (s|[KM]iB)/N/g'
history fail
lockstep exp status --json | python3 -c 'import json, sys; d = json.load(sys.stdin); w = d["counts"]["window"]; print(d["counts"]["done"], w["ended"] > w["done"] > 5, d["workers"])'

echo '--- cancel, logs -f'
quiet lockstep exp new long -- bash -c 'trap "echo told to end; exit 0" TERM; echo begun; while :; do sleep 0.01; done' >/dev/null
lockstep exp submit long
lockstep worker --gpus none >/dev/null 2>&1 &
worker=$!
until_ok grep -q begun runs/long/attempt-1/output.log
lockstep exp logs -f long >followed &
follower=$!
until_ok grep -q begun followed
lockstep exp cancel long
wait $follower
cat followed
until_ok state_is long cancelled
kill $worker
wait $worker
echo "worker $?"

echo '--- kill -9 of the worker: the job goes on and is taken back'
cat >job.sh <<'J'
echo begun >>log-$1
until [ -e go-$1 ]; do sleep 0.01; done
echo ended >>log-$1
J
quiet lockstep exp new kept -- bash job.sh kept >/dev/null
lockstep exp submit kept
lockstep worker --gpus none >/dev/null 2>&1 &
worker=$!
until_ok grep -q begun log-kept
kill -9 $worker
wait $worker 2>/dev/null
state_is kept running && echo running
lockstep worker --gpus none --once 2>/dev/null &
worker=$!
until_ok sh -c 'lockstep exp show kept | grep -q adopted'
touch go-kept
wait $worker
echo "worker $?"
cat log-kept
history kept

echo '--- the job ends while there is no worker'
quiet lockstep exp new alone -- bash job.sh alone >/dev/null
lockstep exp submit alone
lockstep worker --gpus none >/dev/null 2>&1 &
worker=$!
until_ok grep -q begun log-alone
kill -9 $worker
wait $worker 2>/dev/null
touch go-alone
until_ok grep -q wall_s runs/alone/attempt-1/exit.json
state_is alone running && echo running
quiet lockstep worker --gpus none --once
history alone

echo '--- kill -9 of the supervisor: the job ends with it and is tried again'
quiet lockstep exp new orphan -- bash -c '(unset X; setsid bash job.sh orphan) & bash job.sh orphan; wait' >/dev/null
lockstep exp submit orphan
lockstep worker --gpus none --once >/dev/null 2>&1 &
worker=$!
until_ok sh -c '[ "$(grep -c begun log-orphan)" = 2 ]'
token=$(lockstep exp show --json orphan | python3 -c 'import json, sys; print(json.load(sys.stdin)["attempts"][0]["token"])')
read -r supervisor _ <.lockstep/locks/"$token"
kill -9 "$supervisor"
until_ok sh -c '[ "$(grep -c begun log-orphan)" = 4 ]' # the next attempt
touch go-orphan
wait $worker
grep -c ended log-orphan # two processes of one attempt
history orphan
lockstep exp check
ls .lockstep/locks
