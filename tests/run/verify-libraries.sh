# labels: long
# The examples of Lightning, transformers, nanoGPT and accelerate: identical without any
# --ignore, and another seed differs. What they write of the time of day, their process
# and how long they took is told apart.
py=$("$ROOT/tools/venv") || exit 77
names="nanogpt accelerate_loop lightning_trainer transformers_trainer"
lockstep verify --control seed -- "$py" "$ROOT/tests/run/progs/fits.py" $names >verdict 2>notes || cat notes
sed 's/; [0-9]* places* tells* [^;]*//g; s/differs: .*/differs/' verdict
"$py" - $names <<'PY'
import json
import sys

v = json.load(open("artifacts/verify/001/verify.json"))
same, control = v["comparisons"][0], v["control"]
print("identical", same["identical"], "control", control["identical"])
for name in sys.argv[1:]:
    of = [f for f in same["results"] if f["name"].startswith(name + "/")]
    other = [f for f in control["results"] if f["name"].startswith(name + "/")]
    own = {(d["name"].split(".")[-1] if d["kind"] == "value" else d["kind"]) for f in of for d in f["differences"]}
    print(name, sum(f["tensors"] for f in of), "tensors", sum(f["tensors_differ"] for f in of), "differ, control:",
          any(f["tensors_differ"] for f in other), "own:", *sorted(own & {"bytes", "wandb_run_name"}),
          *sorted({"name" for f in of if "name_b" in f}))
    assert all(d.get("own") for f in of for d in f["differences"])
PY
