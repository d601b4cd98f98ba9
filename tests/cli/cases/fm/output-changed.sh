# with validation the best epoch's model is written on the way: at the end it must still be that, whatever --threads
D=$ROOT/tests/data
args=($D/small.ffm --kind ffm --batch 2 --epochs 9 --valid $D/small-valid.ffm --early-stop 0 --lr 1e-30 -q)
lockstep fm train $D/small.ffm -o other -q
mkfifo log
exec 3<>log
meanwhile() { # meanwhile THREADS COMMAND…: after the first epoch, the best of a training that learns nothing; its log is a pipe that soon is full
	local threads=$1
	shift
	lockstep fm train "${args[@]}" --threads $threads -o m --log log --log-every 1 --json >out 2>err 3>&- &
	local pid=$!
	until [ -e m ]; do sleep 0.01; done
	"$@"
	timeout 600 cat <&3 >/dev/null &
	wait $pid
	echo "status $?: $(cat err) $(grep -c digest out)"
	kill %% && wait
	rm -f m
}
for threads in 1 2; do
	meanwhile $threads rm m
	meanwhile $threads cp other m
	meanwhile $threads mv -f m elsewhere
	meanwhile $threads ln -f other m
	meanwhile $threads true
done
echo "= before it is resumed: another epoch's model, of the same options"
args=($D/small.svm --valid $D/small-valid.svm --lr 0.01 -q)
lockstep fm train "${args[@]}" --epochs 2 -o m --checkpoint c --json | grep best_epoch
lockstep fm train "${args[@]}" --epochs 1 -o m
lockstep fm train "${args[@]}" --epochs 2 -o m --checkpoint c --resume 2>&1
echo "status $?"
