#!/usr/bin/env bash
# tests/gpu/twin.sh [BIN] [PYTHON]: the twin-fit experiment on a real GPU, with a negative control. BIN holds lockstep and
# liblockstep_inject.so (default: build/device), PYTHON has torch with CUDA (default: /opt/torch/.venv/bin/python3).
#   1. twin fits of a CNN with 4 workers and of a transformer: identical, and not with another seed
#   2. an operation without a deterministic form raises with its name; --warn-only records it
#   3. float atomics without a policy differ, and are bisected to the line
#   4. peak GPU memory and the GPU's identity are in the manifest
# Exit status 0: all as it should be, nothing skipped; 1: not; 3: no GPU, no torch, or a part could not run.
set -uo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
bin=${1:-$root/build/device} py=${2:-/opt/torch/.venv/bin/python3} progs=$root/tests/run/progs worst=0
"$py" -c 'import sys, torch; sys.exit(0 if torch.cuda.is_available() else 3)' || { echo "no torch with a GPU"; exit 3; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 4
export PATH="$bin:$PATH"
fail() { echo "FAILED: $*"; worst=1; }

echo "== twin fits"
for prog in cnn transformer; do
	if [ $prog = cnn ] && ! "$py" -c 'import numpy' 2>/dev/null; then
		echo "$prog: no numpy, could not run"
		[ $worst = 0 ] && worst=3
		continue
	fi
	lockstep verify --control seed -- "$py" "$progs/$prog.py" cuda || fail "$prog: status $?"
done

echo "== an operation without a deterministic form"
lockstep run -o raise -- "$py" "$progs/atomics.py" bicubic cuda >raise.log 2>&1
[ $? != 0 ] || fail "it did not raise"
grep -E 'RuntimeError|^lockstep' raise.log | cut -c1-160
grep -q '^lockstep: no deterministic form: upsample_bicubic2d_backward' raise.log || fail "it was not named"
lockstep run -o warn --warn-only -- "$py" "$progs/atomics.py" bicubic cuda >warn.log 2>&1 || fail "--warn-only: status $?"
lockstep manifest show warn | grep '^no det' || fail "--warn-only recorded nothing"

echo "== float atomics without a policy, bisected"
for kind in index_add bicubic; do
	line=$(grep -n "LINE $kind" "$progs/atomics.py" | cut -d: -f1)
	lockstep verify --level 0 --runs 4 --bisect -- "$py" "$progs/atomics.py" $kind cuda >$kind.txt 2>/dev/null
	status=$?
	cat $kind.txt
	[ $status = 1 ] || fail "$kind: status $status, expected that the runs differ"
	grep -q "they part at .*atomics.py:$line " $kind.txt || fail "$kind: not bisected to line $line"
	lockstep verify --level 2 --warn-only -- "$py" "$progs/atomics.py" $kind cuda 2>/dev/null | tail -n 2
done

echo "== what the manifest knows of the GPU"
"$py" - warn/run_manifest.json <<'PY' || fail "no GPU in the manifest"
import json, sys
m = json.load(open(sys.argv[1]))
print(m["gpus"])
print({f["key"]: f["value"] for f in m["environment"] if f["key"].startswith("gpu.0.")})
sys.exit(0 if m["gpus"] and m["gpus"][0]["peak_allocated_bytes"] > 0 else 1)
PY
echo "twin.sh: $worst"
exit $worst
