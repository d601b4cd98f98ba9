#!/usr/bin/env bash
# tests/gpu/trace.sh [BIN] [PYTHON] [PART…]: the traces on a real GPU. Arguments as for
# twin.sh. Parts:
#   same      a ResNet-like training: thousands of named launches, the same digest twice
#   other     another algorithm (cudnn.benchmark): manifest diff names the first kernel
#             that differs
#   overhead  50 steps with and without the kernel trace, the best of 12, in $LS_ROUNDS (2)
#             processes each, in turns; the trace costs less than 5 %
#   ops       what --trace ops costs
# Exit status 0: passed; 1: failed; 3: no GPU or no torch.
set -uo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
bin=${1:-$root/build/device} py=${2:-/opt/torch/.venv/bin/python3} prog=$root/tests/run/progs/resnet.py worst=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# a read-only venv compiles torch in every process
export PATH="$bin:$PATH" PYTHONPYCACHEPREFIX=${PYTHONPYCACHEPREFIX:-$work/pyc}
"$py" -c 'import sys, torch; sys.exit(0 if torch.cuda.is_available() else 3)' || { echo "no torch with a GPU"; exit 3; }
cd "$work" || exit 4
fail() {
	echo "FAILED: $*"
	worst=1
}

part_same() {
	for i in 1 2; do lockstep run -o t$i --trace kernels -- "$py" "$prog" cuda 20 1 >t$i.log 2>&1 & done
	wait
	cat t1.log t2.log
	"$py" -S - <<'PY' || fail "the trace"
import json, sys
a, b = (json.load(open(f"t{i}/run_manifest.json"))["trace"]["kernels"] for i in (1, 2))
print(a, b, sep="\n")
sys.exit(0 if a and a[0]["launches"] > 1000 and a[0]["digest"] == b[0]["digest"] and "unknown" not in a[0] else 1)
PY
	lockstep manifest diff t1 t2 >same.txt
	grep '^kernel' same.txt && fail "kernels differ"
}

part_other() {
	lockstep run -o usual --level 1 --trace kernels -- "$py" "$prog" cuda 20 1 >usual.log 2>&1 &
	lockstep run -o fast --level 1 --trace kernels -- "$py" "$prog" cuda 20 1 benchmark >fast.log 2>&1 &
	wait
	lockstep manifest diff usual fast >other.txt
	grep '^kernel' other.txt | tr -s ' ' | cut -c1-400
	grep -q '^kernel' other.txt || fail "no kernel named"
}

part_overhead() {
	for ((i = 0; i < ${LS_ROUNDS:-2}; i++)); do
		lockstep run -o plain -- "$py" "$prog" cuda 50 12 | sed 's/seconds/plain/'
		lockstep run -o traced --trace kernels -- "$py" "$prog" cuda 50 12 | sed 's/seconds/traced/'
	done >times.txt
	"$py" -S - <<'PY' || fail "overhead of 5 % or more"
import sys
found = {}
for line in open("times.txt"):
    kind, s = line.split()
    found.setdefault(kind, []).append(1e3 * float(s) / 50)
for kind, ms in found.items():
    print(kind, "ms a step:", " ".join("%.3f" % x for x in sorted(ms)))
// 2))
best, middle = ({k: sorted(v)[at(len(v))] for k, v in found.items()} for at in (lambda n: 0, lambda n: n
over = best["traced"] / best["plain"] - 1
print("kernel trace: best %+.2f %%, median %+.2f %%" % (100 * over, 100 * (middle["traced"] / middle["plain"] - 1)))
sys.exit(0 if over < 0.05 else 1)
PY
}

part_ops() {
	lockstep run -o ops --trace ops -- "$py" "$prog" cuda 10 2 | sed 's/seconds/ops, seconds for 10 steps:/' || fail "status $?"
	"$py" -S -c 'import json; print(json.load(open("ops/run_manifest.json"))["trace"]["ops"])'
}

shift $(($# < 2 ? $# : 2))
for part in "${@:-same other overhead ops}"; do
	for p in $part; do
		echo "== $p"
		"part_$p"
	done
done
echo "trace.sh: $worst"
exit $worst
