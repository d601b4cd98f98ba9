# What --l1 and --l2 do in one step to factors that nothing else moves, against the
# formulas of docs/NUMERICS.md: a feature whose values are 0 has no gradient. The batch
# has two rows, by whose number SGD alone divides.
plain="--epochs 1 --batch 1024 --l2 0" # whatever the defaults are
printf '0 1:0 2:1\n1 1:0 2:-1\n' >d.svm
for o in sgd adagrad adam ftrl; do
	lockstep fm train $plain d.svm -o $o -q -k 4 --optimizer $o --lr 0.5 --l1 0.001 --l2 0.1 || exit
done
lockstep fm train $plain d.svm -o start -q -k 4 --optimizer sgd --lr 1e-30
python3 - <<'PY'
import json, math, struct

def factors(path):
    data = open(path, "rb").read()
    n = struct.unpack("<Q", data[:8])[0]
    at = json.loads(data[8 : 8 + n])["factors"]["data_offsets"]
    return struct.unpack("<12f", data[8 + n + at[0] : 8 + n + at[1]])[4:8]

def sign(v):
    return (v > 0) - (v < 0)

def adam(v, g):
    a, b, c = 0.1 * g, 0.001 * g * g, math.sqrt(1 - 0.999) / (1 - 0.9)
    return v - 0.5 * c * a / (math.sqrt(b) + 1e-8)

def ftrl(v, g):
    z = -v * 1 / 0.5
    return 0.0 if abs(z) <= 0.001 else -sign(z) * (abs(z) - 0.001) / (1 / 0.5 + 0.1)

step = {"sgd": lambda v, g: v - 0.5 / 2 * g, "adagrad": lambda v, g: v - 0.5 * g / math.sqrt(1 + g * g), "adam": adam, "ftrl": ftrl}
start = factors("start")
for name, of in step.items():
    want = [of(v, 0.1 * v + 0.001 * sign(v)) for v in start]
    got = factors(name)
    print(name, all(abs(x - y) <= 1e-5 * abs(y) for x, y in zip(got, want)) or (got, want))
PY
