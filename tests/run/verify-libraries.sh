# labels: long
# Lightning, transformers, a script in the manner of nanoGPT, accelerate and torchrun: identical without any --ignore,
# and another seed differs. What they write of the time of day, their process and how long they took is told apart.
py=$("$ROOT/tools/venv") || exit 77
progs=$ROOT/tests/run/progs
lockstep verify --control seed -- "$py" "$progs/fits.py" gpt accelerate lightning transformers >verdict 2>notes || cat notes
sed 's/; [0-9]* places* tells* [^;]*//g' verdict
"$py" - <<'PY'
import json
v = json.load(open("artifacts/verify/001/verify.json"))
same, control = v["comparisons"][0], v["control"]
print("identical", same["identical"], "control", control["identical"])
for name in "gpt", "accelerate", "lightning", "transformers":
    of = [f for f in same["results"] if f["name"].startswith(name + "/")]
    other = [f for f in control["results"] if f["name"].startswith(name + "/")]
    own = {(d["name"].split(".")[-1] if d["kind"] == "value" else d["kind"]) for f in of for d in f["differences"]}
    print(name, sum(f["tensors"] for f in of), "tensors", sum(f["tensors_differ"] for f in of), "differ, control:",
          any(f["tensors_differ"] for f in other), "own:", *sorted(own & {"bytes", "wandb_run_name"}),
          *sorted({"name" for f in of if "name_b" in f}))
    assert all(d.get("own") for f in of for d in f["differences"])
PY
