# shellcheck shell=bash
# A monitor that listens, for tests: after `. tests/fake/machine.sh`, `serve OPTION…` starts it on
# a free port and sets $server (its process) and $address; `stop_server` ends it.

serve() {
	: >"$SCRATCH/serve.err"
	env -i PATH=/usr/bin:/bin HOME="$HOME" LOCKSTEP_ROOT="$root" LS_FAKE_NVML="$script" LS_FAKE_STEP="${step:-0}" \
		${ASAN_OPTIONS:+"ASAN_OPTIONS=$ASAN_OPTIONS"} "${variables[@]}" \
		"$(command -v lockstep)" monitor --listen 127.0.0.1:0 "$@" 2>"$SCRATCH/serve.err" &
	server=$!
	for _ in $(seq 1200); do
		address=$(sed -n 's|^lockstep: http://\(.*\)/$|\1|p' "$SCRATCH/serve.err")
		[ -z "$address" ] || return 0
		kill -0 "$server" 2>/dev/null || break
		sleep 0.05
	done
	cat "$SCRATCH/serve.err"
	return 1
}

stop_server() {
	kill "$server"
	wait "$server"
	echo "stopped with $?"
}
