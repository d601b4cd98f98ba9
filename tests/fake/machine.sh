# shellcheck shell=bash Scripted machines for doctor's tests: `.
# "$ROOT/tests/fake/machine.sh"; machine kaggle; doctor --cuda`. A machine is a folder
# that stands for / (LOCKSTEP_ROOT), a stand-in NVML with its script, and an environment.
# machine NAME makes one: kaggle, h200, t4, p100, l40s4, nodriver, code18, old, mig. The
# functions below build others.
root=$SCRATCH/root
script=$SCRATCH/nvml.txt
variables=()

put() { # put PATH TEXT…: a file of the machine, a line each
	mkdir -p "$root$(dirname "$1")"
	printf '%s\n' "${@:2}" >"$root$1"
}

base() { # base OS VERSION GLIBC: everything but GPUs and Python
	rm -rf "$root" "$script"
	put /etc/os-release "PRETTY_NAME=\"$1 $2\"" "ID=$1" "VERSION_ID=\"$2\""
	put /proc/sys/kernel/osrelease 5.15.133+
	put /proc/sys/kernel/hostname scripted
	put /proc/sys/kernel/arch x86_64
	put /proc/cpuinfo 'processor	: 0' 'model name	: Intel(R) Xeon(R) CPU @ 2.00GHz' \
		'flags		: fpu sse4_2 avx f16c fma avx2 avx512f avx512bw avx512vl' 'processor	: 1'
	put /proc/meminfo 'MemTotal:       32880404 kB'
	put /lib/x86_64-linux-gnu/libc.so.6 "GNU C Library stable release version $3."
	mkdir -p "$root/sys/bus/pci/devices"
	: >"$script"
}

driver() { # driver VERSION CUDA [old]: kernel module and NVML of one version
	put /sys/module/nvidia/version "$1"
	put /proc/driver/nvidia/version "NVRM version: NVIDIA UNIX x86_64 Kernel Module  $1  Sat Feb 17 22:55:48 UTC 2024"
	mkdir -p "$root/usr/lib/x86_64-linux-gnu"
	cp -f "$BUILD/fake/nvml-${3:-new}/libnvidia-ml.so.1" "$root/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1"
	printf 'driver %s\nlibrary 12.%s\ncuda %s\n' "$1" "$1" "$2" >>"$script"
}

gpu() { # gpu NAME CC MIB WATTS [FIELD=VALUE…]: one more GPU
	local n line="name=$1|cc=$2|memory=$3|power=${4}000|default=${4}000|ecc=1|mig=-|persistence=1|throttle=0x1"
	n=$(grep -c '^gpu' "$script")
	for field in "${@:5}"; do line=$(sed "s/\(^\||\)${field%%=*}=[^|]*/\1$field/" <<<"$line"); done
	printf 'gpu %s|uuid=GPU-0000000%d-aaaa-bbbb-cccc-000000000000\n' "$line" "$n" >>"$script"
	put "/sys/bus/pci/devices/0000:0$n:00.0/vendor" 0x10de
	put "/sys/bus/pci/devices/0000:0$n:00.0/class" 0x030200
	put "/proc/driver/nvidia/gpus/0000:0$n:00.0/information" "Model: 		 $1" \
		"GPU UUID: 	 GPU-0000000$n-aaaa-bbbb-cccc-000000000000"
}

python() { # python PATH VERSION: an interpreter that carries its version as CPython does
	mkdir -p "$root$(dirname "$1")"
	printf '\177ELF\0Python\0%s\0' "$2" >"$root$1"
	chmod +x "$root$1"
}

dist() { # dist SITE NAME VERSION: an installed distribution
	put "$1/$2-$3.dist-info/METADATA" "Metadata-Version: 2.1" "Name: ${2//_/-}" "Version: $3" "" "Version: of the text"
}

