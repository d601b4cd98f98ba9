# One of two GPUs has fallen off the bus: what it does not say is unknown, and that it
# does not answer is a fault.
. "$ROOT/tests/fake/machine.sh"
machine kaggle
sed -i '$ s/.*/gpu name=!15|uuid=!15|cc=!15|memory=!15|ecc=!15|mig=!15|persistence=!15|power=!15|default=!15|throttle=!15/' "$script"
doctor -v --spec kaggle-2025-09 --fail-on-mismatch | sed -n '/^GPUs/,/^$/p; /^What to look at/,$p'
echo "status ${PIPESTATUS[0]}"

# Nothing at all to look at: every answer is unknown or absent, and none is a zero or a
# match.
mkdir empty
env -i PATH=/usr/bin:/bin LOCKSTEP_ROOT="$PWD/empty" ${ASAN_OPTIONS:+"ASAN_OPTIONS=$ASAN_OPTIONS"} "$(command -v lockstep)" doctor --json >r.json
python3 - r.json <<'PY'
import json, sys

r = json.load(open(sys.argv[1]))
# that one is the build's
known = [f["key"] for f in r["facts"] if f["state"] == "known" and f["key"] != "gpu_code"]
print("known on an empty machine:", known)
print({k for k, v in r["env"].items() if v is not None}, r["gpus"])
PY
