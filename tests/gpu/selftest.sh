#!/usr/bin/env bash
# tests/gpu/selftest.sh [--exhaustive] [BIN]: device against host, bit by bit, on a real
# GPU. BIN holds lockstep and gpu_selftest (default: build/device, made by
# tools/cross-static). The machine itself needs nothing but a driver.
#   1. embedded PTX through the driver: fresh, from the cache, and with a damaged entry
#   2. embedded source through NVRTC, where there is one
# Exit status 0: all equal, nothing skipped; 1: something differs or failed; 3: no GPU, or
# a part could not run.
set -uo pipefail
exhaustive=()
if [ "${1:-}" = --exhaustive ]; then exhaustive=(--exhaustive); shift; fi
bin=${1:-$(cd "$(dirname "$0")/../.." && pwd)/build/device}
cache=$(mktemp -d)
trap 'rm -rf "$cache"' EXIT
worst=0

part() { # part TITLE WORDS COMMAND…: runs it; its output must have the words
	local title=$1 words=$2 rc=0
	shift 2
	echo "== $title"
	"$@" >"$cache/out" 2>&1 || rc=$?
	cat "$cache/out"
	if [ $rc = 0 ] && ! grep -qF "$words" "$cache/out"; then echo "not there: $words"; rc=1; fi
	case $rc in
	0) echo "== $title: passed" ;;
	3) echo "== $title: could not run"; [ $worst = 0 ] && worst=3 ;;
	*) echo "== $title: FAILED ($rc)"; worst=1 ;;
	esac
}

"$bin/lockstep" --version || exit 1
part "embedded PTX" "embedded PTX" "$bin/gpu_selftest" "${exhaustive[@]}" --cache "$cache/kernels"
part "from the cache" ", cached" "$bin/gpu_selftest" --cache "$cache/kernels"
for f in "$cache"/kernels/*.code; do printf 'x' | dd of="$f" bs=1 seek=300 conv=notrunc status=none; done
part "a spoilt cache entry" "embedded PTX for" "$bin/gpu_selftest" --cache "$cache/kernels"
if grep -q ", cached" "$cache/out"; then echo "a spoilt entry was used"; worst=1; fi
part "source by NVRTC" "NVRTC" "$bin/gpu_selftest" --source --cache "$cache/kernels"
part "source by NVRTC, from the cache" ", cached" "$bin/gpu_selftest" --source --cache "$cache/kernels"
exit $worst
