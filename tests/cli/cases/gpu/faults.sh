# Every way in which a GPU is not to be had ends with a status and with what to do. The
# stand-in driver plays them, so this needs no kernels that run; tests/bitwise/cuda has
# what fails in the middle of a training.
lockstep --version | grep -q 'embedded PTX' || { echo "no nvcc at build time: there is no PTX to refuse" >&2; exit 77; }
mkdir lib bad root
cp "$BUILD/fake/libcuda.so.1" lib
# a real one shall not be found
for f in libnvrtc.so.13 libnvrtc.so.12 libnvrtc.so.11.2; do : >lib/$f; done
: >bad/libcuda.so.1
head -n 20 "$ROOT/tests/data/small.ffm" >rows.ffm
unset VIRTUAL_ENV CONDA_PREFIX
export HOME="$PWD" XDG_CACHE_HOME="$PWD/cache" LOCKSTEP_ROOT="$PWD/root"

try() { # try FAULTS CONFIG [OPTION…]
	faults=$1 config=$2
	shift 2
	echo "== ${faults:-no fault}${config:+, $config}${*:+, $*}"
	LD_LIBRARY_PATH=${lib:-lib} LS_FAKE_CUDA=$faults LS_FAKE_CUDA_CONFIG=$config \
		lockstep fm train rows.ffm -o model -q --epochs 1 --batch 4 --device cuda "$@" >said 2>&1
	status=$?
	sed 's/[0-9.]* KiB of \(GPU memory,\|memory to lock\)/N KiB of \1/' said
	echo "status $status"
	[ ! -e model ] || { echo "a model was left behind"; exit 1; }
}

lib=$PWD/bad try '' ''
try cuInit:1:100 ''
try cuInit:1:999 ''
try cuInit:1:803 ''
try cuInit:1:35 ''
try '' devices=0
try '' devices=2 --device cuda:2
try cuDevicePrimaryCtxRetain:1:2 ''
try cuDevicePrimaryCtxRetain:1:46 ''
try cuLinkAddData_v2:0:222 cuda=11040
try '' cc=62
try cuModuleLoadDataEx:0:209 ''
try cuLinkCreate_v2:0:221 ''
try '' mem=200000
try '' '' --device-memory 100K
try '' '' --device-memory 5x
try cuMemAlloc_v2:1:2 ''
try cuMemHostAlloc:1:2 ''
try cuMemcpyHtoDAsync_v2:1:214 ''
ls cache/lockstep/kernels | sed 's/-.*/-KEY.code/' # what could be compiled before the fault is kept
