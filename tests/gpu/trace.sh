#!/usr/bin/env bash
# tests/gpu/trace.sh [BIN] [PYTHON]: the kernel trace on a real GPU. Arguments as for twin.sh.
#   1. a ResNet-like fit: thousands of named launches, the same digest twice
#   2. another algorithm (cudnn.benchmark, nothing deterministic) is named by manifest diff as the first kernel that differs
#   3. the overhead: the best of 8 fits of 100 steps with and without the trace, in two processes each, in turns; under 5 %
#   4. what --trace ops costs there
# Exit status 0: all as it should be; 1: not; 3: no GPU or no torch.
set -uo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
bin=${1:-$root/build/device} py=${2:-/opt/torch/.venv/bin/python3} prog=$root/tests/run/progs/resnet.py worst=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PATH="$bin:$PATH" PYTHONPYCACHEPREFIX=${PYTHONPYCACHEPREFIX:-$work/pyc} # a read-only venv compiles torch in every process
"$py" -c 'import sys, torch; sys.exit(0 if torch.cuda.is_available() else 3)' || { echo "no torch with a GPU"; exit 3; }
cd "$work" || exit 4
fail() { echo "FAILED: $*"; worst=1; }

echo "== the same launches twice, and another algorithm"
for i in 1 2; do lockstep run -o t$i --trace kernels -- "$py" "$prog" cuda 20 1 >t$i.log 2>&1 & done
lockstep run -o fast --level 0 --trace kernels -- "$py" "$prog" cuda 20 1 benchmark >fast.log 2>&1 &
wait
cat t1.log t2.log fast.log
"$py" -S - <<'PY' || fail "the trace"
import json, sys
a, b = (json.load(open(f"t{i}/run_manifest.json"))["trace"]["kernels"] for i in (1, 2))
print(a, b, sep="\n")
sys.exit(0 if a and a[0]["launches"] > 1000 and a[0]["digest"] == b[0]["digest"] and "unknown" not in a[0] else 1)
PY
lockstep manifest diff t1 t2 | grep '^kernel' && fail "kernels differ"
lockstep manifest diff t1 fast | grep '^kernel' | cut -c1-400 || fail "no kernel named"

echo "== overhead"
for i in 1 2; do
	lockstep run -o plain -- "$py" "$prog" cuda 100 8 | sed 's/seconds/plain/'
	lockstep run -o traced --trace kernels -- "$py" "$prog" cuda 100 8 | sed 's/seconds/traced/'
done >times.txt
lockstep run -o ops --trace ops -- "$py" "$prog" cuda 10 2 | sed 's/seconds/ops/' >>times.txt
"$py" -S - <<'PY' || fail "overhead of 5 % or more"
import sys
all_, steps = {}, {"plain": 100, "traced": 100, "ops": 10}
for line in open("times.txt"):
    kind, s = line.split()
    all_.setdefault(kind, []).append(1e3 * float(s) / steps[kind])
for kind, ms in all_.items():
    print(kind, "ms a step:", " ".join("%.3f" % x for x in sorted(ms)))
over = min(all_["traced"]) / min(all_["plain"]) - 1
print("kernels: %+.2f %%; ops: %.1f times" % (100 * over, min(all_["ops"]) / min(all_["plain"])))
sys.exit(0 if over < 0.05 else 1)
PY
echo "trace.sh: $worst"
exit $worst
