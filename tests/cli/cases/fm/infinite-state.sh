# an optimizer whose state has become infinite moves its parameters no more: no model is
# written as if it had trained
yes '9e18 1:1' | head -100 > huge.svm
for o in adagrad adam; do
	lockstep fm train huge.svm --task regression --optimizer $o -o m -q
	echo "status $?"
done
printf '1 3e38 1:1\n0 3e38 2:1\n1 3e38 2:1\n' > heavy.svm
lockstep fm train heavy.svm -o m -q
echo "status $?"
ls
