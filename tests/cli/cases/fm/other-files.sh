# arguments that changed places, and files of other programs, are named as what they are,
# with what to do
D=$ROOT/tests/data
lockstep fm train $D/small.svm -o m -q
cp $D/small.svm data.svm
gzip -k data.svm
lockstep fm convert data.svm -o data.lsd >/dev/null
printf 'y,city,price\n1,Rome,2.5\n0,"Paris, France",3\n' >table.csv
printf 'y;city\n1;Rome\n' >semicolons.csv
printf '1,2.5,3\n0,1.5,2\n' >numbers.csv
printf 'PAR1\25\4\25\20PAR1' >table.parquet
printf 'ARROW1\0\0\377\377\377\377' >table.arrow
printf '\211HDF\r\n\032\n\0\0\0\0' >data.h5
python3 -c 'import pickle; pickle.dump({"x": [1]}, open("model.pkl", "wb"))'
printf '\1\2\3\4\5\6\7\10\11\12' >noise
: >empty
python3 -c 'import zipfile; zipfile.ZipFile("archive.zip", "w").writestr("a.txt", "1")'
try() { lockstep fm "$@" >out; echo "status $?, $(wc -l <out) lines"; }
for model in data.svm data.svm.gz data.lsd table.csv table.parquet table.arrow data.h5 model.pkl archive.zip noise empty; do
	try predict $model m
done
try eval data.svm m
try inspect data.svm
try digest data.lsd
try train data.svm --warm-start data.svm -o x -q
for data in m table.csv semicolons.csv numbers.csv table.parquet table.arrow data.h5 model.pkl archive.zip noise empty; do
	try predict m $data
done
gzip <table.parquet >odd.gz
try convert odd.gz -o x
try convert table.csv -o x
try convert - -o x <table.csv
[ ! -e x ]
