# with validation the best epoch's model is written on the way: at the end it must still
# be that, whatever --threads
plain="--epochs 1 --batch 1024 --l2 0" # whatever the defaults are
D=$ROOT/tests/data
# its log, more than pipes hold, goes to one, so that it waits where the test wants it to;
# epoch 1 is the best of a training that learns nothing
args=($D/small.ffm --kind ffm --batch 2 --epochs 32 --valid $D/small-valid.ffm --early-stop 0 --lr 1e-30 -q --log log --log-every 1)
lockstep fm train $plain $D/small.ffm -o other -q
lockstep fm train $plain "${args[@]}" --epochs 1 --log /dev/null -o same
mkfifo log
exec 3<>log
begin() { # begin OPTION…: until its first epoch is done
	rm -f m
	lockstep fm train $plain "${args[@]}" "$@" >out 2>err 3>&- &
	pid=$!
	while read -r -t 300 line <&3 && [[ $line != *'"event":"epoch"'* ]]; do :; done
}
end() { # and to its end
	timeout 600 cat <&3 >/dev/null &
	wait $pid
	echo "status $?: $(sed 's/after step [0-9]*/after some steps/' err) $(grep -c digest out)"
	kill %% && wait
}
again() { cp m n && mv n m; }
for threads in 1 2; do
	for change in "rm m" "cp other m" "mv -f m elsewhere" "ln -f other m" "touch m" again true; do
		begin --threads $threads -o m --json
		$change
		end
	done
done
echo "= no file at all; a file by another name"
for threads in 1 2; do
	begin --threads $threads -o /dev/null --json
	end
	lockstep fm train $plain $D/small.svm --valid $D/small-valid.svm --lr 0.01 --epochs 3 --threads $threads -q -o /dev/fd/4 4>file && lockstep fm digest file | cut -c 1-16
done
ls
echo "= stopped without a checkpoint"
for change in "cp other m" "cp same m"; do
	begin --threads 1 -o m
	$change
	kill -TERM $pid
	end
	rm -f m.ckpt
done
echo "= before it is resumed: another epoch's model, of the same options"
args=($D/small.svm --valid $D/small-valid.svm --lr 0.01 -q)
lockstep fm train $plain "${args[@]}" --epochs 2 -o m --checkpoint c --json | grep best_epoch
lockstep fm train $plain "${args[@]}" --epochs 1 -o m
lockstep fm train $plain "${args[@]}" --epochs 2 -o m --checkpoint c --resume 2>&1
echo "status $?"
