# labels: once
# A training on a real Slurm that a job of a better partition preempts: it is told to end,
# waits for its GPUs, goes on from its checkpoint, and ends with the bytes of one that was
# never interrupted.
. "$ROOT/tests/slurm/begin"
lockstep exp init >/dev/null
# A training in small. Its first attempt may wait at step 500 until it is told to end.
cat >train.py <<'J'
import json, signal, sys, time
told = []
signal.signal(signal.SIGTERM, lambda *_: told.append(True))
out, previous, waits = sys.argv[1:]
step, weight = 0, 0.5
if previous:
    step, weight = json.load(open(previous + "/checkpoint.json"))
    print("resumed at step", step)
while step < 1000:
    if step == 500 and waits == "yes" and not previous:
        json.dump([step, weight], open(out + "/checkpoint.json", "w"))
        open("waits", "w").close()
        while not told:
            time.sleep(0.05)
    if told:
        sys.exit("told to end at step %d" % step)
    weight = 3.7 * weight * (1 - weight)
    step += 1
json.dump([step, weight], open(out + "/result.json", "w"))
J
for name in whole long; do
	new $name --num-gpus 2 --partition h200_tandon --set "waits=$([ $name = long ] && echo yes || echo no)" -- \
		python3 train.py {out} {previous} {waits}
done
lockstep exp submit whole long --slurm >/dev/null
until_ok test -e waits
until_ok are running long
until_ok are done whole

echo '--- preempted'
sbatch -p h200_urgent --gres=gpu:2 -o /dev/null --wrap 'until [ -e go ]; do sleep 0.05; done' >/dev/null
until_ok are queued long
touch go
until_ok are done long
lockstep exp logs long
history long
cmp runs/whole/attempt-1/out/result.json runs/long/attempt-2/out/result.json && echo 'the same bytes'
lockstep exp check
