# an optimizer whose state has become infinite moves its parameters no more: no model is written as if it had trained
yes '9e18 1:1' | head -100 > huge.svm
for o in adagrad adam; do
	lockstep fm train huge.svm --task regression --optimizer $o -o m -q
	echo "status $?"
done
ls
