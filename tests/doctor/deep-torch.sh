# A real torch from the package index: what doctor reads from its files is what torch says
# of itself.
python=$("$ROOT/tools/venv") || { echo "no torch: tools/venv failed" >&2; exit 77; }
echo '{"schema": 1, "name": "pin", "torch": ">=2"}' >pin.json
lockstep doctor --python "$python" --deep --spec pin.json --fail-on-mismatch --json >r.json
echo "status $?"
"$python" - r.json <<'PY'
import json, platform, sys
import numpy, torch

r = json.load(open(sys.argv[1]))
facts = {f["key"]: f for f in r["facts"]}


def agree(key, truth):
    assert facts[key]["value"] == truth == facts["deep." + key]["value"], (key, facts[key], facts["deep." + key], truth)
    print(key, "agrees")


agree("python", platform.python_version())
agree("torch", str(torch.__version__))
agree("torch_cuda", torch.version.cuda)
agree("package.numpy", numpy.__version__)
cudnn = torch.backends.cudnn.version()
assert r["env"]["cudnn"] == cudnn, (r["env"], cudnn)
assert facts["torch_git"]["value"] == torch.version.git_version
assert facts["python.kind"]["value"] == "venv"
assert not [f for f in r["findings"] if f["id"].startswith("deep")], r["findings"]
print("cudnn agrees")
PY