torch() { # torch SITE VERSION CUDA|None CUDNN: with the wheels that this CUDA's torch comes with
	local cuda="'$3'" major=${3%%.*}
	[ "$3" != None ] || cuda=None
	put "$1/torch/version.py" 'from typing import Optional' '' "__all__ = ['__version__', 'debug', 'cuda', 'git_version', 'hip']" \
		"__version__ = '$2'" 'debug = False' "cuda: Optional[str] = $cuda" \
		"git_version = '63d5e9221bedd1546b7d364b5ce4171547db12a9'" 'hip: Optional[str] = None'
	dist "$1" torch "${2%%+*}"
	[ "$3" != None ] || return 0
	local suffix=_cu$major folder
	[ "$major" -lt 13 ] || suffix=
	dist "$1" "nvidia_cuda_runtime$suffix" "$3.105"
	dist "$1" "nvidia_cublas$suffix" "$3.3.1"
	dist "$1" "nvidia_cuda_nvrtc$suffix" "$3.105"
	dist "$1" "nvidia_cuda_cupti$suffix" "$3.105"
	dist "$1" "nvidia_cudnn_cu$major" "$4"
	dist "$1" "nvidia_nccl_cu$major" 2.20.5
	put "$1/nvidia/cudnn/lib/libcudnn.so.${4%%.*}" x
	put "$1/nvidia/nccl/lib/libnccl.so.2" x
	for lib in cudart:cuda_runtime cublas:cublas nvrtc:cuda_nvrtc cupti:cuda_cupti; do
		folder=${lib#*:}
		[ "$major" -lt 13 ] || folder=cu$major
		put "$1/nvidia/$folder/lib/lib${lib%:*}.so.$major" x
	done
}

toolkit() { # toolkit VERSION NVCC: /usr/local/cuda
	put /usr/local/cuda/version.json "{\"cuda\": {\"name\": \"CUDA SDK\", \"version\": \"$1\"}," \
		" \"cuda_nvcc\": {\"name\": \"CUDA NVCC\", \"version\": \"$2\"}}"
}

kaggle_software() {
	local site=/usr/local/lib/python3.10/dist-packages
	base ubuntu 22.04 2.35
	toolkit 12.1.1 12.1.105
	python /usr/bin/python3.10 3.10.14
	ln -s python3.10 "$root/usr/bin/python3"
	torch $site 2.3.1+cu121 12.1 8.9.2.26
	put $site/torchvision/version.py "__version__ = '0.18.1+cu121'"
	put $site/torchaudio/version.py "__version__ = '2.3.1+cu121'"
	dist $site torchvision 0.18.1
	dist $site torchaudio 2.3.1
	dist $site numpy 1.26.4
	dist $site pandas 2.2.2
	dist $site scipy 1.13.1
	dist $site typer 0.12.3
	dist $site rich 13.7.1
	dist $site jsonschema 4.23.0
	put /.dockerenv
	variables=(KAGGLE_KERNEL_RUN_TYPE=Batch PYTHONHASHSEED=1337 CUBLAS_WORKSPACE_CONFIG=:4096:8 NVIDIA_TF32_OVERRIDE=0)
}

machine() {
	case $1 in
	kaggle) kaggle_software; driver 535.161.08 12020; gpu 'Tesla T4' 7.5 15360 70; gpu 'Tesla T4' 7.5 15360 70 ;;
	p100) kaggle_software; driver 535.161.08 12020; gpu 'Tesla P100-PCIE-16GB' 6.0 16384 250 ;;
	t4) # drifted: another torch, an older driver, one GPU that throttles
		kaggle_software
		rm -r "$root/usr/local/lib/python3.10/dist-packages"/{torch,nvidia}*
		torch /usr/local/lib/python3.10/dist-packages 2.4.0+cu124 12.4 9.1.0.70
		driver 515.65.01 11070
		gpu 'Tesla T4' 7.5 15360 70 throttle=0x48 power=60000 ;;
	h200)
		base debian 12 2.36
		driver 580.65.06 13000
		gpu 'NVIDIA H200' 9.0 143771 700 mig=0
		python /opt/conda/bin/python3.12 3.12.11
		ln -s python3.12 "$root/opt/conda/bin/python"
		mkdir -p "$root/opt/conda/conda-meta"
		torch /opt/conda/lib/python3.12/site-packages 2.9.0+cu130 13.0 9.13.0.50
		variables=(PATH=/opt/conda/bin:/usr/bin) ;;
	l40s4)
		base ubuntu 22.04 2.35
		driver 550.54.15 12040
		for i in 0 1 2 3; do gpu 'NVIDIA L40S' 8.9 46068 350 mig=- "persistence=$((i % 2))"; done ;;
	nodriver) kaggle_software; variables+=(NVIDIA_VISIBLE_DEVICES=all) ;;
	code18)
		kaggle_software
		driver 535.161.08 12020
		gpu 'Tesla T4' 7.5 15360 70
		put /sys/module/nvidia/version 535.154.05
		echo 'init 18' >>"$script" ;;
	old)
		kaggle_software
		driver 384.183 9000 old
		cp "$BUILD/fake/libcuda.so.1" "$root/usr/lib/x86_64-linux-gnu/"
		variables+=(LS_FAKE_CUDA_CONFIG='cuda=9000 devices=1')
		gpu 'Tesla P100-PCIE-16GB' 6.0 16384 250 ;;
	mig)
		base ubuntu 22.04 2.35
		driver 550.54.15 12040
		gpu 'NVIDIA A100-SXM4-80GB' 8.0 81920 400 mig=1 memory=!4 ;;
	*) echo "machine: no machine $1" >&2; exit 99 ;;
	esac
}

