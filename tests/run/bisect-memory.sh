# labels: slow
# bisect tells memory that nobody has written, memory shared between processes, and what
# comes from outside of PyTorch
py=$("$ROOT/tools/venv") || exit 77
prog=$ROOT/tests/run/progs/nondeterministic.py
for kind in memory shared entropy; do
	line=$(grep -n "LINE $kind" "$prog" | cut -d: -f1)
	lockstep verify --no-fill --bisect --json -- "$py" "$prog" "$kind" >"$kind.json" 2>/dev/null
	echo "$kind: status $?"
	"$py" - "$kind" "$line" <<'PY'
import json, sys
v = json.load(open(sys.argv[1] + ".json"))
p = v["parting"]
print(v["verdict"], p["kind"], p["operation"], "found" if f"nondeterministic.py:{sys.argv[2]} " in p["where"] else p["where"])
print("cannot be told" in p["explanation"])
PY
done
