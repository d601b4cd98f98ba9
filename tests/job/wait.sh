# For cases about jobs, which source it: waiting for conditions, and short looks into the
# store.
fails() { "$@" 2>&1; echo "exit $?"; }
quiet() { "$@" 2>/dev/null; }
until_ok() { # waits for a condition, with a bound far beyond what it takes
	for _ in $(seq 3000); do
		if "$@" 2>/dev/null; then return; fi
		sleep 0.02
	done
	echo "never: $*"
	exit 9
}
state_is() { [ "$(lockstep exp list --columns state --where "name=$1" | tail -n 1 | tr -d ' ')" = "$2" ]; }
history() { lockstep exp show --json "$1" | python3 -c 'import json, sys; print(*[e["kind"] + (str(e["attempt"]) if e["attempt"] else "") for e in json.load(sys.stdin)["history"]])'; }
sqlite() { python3 -c 'import sqlite3, sys
c = sqlite3.connect(sys.argv[1], timeout=60, isolation_level=None)
print(*[v for row in c.execute(sys.argv[2]) for v in row])' .lockstep/exp.db "$1"; }
