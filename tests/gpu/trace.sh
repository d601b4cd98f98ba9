#!/usr/bin/env bash
# tests/gpu/trace.sh [BIN] [PYTHON]: the kernel trace on a real GPU. Arguments as for twin.sh.
#   1. a ResNet-like fit: thousands of named launches, the same digest twice
#   2. the overhead: best of 5 with and without the trace, in turns; under 5 %
#   3. another algorithm (cudnn.benchmark, nothing deterministic) is named by manifest diff as the first kernel that differs
# Exit status 0: all as it should be; 1: not; 3: no GPU or no torch.
set -uo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
bin=${1:-$root/build/device} py=${2:-/opt/torch/.venv/bin/python3} prog=$root/tests/run/progs/resnet.py worst=0
"$py" -c 'import sys, torch; sys.exit(0 if torch.cuda.is_available() else 3)' || { echo "no torch with a GPU"; exit 3; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 4
export PATH="$bin:$PATH"
fail() { echo "FAILED: $*"; worst=1; }

echo "== the same launches twice"
for i in 1 2; do lockstep run -o t$i --trace kernels -- "$py" "$prog" cuda 20 || fail "status $?"; done
"$py" - <<'PY' || fail "the trace"
import json, sys
a, b = (json.load(open(f"t{i}/run_manifest.json"))["trace"]["kernels"] for i in (1, 2))
print(a, b, sep="\n")
sys.exit(0 if a and a[0]["launches"] > 1000 and a[0]["digest"] == b[0]["digest"] and "unknown" not in a[0] else 1)
PY
lockstep manifest diff t1 t2 | grep '^kernel' && fail "kernels differ"

echo "== overhead"
for i in 1 2 3 4 5; do
	lockstep run -o plain -- "$py" "$prog" cuda 300 | sed 's/seconds/plain/'
	lockstep run -o traced --trace kernels -- "$py" "$prog" cuda 300 | sed 's/seconds/traced/'
done >times.txt
"$py" - <<'PY' || fail "overhead of 5 % or more"
import sys
best = {}
for line in open("times.txt"):
    kind, s = line.split()
    best[kind] = min(best.get(kind, 1e9), float(s))
over = best["traced"] / best["plain"] - 1
print(best, "overhead %.2f %%" % (100 * over))
sys.exit(0 if over < 0.05 else 1)
PY

echo "== another algorithm is named"
lockstep run -o fast --level 0 --trace kernels -- "$py" "$prog" cuda 20 benchmark
lockstep manifest diff t1 fast | grep '^kernel' | cut -c1-400 || fail "no kernel named"
echo "trace.sh: $worst"
exit $worst
