# the data that the examples name
gzip -c "$ROOT/tests/data/small.ffm" >train.ffm.gz
gzip -c "$ROOT/tests/data/small.svm" >day_1.gz
gzip -c "$ROOT/tests/data/small-valid.svm" >day_2.gz
cp "$ROOT/tests/data/small-valid.npz" X.npz
cp "$ROOT/tests/data/small-valid-labels.npy" y.npy
printf 'y,city,price\n1,Rome,2.5\n0,Oslo,3\n' >table.csv
