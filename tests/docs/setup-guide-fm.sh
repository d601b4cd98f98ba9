# the data that the guide names
cp "$ROOT/tests/data/small.svm" train.svm
cp "$ROOT/tests/data/small-valid.svm" valid.svm
cp "$ROOT/tests/data/small.ffm" train.ffm
