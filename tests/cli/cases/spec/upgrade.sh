# the newest set of parts that fit each other and are alive; what the tables do not know
# is not taken
day='--today 2026-11-15'
lockstep spec upgrade gpu-training-2024-11 $day -o up.json; echo "-> $?"
lockstep spec upgrade gpu-training-2024-11 $day --gpu L40S -o up.json; echo "-> $?"
lockstep spec check up.json $day; echo "-> $?"
lockstep spec diff gpu-training-2024-11 up.json
lockstep spec upgrade up.json $day | tail -1
lockstep spec upgrade kaggle-2025-09 $day --gpu 7.5 --json >k.json; echo "-> $?"
cat >show.py <<'PY'
import json
d = json.load(open("k.json"))
print(d["from"], d["capability"], d["file"], d["spec"]["image"]["base"], d["spec"]["cudnn"]["match"])
print(*[f'{p["part"]} {p["then"]} {p["then_ends"]}' for p in d["parts"]], *d["by_hand"], sep="\n")
print(len(d["not_taken"]) > 5, d["findings"][0]["kind"])
PY
python3 show.py
lockstep spec upgrade gpu-inference-2024-11 --today 2028-01-01; echo "-> $?"
# a capture: NVIDIA's wheels come with torch, names that carry a CUDA are told, a driver
# that has ended moves, one that is new enough stays
cat >captured.json <<'JSON'
{"schema": 1, "name": "c", "captured": true, "torch": "2.8.0+cu126", "driver": "570.124.06", "python": "3.12.4",
 "gpus": [{"name": "NVIDIA L4", "count": 1}],
 "image": {"base": "x/y:1", "digest": "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},
 "packages": {"nvidia-cudnn-cu12": "9.10.2.21", "triton": "3.4.0", "numpy": "2.3.3", "cupy-cuda12x": "13.6"}}
JSON
lockstep spec upgrade captured.json $day -o up.json; echo "-> $?"
sed -n '/"image"/,$p' up.json
sed 's/570.124.06/595.45.04/' captured.json >newer.json
lockstep spec upgrade newer.json $day | grep driver
# without a GPU in the spec it is that of this machine
. "$ROOT/tests/fake/machine.sh"
echo '{"schema": 1, "name": "any", "torch": "2.8.0+cu126", "driver": ">=535"}' >any.json
here() {
	env -i PATH=/usr/bin:/bin HOME=/home/user LOCKSTEP_ROOT="$root" LS_FAKE_NVML="$script" \
		${ASAN_OPTIONS:+"ASAN_OPTIONS=$ASAN_OPTIONS"} "$(command -v lockstep)" spec upgrade any.json $day
	echo "-> $?"
}
exec 2>&1
for m in h200 p100 nodriver; do
	machine $m
	here
done
lockstep spec upgrade any.json $day --gpu L40Q; echo "-> $?"
lockstep spec upgrade any.json --today 2026-13-01 --gpu T4; echo "-> $?"
lockstep spec upgrade missing.json; echo "-> $?"
lockstep spec upgrade any.json --gpu T4 --today 2027-12-01 | grep tables
