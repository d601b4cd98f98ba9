# Lightning's Trainer, which turns two switches back and is named for it; torchrun with
# two ranks
py=$("$ROOT/tools/venv") || exit 77
bin=$(dirname "$py")
lockstep verify -- "$py" "$ROOT/tests/run/progs/trainer.py" 2>notes
echo "status $?"
grep '^run1: the program' notes
"$py" - <<'PY'
import json
m = json.load(open("artifacts/verify/001/run1/run_manifest.json"))
print(m["global_batch"], [(u["setting"], u["found"]) for u in m["hook"]["undone"]])
PY
lockstep verify --control seed -- "$bin/torchrun" --standalone --nproc-per-node 2 "$ROOT/examples/ddp.py" --device cpu --out {out} --seed {seed} 2>notes
echo "status $?"
"$py" - <<'PY'
import json
m = json.load(open("artifacts/verify/002/run1/run_manifest.json"))
ranks = sorted(i["rank"] for i in m["hook"]["interpreters"] if i["rank"] is not None and "settings" in i and i["settings"])
print("ranks", ranks, m["hook"]["held"])
PY
