# twin fits of a CNN (4 workers, augmentation, dropout) and of a transformer are
# identical; another seed is not
py=$("$ROOT/tools/venv") || exit 77
lockstep verify --control seed --html page.html -- "$py" "$ROOT/tests/run/progs/cnn.py"
echo "status $?"
grep -o '<p class="verdict good">[^<]*' page.html
"$py" - <<'PY'
import json
v = json.load(open("artifacts/verify/001/verify.json"))
assert [r["label"] for r in v["runs"]] == ["run1", "run2", "control"] and all(r["held"] for r in v["runs"])
m = json.load(open(v["runs"][0]["manifest"]))
print(m["global_batch"], m["seeds"], m["modules"]["torch"].split("+")[0])
forked = [i for i in m["hook"]["interpreters"] if i["forked_from"]]
print(len(forked), "workers", {i["settings"]["torch.deterministic_algorithms"] for i in forked})
print(m["hook"]["undone"], [o["path"] for o in m["outputs"]])
PY
lockstep verify --level 3 --vary OMP_NUM_THREADS=1,1 -- "$py" "$ROOT/tests/run/progs/transformer.py"
echo "status $?"
