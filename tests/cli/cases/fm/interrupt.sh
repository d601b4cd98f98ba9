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
	rm -f m c log
done
# without --checkpoint it goes beside the model, and what goes on from there is the same; with validation and one thread, too
for valid in "" "--valid $D/small-valid.ffm --early-stop 0"; do
	# shellcheck disable=SC2086
	set -- "${args[@]}" $valid --threads 1
	lockstep fm train "$@" -o whole -q
	lockstep fm train "$@" -o m -q --log log 2>err &
	pid=$!
	for _ in $(seq 400); do [ -s log ] && break; sleep 0.05; done
	kill -INT $pid
	wait $pid
	echo "status $?"
	grep -o "is written: the same command with --checkpoint m.ckpt --resume goes on" err
	lockstep fm train "$@" -o m --checkpoint m.ckpt --resume -q
	cmp m whole
	rm -f m m.ckpt log
done
# what is there is not written over
echo mine >m.ckpt
lockstep fm train "${args[@]}" --epochs 2000 -o m -q --log log 2>err &
pid=$!
for _ in $(seq 400); do [ -s log ] && break; sleep 0.05; done
kill -INT $pid
wait $pid
echo "status $?"
grep -o "no checkpoint m.ckpt is written: the place is taken; --checkpoint FILE names another; nothing is kept" err
cat m.ckpt
