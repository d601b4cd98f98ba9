# rows set aside by the seed, and cross-validation: the same whatever the threads and the
# form of the data, all rows in exactly one part; what contradicts them is refused
D=$ROOT/tests/data
train() { lockstep fm train "$@" --batch 64 --device cpu; }
quiet() { train "$@" -q; echo "status $?"; }
said() { python3 -c "import json; print(json.load(open('r'))['$1'])"; }
quiet $D/small.svm -o a --valid-fraction 0.2 --threads 1
quiet $D/small.svm -o b --valid-fraction 0.2 --threads 3
cmp a b && echo same
# the parts, made by hand from the row numbers that the seed draws
lockstep fm convert $D/small.svm -o d.lsd > /dev/null
quiet d.lsd -o c --valid-fraction 0.2
cmp a c && echo same
quiet $D/small.svm -o e --valid-fraction 0.2 --seed 5
cmp -s a e || echo "another seed, other rows"
train $D/small.svm -o v --cv 3 --json > r 2> /dev/null
epochs=$(said epochs)
python3 - <<'PY'
import json
cv = json.load(open("r"))["cv"]
values = [f["logloss"] for f in cv["folds"]]
epochs = [f["best_epoch"] for f in cv["folds"]]
assert len(values) == 3 and abs(cv["mean"] - sum(values) / 3) < 1e-12
assert int(sum(epochs) / 3 + 0.5) == json.load(open("r"))["epochs"]
print("three folds", cv["metric"])
PY
quiet $D/small.svm -o w --epochs "$epochs"
cmp v w && echo "then all rows"
train $D/small.svm -o v --cv 3 2>&1 | grep -c '^fold'
rm -f x
quiet $D/small.svm -o x --cv 1
quiet $D/small.svm -o x --cv 631
quiet $D/small.svm -o x --cv 3 --valid-fraction .1
quiet $D/small.svm -o x --cv 3 --checkpoint k
quiet $D/small.svm -o x --valid $D/small-valid.svm --valid-fraction .1
quiet $D/small.svm -o x --valid-fraction 1
quiet $D/small.svm -o x --valid-fraction .1 --valid-labels l.npy
quiet $D/small.svm -o x --least-gain 1
head -n 1 $D/small.svm > one
quiet one -o x --valid-fraction .1
# a fault keeps its line
sed '400s/^[01]/3/' $D/small.svm > bad
quiet bad -o x --valid-fraction .1
[ ! -e x ] && echo "nothing left"
