# The numpy code in docs/FORMATS.md gives what `fm predict` gives, for every kind and task.
set -e
python=$("$ROOT/tools/venv")
d=$ROOT/tests/data
awk '{ $1 = (NR * 7 + NF) % 3; print }' "$d/small.ffm" >three.ffm
awk '{ $1 = $1 * 3 + NF + NR % 4; print }' "$d/small.ffm" >numbers.ffm
cp "$d/small.ffm" two.ffm
sed -E 's/([3-6]):1 /\1:-0.5 /g' "$d/small-valid.ffm" >valid.ffm
train() {
	lockstep fm train "$1" -o "$2.model" -q --epochs 3 "${@:3}"
	lockstep fm predict "$2.model" valid.ffm -o "$2.out"
}
for kind in fm ffm fwfm; do
	train two.ffm "$kind-binary" --kind $kind --lr 0.3
	train two.ffm "$kind-normalized" --kind $kind --normalize --factors 3
	train three.ffm "$kind-multiclass" --kind $kind --task multiclass --init-scale 0.2
	train numbers.ffm "$kind-regression" --kind $kind --task regression --init-scale 0.2
done
train two.ffm linear-binary --kind linear --lr 0.3
train three.ffm linear-multiclass --kind linear --task multiclass
train "$d/units.ffm" units-regression --kind ffm --task regression # trained in other units
"$python" - "$ROOT/docs/FORMATS.md" valid.ffm ./*.model <<'P'
import re
import sys

page = open(sys.argv[1]).read()
exec(re.search(r"```python\n(import json\nimport numpy.*?)```", page, re.S)[1])
rows = [[e.split(":") for e in line.split()[1:]] for line in open(sys.argv[2])]
for path in sys.argv[3:]:
    meta, tensor = read_model(path)
    want = np.loadtxt(path.replace(".model", ".out"), ndmin=2)
    n, fields = int(meta["n_features"]), int(meta["n_fields"]) or 1 << 16
    assert len(rows) == len(want) and np.ptp(want) > 0.01, path
    for row, line in zip(rows, want):
        known = [e for e in row if int(e[1]) < n and int(e[0]) < fields]
        field, feature = (np.array([int(e[i]) for e in known], int) for i in (0, 1))
        got = predict(meta, tensor, feature, np.array([float(e[2]) for e in known]), field)
        assert np.allclose(got, line, rtol=1e-5, atol=1e-6), (path, got, line)
    print(path, "agrees")
P
