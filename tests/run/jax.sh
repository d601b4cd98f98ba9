# real JAX: its precision is set and read back, a fit follows the run's seed, and the line
# that undoes the precision is named
py=$("$ROOT/tools/venv") || exit 77
prog=$ROOT/tests/run/progs/jax_fit.py
lockstep verify --control seed -- "$py" "$prog" 2>/dev/null | grep -v verify.html
lockstep run -o u -- "$py" "$prog" undo 2>&1
"$py" - <<'PY'
import json
m = json.load(open("u/run_manifest.json"))
u = m["hook"]["undone"]
print(sorted(m["modules"]), m["seeds"], [(x["setting"], x["wanted"], x["found"]) for x in u], m["policy"]["env"]["XLA_FLAGS"]["value"])
PY
