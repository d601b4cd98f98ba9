# a score that is not finite is refused with its row, in whatever order fields come, and
# nothing is written
printf '1 0:0:1 1:1:1\n0 0:0:1 1:1:1\n' > train.ffm
printf '1 0:0:1 1:1:1\n1 0:0:1 1:1:3e38\n' > ascending.ffm
printf '1 1:1:3e38 0:0:1\n' > other.ffm
for kind in ffm fwfm; do
	lockstep fm train train.ffm --kind $kind --factors 1 --init-scale 100 --lr 1e-6 --optimizer sgd -o m.$kind -q
	for data in ascending other; do
		lockstep fm predict m.$kind $data.ffm --raw -o out
		echo "$kind $data: $?"
	done
done
ls out 2>/dev/null || echo "nothing written"
