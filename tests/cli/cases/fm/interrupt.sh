# SIGINT and SIGTERM save the checkpoint and say how to go on; the rest gives the same bytes
D=$ROOT/tests/data
# under emulation all is slower, and on a busy machine a barrier of two threads takes a slice of the scheduler
threads=2 epochs=60
[ -z "${LS_EMULATOR:-}" ] || threads=1 epochs=12
args=($D/small.ffm --kind ffm --epochs $epochs --batch 4 --threads $threads)
lockstep fm train "${args[@]}" -o whole -q
for signal in INT TERM; do
	lockstep fm train "${args[@]}" -o m --checkpoint c -q --log log 2>err &
	pid=$!
	for _ in $(seq 400); do [ -s log ] && break; sleep 0.05; done
	kill -$signal $pid
	wait $pid
	echo "status $?"
	grep -o "is written: the same command with --resume goes on" err
	lockstep fm train "${args[@]}" -o m --checkpoint c --resume -q
	cmp m whole
	rm -f m c log # where they differ, too: an old log would have the signal below sent before there is a handler
done
# without a checkpoint, what is kept is said: the best epoch's model, where there is validation
lockstep fm train "${args[@]}" --valid $D/small-valid.ffm --early-stop 0 --epochs 100000 -o m -q --log log 2>err &
pid=$!
for _ in $(seq 400); do [ -s log ] && break; sleep 0.05; done
kill -INT $pid
wait $pid
echo "status $?"
grep -o "m is the model of epoch [0-9]*, the best so far" err | sed 's/epoch [0-9]*/epoch N/' && lockstep fm digest m >/dev/null && echo readable
