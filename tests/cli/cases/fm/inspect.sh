# what was never learnt is not listed; with data, pairs are those that are in a row
# together
plain="--epochs 1 --batch 1024 --l2 0" # whatever the defaults are
D=$ROOT/tests/data
pairs() { python3 -c "
import json, sys
r = json.load(sys.stdin)
pairs = r['top_pairs']
$1"; }
echo "= fwfm: fields never meet themselves in these rows"
lockstep fm train $plain $D/small.ffm --kind fwfm -q -o w --epochs 5
lockstep fm inspect w --top 1000 --json | pairs "print(r['of'], len(pairs), sum(p['a'] == p['b'] for p in pairs))"
echo "= fm: two features in all rows, five thousand in none"
awk 'BEGIN { for (i = 0; i < 200; i++) print i % 2, "5000:1 5001:1" }' >g.svm
lockstep fm train $plain g.svm -q -o g
lockstep fm inspect g --top 4 | awk 'NF { print $1, $2 ~ /^500/ ? $2 : "" }'
echo "= ffm: a feature's own field, which no partner has; FTRL rounds what does not move"
awk 'BEGIN { for (i = 0; i < 200; i++) print i % 2, "0:" i % 7 ":1 1:" 10 + i % 5 ":1 2:" 20 + i % 3 ":1" }' >h.ffm
for optimizer in adagrad adam sgd ftrl "ftrl --l1 0.001"; do
	lockstep fm train $plain h.ffm --kind ffm --optimizer $optimizer -q -o h
	lockstep fm inspect h --top 100 --json | pairs "print(len(pairs), sum(p['a'] // 10 == p['b'] for p in pairs), len(r['top_features']))"
done
echo "= of data"
printf '3:0.5 4:1\n4:1 5000:1\n5001:2 4:1 5000:-1 5000:1 9999:1 5001:0\n' >few.svm
lockstep fm inspect g few.svm --json | pairs "print(r['of'], r['exact'], [f['feature'] for f in r['top_features']], sorted((p['a'], p['b']) for p in pairs), sorted(pairs[0]))"
lockstep fm inspect g few.svm --top 2 | awk 'NF { print NF, $1, $2 }'
for kind in ffm fwfm; do
	lockstep fm train $plain $D/multiclass.ffm --task multiclass --kind $kind -q -o c
	lockstep fm inspect c $D/multiclass.ffm --class 2 --top 3 --json | pairs "print(len(pairs), sorted(pairs[0]))"
	lockstep fm inspect c $D/multiclass.ffm --class 2 --top 50 --threads 1 >one
	lockstep fm inspect c $D/multiclass.ffm --class 2 --top 50 --threads 7 | cmp - one
	lockstep fm inspect c $D/multiclass.ffm --class 1 --top 50 | cmp -s - one || echo another class, another list
	head -1 one; sed -n '/^field/p' one
done
printf '0:1:1\n' >alone.ffm
lockstep fm inspect c alone.ffm --json | pairs "print(pairs, len(r['top_features']))"
echo "= what a pair is, in words"
lockstep fm inspect h --json | pairs "print(r['pair'], 'class' in r)"
lockstep fm inspect w --json | pairs "print(r['pair'])"
lockstep fm inspect g --json | pairs "print(r['pair'])"
lockstep fm inspect c $D/multiclass.ffm --class 2 --json | pairs "print(r['pair'], r['class'])"
echo "= refused"
try() { lockstep fm inspect "$@"; echo "status $?"; }
try c $D/multiclass.svm
try c $D/multiclass.ffm --class 9 2>&1 | sed 's/has [0-9]* /has N /'
try g --format svm
try g few.svm --format ffm
try g missing.svm
try g few.svm few.svm 2>&1 | head -1
