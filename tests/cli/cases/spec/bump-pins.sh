# The pins follow a machine that drifted, each as precise as it was.
. "$ROOT/tests/fake/machine.sh"
machine kaggle
site=/usr/local/lib/python3.10/dist-packages
rm -r "$root$site"/{torch,nvidia,numpy}*
torch $site 2.4.0+cu124 12.4 9.1.0.70
put $site/torchvision/version.py "__version__ = '0.19.0+cu124'"
dist $site numpy 2.0.1
dist $site pytorch_lightning 2.4.0
capture() {
	env -i PATH=/usr/bin:/bin SOURCE_DATE_EPOCH=1757116800 LOCKSTEP_ROOT="$root" LS_FAKE_NVML="$script" \
		${ASAN_OPTIONS:+"ASAN_OPTIONS=$ASAN_OPTIONS"} "${variables[@]}" "$(command -v lockstep)" spec capture "$@"
}
cat >pin.json <<'JSON'
{"schema": 1, "name": "pin", "torch": "2.3.1+cu121", "torch_cuda": "12.1*", "cudnn": {"match": "8.x", "why": "major"},
 "driver": ">=550.1", "python": "3.9.x", "gpus": "Tesla P100", "os": ["debian 12", "debian 13"],
 "packages": {"torchvision": "0.18.1+cu121", "NumPy": ">=1.26,<2", "pandas": "2.2.2", "pytorch-lightning": "~=2.3.1", "scipy": "~=1.13.0",
  "rich": "12.*", "gone": "1.0"}, "env": {"PYTHONHASHSEED": "7", "NVIDIA_TF32_OVERRIDE": "0"},
 "requirements": {"extra_index": "https://download.pytorch.org/whl/cu121"}}
JSON
capture --like pin.json --name fresh >fresh.json
lockstep spec diff --bump pin.json fresh.json >bumped.json
echo "status $?"
cat bumped.json
echo '== what is left is no pin that can be moved'
lockstep spec diff bumped.json fresh.json | grep -v within
echo '== without drift nothing moves'
lockstep spec diff --bump bumped.json bumped.json | cmp - bumped.json && echo same
lockstep spec diff --bump --markdown pin.json fresh.json
echo "status $?"
