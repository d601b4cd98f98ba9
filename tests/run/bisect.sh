# scripts that are nondeterministic on purpose are caught and bisected to the line
py=$("$ROOT/tools/venv") || exit 77
prog=$ROOT/tests/run/progs/nondeterministic.py
for kind in unordered_set augment index_add "index_add device" copied spawned; do
	# "device": digests as on a GPU, in a program of so few operations that its end
	# fetches them
	read -r -a args <<<"$kind"
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
# an operation in a thread of the autograd engine, which has no Python frame of its own,
# is told by the line that called backward
cat >engine.py <<'PY'
import ctypes, sys, torch
ops, policy = sys.modules["lockstep_ops"], sys.modules["lockstep_policy"].POLICY
log, libc, thread = ops.Log(torch, policy), ctypes.CDLL(None), ctypes.c_ulong()
call = ctypes.CFUNCTYPE(ctypes.c_size_t)(log.stack_id)
def _engine_run_backward():
    libc.pthread_create(ctypes.byref(thread), None, call, None)
    libc.pthread_join(thread, None)
_engine_run_backward()
print([s.split("|")[0].split(" ")[-1] for s in log.stacks])
PY
lockstep run --trace ops -o engine -- "$py" engine.py
