# three scripts that are nondeterministic on purpose are caught and bisected to the line
py=$("$ROOT/tools/venv") || exit 77
prog=$ROOT/tests/run/progs/nondeterministic.py
for kind in unordered_set augment index_add "index_add device"; do
	read -r -a args <<<"$kind" # the last: with digests as on a GPU, a program of so few operations that its end fetches them
	line=$(grep -n "LINE ${args[0]}" "$prog" | cut -d: -f1)
	lockstep verify --bisect --json -- "$py" "$prog" "${args[@]}" >"$kind.json" 2>/dev/null
	echo "$kind: status $?"
	"$py" - "$kind" "$line" <<'PY'
import json, sys
v = json.load(open(sys.argv[1] + ".json"))
p = v["parting"]
print(v["verdict"], p["kind"], p["operation"], "found" if f"nondeterministic.py:{sys.argv[2]} " in p["where"] else p["where"])
PY
done
