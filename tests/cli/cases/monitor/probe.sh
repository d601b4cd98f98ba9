# The probe: unknown without a GPU, it leaves a GPU alone that a program uses, and a GPU that
# computes nothing at all is critical. Right arithmetic is gpu-build.exact's, on the stand-in's
# kernels.
# labels: once
. "$ROOT/tests/fake/machine.sh"

try() {
	echo "\$ monitor $*"
	monitor "$@"
	echo "status $?"
}

machine nodriver
variables+=(LD_LIBRARY_PATH=/nowhere)
try probe
monitor probe --json | python3 -c '
import json, sys
d = json.load(sys.stdin)
assert d["health"] == "unknown" and d["gpus"] == [] and d["no_gpu_because"], d'
machine h200
measures 0 proc=4711:65536,99:5
variables+=(LD_LIBRARY_PATH="$BUILD/fake" LS_FAKE_CUDA_CONFIG=devices=1)
echo "== programs use it"
try probe
echo "== a GPU whose kernels do nothing"
variables+=(LS_FAKE_CUDA_CONFIG='devices=1 mem=134217728' LS_FAKE_CUDA_KERNELS="$BUILD/fake/libfake_idle.so")
try probe --beside-jobs | sed 's/[0-9]* of [0-9]* products/N of N products/'
monitor probe --beside-jobs --json | python3 -c '
import json, sys
d = json.load(sys.stdin)
g = d["gpus"][0]
assert d["health"] == "critical" == g["health"] and g["wrong"] == g["products"] > 0, d
assert g["memory"] > 0 and not g["memory_wrong"], d'
echo "== wrong"
try probe --listen 127.0.0.1:0
try --beside-jobs
try check --beside-jobs
