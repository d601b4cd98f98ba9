# a training in batches that leaves the finite numbers names the row and its step, which
# is the one after the last in the log,
# whatever the number of threads and however many steps are done at a time
plain="--epochs 1 --batch 1024 --l2 0" # whatever the defaults are
awk 'NR == 333 { print "0 1:7:3e38 2:20:3e38"; next } { print }' $ROOT/tests/data/regression.ffm >huge.ffm
for shuffle in none rows blocks; do
	for threads in 1 2 7; do
		lockstep fm train $plain huge.ffm --task regression --scaling none -o m -q --batch 10 --shuffle $shuffle --threads $threads 2>said.$threads
		echo "status $?"
		cmp said.1 said.$threads
	done
	lockstep fm train $plain huge.ffm --task regression --scaling none -o m -q --batch 10 --shuffle $shuffle --log log --log-every 1 2>said
	cmp said.1 said
	cat said
	tail -n 1 log | grep -o '"step": *[0-9]*'
	rm log
done
ls
