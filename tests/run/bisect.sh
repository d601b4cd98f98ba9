# three scripts that are nondeterministic on purpose are caught and bisected to the line
py=$("$ROOT/tools/venv") || exit 77
prog=$ROOT/tests/run/progs/nondeterministic.py
for kind in unordered_set augment index_add; do
	line=$(grep -n "LINE $kind" "$prog" | cut -d: -f1)
	lockstep verify --bisect --json -- "$py" "$prog" $kind >$kind.json 2>/dev/null
	echo "$kind: status $?"
	"$py" - $kind "$line" <<'PY'
import json, sys
v = json.load(open(sys.argv[1] + ".json"))
p = v["parting"]
print(v["verdict"], p["kind"], p["operation"], "found" if f"nondeterministic.py:{sys.argv[2]} " in p["where"] else p["where"])
PY
done
