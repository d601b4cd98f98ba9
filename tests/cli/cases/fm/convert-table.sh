# a table in CSV becomes rows, its features have names, and another table becomes rows likewise
awk 'BEGIN { print "id,city,colour,price,y"; split("Rome Oslo \"Paris,~F\"", c, " "); split("red blue", d, " ")
	for (i = 0; i < 400; i++) {
		a = i * 7 % 3 + 1; b = i * 5 % 2 + 1
		p = i % 10 ? (i * 37 % 100) / 50 : ""
		gsub("~", " ", c[a])
		printf "%d,%s,%s,%s,%s\n", i, c[a], d[b], p, (a == 2 ? b == 1 : b == 2) ? "yes" : "no" } }' >table.csv
{ head -n 1 table.csv; tail -n 50 table.csv; } >valid.csv
try() { lockstep fm "$@"; echo "status $?"; }
echo "= convert"
try convert table.csv --label y --categorical city,colour --numeric price -o rows.lsd
try convert valid.csv --columns rows.lsd.columns.json -o valid.lsd --json | grep -v digest
gzip -c table.csv | lockstep fm convert - --label y --categorical city,colour --numeric price -o again.lsd >/dev/null
cmp rows.lsd again.lsd && cmp rows.lsd.columns.json again.lsd.columns.json && echo same
echo "= train, predict, eval and inspect by names"
for kind in fm ffm fwfm; do lockstep fm train rows.lsd -o $kind --kind $kind --epochs 30 --batch 32 -q; done
lockstep fm eval fm valid.csv --columns rows.lsd.columns.json | grep accuracy
lockstep fm predict fm valid.lsd >a
lockstep fm predict fm valid.csv --columns rows.lsd.columns.json >b
sed 's/,[^,]*$//' valid.csv | lockstep fm predict fm - --columns rows.lsd.columns.json >c
cmp a b && cmp a c && wc -l <a
lockstep fm inspect fm --columns rows.lsd.columns.json --top 3 | cut -c1-28 | sort
lockstep fm inspect ffm valid.csv --columns rows.lsd.columns.json --top 9 | grep -c 'city.*colour='
lockstep fm inspect fwfm --columns rows.lsd.columns.json --top 9 --json | python3 -c '
import json, sys
v = json.load(sys.stdin)
print(sorted(f["name"] for f in v["top_features"]), v["pair"])'
lockstep fm predict fm valid.csv --columns rows.lsd.columns.json --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["classes"])'
echo "= other forms"
printf 'red\t1\nblue\t0\n' >plain.tsv
try convert plain.tsv --no-header --label 2 --categorical 1 --hash-bits 4 --seed 9 -o t.lsd
printf 'a;y;w\nx;1;2\nz;0;0.5\n' >w.csv
try convert w.csv --label y --weight w --categorical a -o w.lsd --json | grep weights
echo "= refused"
try convert table.csv -o no
try convert table.csv --label y -o no
try convert table.csv --label z --categorical city -o no
try convert table.csv --label y --categorical city,city -o no
try convert table.csv --label y --categorical y -o no
try convert table.csv --label y --categorical city --format svm -o no
try convert table.csv --categorical city -o no
try convert table.csv --label y --categorical city --delimiter ab -o no
try convert table.csv --label y --numeric city -o no
try convert rows.lsd --label y --categorical city -o no
try convert valid.csv --columns table.csv -o no
try convert valid.csv --columns rows.lsd.columns.json --label y -o no
try convert table.csv --label y --categorical city -o rows.lsd.columns.json/x
try eval fm w.csv --columns rows.lsd.columns.json
try predict fm table.csv
[ -z "$(ls | grep "^no")" ]
