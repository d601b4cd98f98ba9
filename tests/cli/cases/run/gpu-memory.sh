# how much of a GPU's memory was in use, for a program in any language: before, and at
# most while it ran
. "$ROOT/tests/fake/machine.sh"
base debian 12 2.36
driver 535.104.05 12020
gpu 'Tesla T4' 7.5 15360 70
gpu 'Tesla P100' 6.0 16384 250
sed -i '/P100/s/memory=[0-9]*/memory=-/; /T4/s/$/|grow=8/' "$script"
export LS_FAKE_NVML="$script" LD_LIBRARY_PATH="$BUILD/fake/nvml-new"
lockstep run -- sh -c 'sleep 0.6'
echo "status $?"
python3 - <<'PY'
import json
m = json.load(open("artifacts/run_manifest.json"))["resources"]["gpu_memory"]
mib = 1 << 20
for g in m:
    more = g["used_peak_bytes"] - g["used_before_bytes"]
    print(g["index"], g["name"], g["uuid"], g["total_bytes"] // mib, g["used_before_bytes"] // mib, more >= 2 * 8 * mib, more % (8 * mib))
PY
lockstep manifest show artifacts | sed -n 's/^gpu memory *0: 7680.0 MiB in use before, at most [0-9.]* of 15360.0, whoever.*/shown/p'
# a driver that does not start: nothing is said, nothing fails
sed -i 's/^driver.*/init 9/' "$script"
lockstep run -- true
echo "status $?"
grep -c gpu_memory artifacts/run_manifest.json || true
