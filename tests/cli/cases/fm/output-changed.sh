# with validation the best epoch's model is written on the way: at the end it must still be that, whatever --threads
D=$ROOT/tests/data
epochs=40
[ -z "${ASAN_OPTIONS:-}" ] || epochs=15
args=($D/small.ffm --kind ffm --batch 2 --valid $D/small-valid.ffm --early-stop 0 --lr 1e-30 -q)
lockstep fm train $D/small.ffm -o other -q
meanwhile() { # meanwhile THREADS COMMAND…: after the first epoch, the best of a training that learns nothing
	local threads=$1
	shift
	rm -f log
	lockstep fm train "${args[@]}" --epochs $epochs --threads $threads -o m --log log --json >out 2>err &
	local pid=$!
	for _ in $(seq 2000); do [ -s log ] && break; sleep 0.01; done
	"$@"
	wait $pid
	echo "status $?: $(cat err) $(grep -c digest out)"
}
for threads in 1 2; do
	meanwhile $threads rm m
	meanwhile $threads cp other m
	meanwhile $threads mv -f m elsewhere
	meanwhile $threads ln -f other m
	rm m
	meanwhile $threads true
done
echo "= before it is resumed: another epoch's model, of the same options"
args=($D/small.svm --valid $D/small-valid.svm --lr 0.01 -q)
lockstep fm train "${args[@]}" --epochs 2 -o m --checkpoint c --json | grep best_epoch
lockstep fm train "${args[@]}" --epochs 1 -o m
lockstep fm train "${args[@]}" --epochs 2 -o m --checkpoint c --resume 2>&1
echo "status $?"
