# the data that the examples train on
cp "$ROOT/tests/data/small.svm" data.svm
