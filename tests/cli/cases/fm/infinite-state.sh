# an optimizer whose state has become infinite moves its parameters no more: no model is
# written as if it had trained
plain="--epochs 1 --batch 1024 --l2 0" # whatever the defaults are
for i in $(seq 100); do printf '9e18 1:1\n-9e18 1:1\n-9e18 2:1\n'; done > huge.svm
for o in adagrad adam; do
	lockstep fm train $plain huge.svm --task regression --optimizer $o -o m -q --scaling none
	echo "status $?"
done
printf '1 3e38 1:1\n0 3e38 2:1\n1 3e38 2:1\n' > heavy.svm
lockstep fm train $plain heavy.svm -o m -q
echo "status $?"
ls