# unprivileged CMD…: root reads what nobody may; without these capabilities it is held to
# the permissions like anyone.
unprivileged() {
	if [ "$(id -u)" = 0 ]; then setpriv --bounding-set=-dac_override,-dac_read_search "$@"; else "$@"; fi
}

# doctor ARGS…: on that machine, with its environment and nothing of ours;
# as=(unprivileged) goes before it.
as=()
# The program's own line depends on how it was built: what it says is the case
# gpu/doctor-says-which's.
doctor() {
	(set -o pipefail; doctor_as_it_is "$@" | sed '/^This program$/{n;s/  */ /g;n;s/ .*/ …/}')
}
doctor_as_it_is() {
	"${as[@]}" env -i PATH=/usr/bin:/bin HOME=/home/user SOURCE_DATE_EPOCH=1757116800 LOCKSTEP_ROOT="$root" LS_FAKE_NVML="$script" \
		${ASAN_OPTIONS:+"ASAN_OPTIONS=$ASAN_OPTIONS"} "${variables[@]}" "$(command -v lockstep)" doctor "$@"
}

# measures GPU FIELD=VALUE…: more fields of a GPU's metrics
# (tests/fake/fake_nvml_meter.c).
measures() {
	local fields
	fields=$(IFS='|'; echo "${*:2}")
	awk -v gpu="$1" -v fields="$fields" '/^gpu/ && n++ == gpu { $0 = "gpu " fields "|" substr($0, 5) } { print }' "$script" >"$script.new"
	mv "$script.new" "$script"
}

# process PID NAME CGROUP [VARIABLE=VALUE…]: a process of that machine.
process() {
	put "/proc/$1/comm" "$2"
	put "/proc/$1/cgroup" "$3"
	[ $# -lt 4 ] || printf '%s\0' "${@:4}" >"$root/proc/$1/environ"
}

# monitor ARGS…: on that machine, at the step of its script that `step` names.
step=0
monitor() {
	env -i PATH=/usr/bin:/bin HOME=/home/user SOURCE_DATE_EPOCH=1757116800 LOCKSTEP_ROOT="$root" LS_FAKE_NVML="$script" \
		LS_FAKE_STEP="$step" ${ASAN_OPTIONS:+"ASAN_OPTIONS=$ASAN_OPTIONS"} "${variables[@]}" "$(command -v lockstep)" monitor "$@"
}
