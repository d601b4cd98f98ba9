# Variables that were not set are part of a capture: one that comes is drift, and doctor
# sees it. So are all
# distributions, and the names of GPUs of several kinds.
. "$ROOT/tests/fake/machine.sh"
capture() { # as doctor() of machine.sh, with the same environment
	env -i PATH=/usr/bin:/bin HOME=/home/user SOURCE_DATE_EPOCH=1757116800 LOCKSTEP_ROOT="$root" LS_FAKE_NVML="$script" \
		${ASAN_OPTIONS:+"ASAN_OPTIONS=$ASAN_OPTIONS"} "${variables[@]}" "$(command -v lockstep)" spec capture "$@"
}
machine kaggle
gpu 'NVIDIA L4' 8.9 23034 72
site=/usr/local/lib/python3.10/dist-packages
variables=()
capture --name before -o before.json
python3 - <<'PY'
import json
d = json.load(open("before.json"))
print(d["gpus"])
print(len(d["packages"]), "packages, among them", *sorted(p for p in d["packages"] if p.startswith("nvidia"))[:2])
print("NVIDIA_TF32_OVERRIDE" in d.get("env", {}), "env.NVIDIA_TF32_OVERRIDE" in d["absent"])
PY
doctor --spec before.json --fail-on-mismatch | head -n 1
capture --name again -o again.json && lockstep spec diff before.json again.json; echo "status $?"
variables=(NVIDIA_TF32_OVERRIDE=1 CUBLAS_WORKSPACE_CONFIG=:16:8 LD_LIBRARY_PATH=/opt/other)
capture --name after -o after.json
lockstep spec diff before.json after.json; echo "status $?"
lockstep spec diff after.json before.json | head -n 4
doctor --spec before.json | grep -A1 -e '^differs env'
variables=()
dist $site fastapi 0.115.0
rm -r "$root$site"/rich-*
doctor --spec before.json --fail-on-mismatch >out; echo "status $?"; grep rich out
