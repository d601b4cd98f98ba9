# SIGINT and SIGTERM save the checkpoint and say how to go on; the rest gives the same
# bytes
D=$ROOT/tests/data
# under emulation all is slower, and on a busy machine a barrier of two threads takes a
# slice of the scheduler
threads=2 epochs=120
[ -z "${ASAN_OPTIONS:-}" ] || epochs=20
[ -z "${LS_EMULATOR:-}" ] || threads=1 epochs=12
args=($D/small.ffm --kind ffm --epochs $epochs --batch 4 --threads $threads)
stopped() { # stopped SIGNAL WORDS OPTION…: the training ends by the signal and says so
	local signal=$1 words=$2
	shift 2
	rm -f log
	# which a script's & and nohup leave ignored
	env --default-signal=INT,HUP lockstep fm train "$@" -q --log log 2>err &
	local pid=$!
	for _ in $(seq 2000); do [ -s log ] && break; sleep 0.01; done
	kill -$signal $pid
	wait $pid
	echo "status $?"
	grep -o "$words" err || cat err
}
lockstep fm train "${args[@]}" -o whole -q
for signal in INT TERM; do
	stopped $signal "is written: the same command with --resume goes on" "${args[@]}" -o m --checkpoint c
	lockstep fm train "${args[@]}" -o m --checkpoint c --resume -q
	cmp m whole
	rm -f m c
done
echo "= without --checkpoint it goes beside the model; with validation and one thread, too"
for valid in "" "--valid $D/small-valid.ffm --early-stop 0"; do
	# shellcheck disable=SC2086
	set -- "${args[@]}" $valid --threads 1
	lockstep fm train "$@" -o whole -q
	stopped INT "is written: the same command with --checkpoint m.ckpt --resume goes on" "$@" -o m
	lockstep fm train "$@" -o m --checkpoint m.ckpt --resume -q
	cmp m whole
	rm -f m m.ckpt
done
echo "= as words for a shell, and one for each of two that want the same name"
stopped INT "with --checkpoint 'my model.ckpt' --resume" "${args[@]}" --epochs 2000 -o "my model"
for i in 1 2 3; do
	rm -f log.* both.ckpt*
	pids=()
	for lr in 1 2; do
		env --default-signal=INT,HUP lockstep fm train "${args[@]}" --threads 1 --epochs 2000 --lr 0.0$lr -o both -q --log log.$lr 2>err.$lr &
		pids+=($!)
	done
	for _ in $(seq 2000); do [ -s log.1 ] && [ -s log.2 ] && break; sleep 0.01; done
	kill -INT "${pids[@]}"
	wait "${pids[@]}"
	ls both.ckpt* | xargs
done
echo "= of two the second looks for its name when the first is done"
rm -f log
env --default-signal=INT,HUP lockstep fm train "${args[@]}" --epochs 2000 -o later -q --log log 2>err &
for _ in $(seq 2000); do [ -s log ] && break; sleep 0.01; done
flock . sh -c "kill -INT $!; sleep 1; echo first >later.ckpt"
wait $!
grep -o "the checkpoint later.ckpt.2 is written" err
cat later.ckpt
echo "= under another name if something is there, and not beside a model that is no file"
echo mine >m.ckpt
set -- "${args[@]}" --epochs 2000
stopped INT "the checkpoint m.ckpt.2 is written" "$@" -o m
stopped INT "the checkpoint m.ckpt.3 is written" "$@" -o m --valid $D/small-valid.ffm --early-stop 0
lockstep fm digest m >/dev/null && cat m.ckpt
mkfifo pipe
stopped INT "nothing is kept; no checkpoint is written (pipe is no file that one could go beside)" "$@" -o pipe
ls pipe*
echo "= what was ignored before it began still is"
rm -f log
lockstep fm train "$@" -o i -q --log log 2>err &
for _ in $(seq 2000); do [ -s log ] && break; sleep 0.01; done
kill -INT $! && sleep 0.1 && kill -TERM $!
wait $!
echo "status $?"
grep -o "the checkpoint i.ckpt is written" err
echo "= a lost terminal; while data are read there is nothing to keep"
stopped HUP "the checkpoint h.ckpt is written" "$@" -o h
for signal in INT TERM HUP; do
	env --default-signal=INT,HUP lockstep fm train pipe -o h --checkpoint c 2>err &
	exec 3>pipe # once it is being read
	kill -$signal $!
	wait $!
	echo "status $?: $(cat err)"
	exec 3>&-
done
ls c
