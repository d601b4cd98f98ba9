# labels: once
# --exact on a training that knows nothing of it: all of its calls are exact, one and two
# threads give the same files, another seed does not; strict mode names an operation that
# is outside of the contract, with its line
py=$("$ROOT/tools/venv") || exit 77
train="$ROOT/tests/torch_exact/train.py"
lockstep verify --exact=strict --vary OMP_NUM_THREADS=1,2 --control seed -o v -- \
	"$py" "$train" --seed '{seed}' --steps 2 --save '{out}/run.pt' >said 2>&1
echo "status $?"
sed -n 's/^\(identical\|different\).*/\1/p' said
"$py" - <<'PY'
import json
m = json.load(open("v/001/run1/run_manifest.json"))
e = m["exact"]
print(m["policy"]["exact"], e["strict"], e["outside"], e["kinds"] == e["exact_kinds"], e["kinds"] > 20)
PY
cat >outside.py <<'PY'
import torch
x = torch.ones(3)
print(x.cumprod(0).sum().item())
PY
lockstep run --exact -- "$py" outside.py 2>said
echo "status $?"
sed "s|$PWD/||" said
lockstep run --exact=strict -- "$py" outside.py 2>said
echo "status $?"
grep '^lockstep.torch' said | sed "s|$PWD/||"
