# the data that the guide names
cp "$ROOT/tests/data/small.svm" train.svm
cp "$ROOT/tests/data/small-valid.svm" valid.svm
cp "$ROOT/tests/data/small.ffm" train.ffm
awk 'BEGIN { print "city,colour,price,y"; for (i = 0; i < 300; i++)
	print (i % 3 ? "Rome" : "Oslo") "," (i % 2 ? "red" : "blue") "," i % 10 / 10 "," (i % 6 ? "no" : "yes") }' >table.csv
