# What torch's metadata require of NVIDIA's packages, against what is installed: with one
# of them swapped, doctor says so before anybody imports torch. The lines are those of a
# PyPI torch 2.15 and its cuda-toolkit.
. "$ROOT/tests/fake/machine.sh"
site=/usr/local/lib/python3.11/dist-packages
linux='platform_system == "Linux"'
machine_213() { # a Debian with the torch of CUDA 13.2
	base debian 12 2.36
	variables=()
	python /usr/bin/python3.11 3.11.7
	ln -s python3.11 "$root/usr/bin/python3"
	torch $site 2.15.0+cu132 13.2 9.26.0.51
	rm -r "$root$site"/nvidia_*
	put $site/torch-2.15.0.dist-info/METADATA 'Name: torch' 'Version: 2.15.0' 'Requires-Dist: filelock' \
		"Requires-Dist: cuda-toolkit[cublas,cudart]==13.2.2; $linux" \
		"Requires-Dist: nvidia-cudnn-cu13==9.26.0.51; $linux" \
		"Requires-Dist: triton~=3.9.0; $linux and python_version < \"3.16\"" \
		"Requires-Dist: nvidia-cusparselt-cu13==0.8.1; $linux" \
		'Requires-Dist: nvidia-nowhere==1; platform_system == "Windows"' \
		'Requires-Dist: opt-einsum>=3.3; extra == "opt-einsum"' '' 'Requires-Dist: of-the-text==1'
	put $site/cuda_toolkit-13.2.2.dist-info/METADATA 'Name: cuda-toolkit' 'Version: 13.2.2' \
		"Requires-Dist: nvidia-cublas==13.4.1.3.*; (sys_platform == 'linux' and platform_machine == 'x86_64' or sys_platform == 'win32') and extra == 'cublas'" \
		"Requires-Dist: nvidia-cuda-runtime==13.2.86.*; sys_platform == 'linux' and extra == 'cudart'" \
		"Requires-Dist: nvidia-cufft==12.2.0.57.*; sys_platform == 'linux' and extra == 'cufft'"
	dist $site nvidia_cublas 13.4.1.3
	dist $site nvidia_cuda_runtime 13.2.86
	dist $site nvidia_cudnn_cu13 9.26.0.51
	dist $site nvidia_cusparselt_cu13 0.8.1
	dist $site nvidia_cufft 11.0.0.1
	dist $site filelock 3.16.1
	dist $site triton 3.9.4
}
echo '{"schema": 1, "name": "pin", "torch": "2.15.0+cu132"}' >pin.json
say() { printf '\n== %s\n' "$1"; }
look() {
	doctor --spec pin.json --fail-on-mismatch >out
	echo "status $?"
	grep -e '^DIFFERS' -e '^differs' -e '^unknown ' -e '^ *->' out
}
swap() { rm -r "$root$site/$1"-*.dist-info; dist $site "$1" "$2"; }

say 'as the wheels were made: what another extra would ask for does not count'
machine_213
doctor --json >r.json
python3 - <<'PY'
import json
for f in json.load(open("r.json"))["facts"]:
    if f["key"].startswith("requires."):
        print(f["key"], f["value"])
PY
look
say 'an older cuDNN'
swap nvidia_cudnn_cu13 9.19.0.56
look
say 'a cuBLAS that the toolkit package pins otherwise'
machine_213
swap nvidia_cublas 13.5.0.1
look
say 'a package without libraries is only recommended'
machine_213
swap triton 3.10.0
look
say 'one that is gone'
machine_213
rm -r "$root$site"/nvidia_cusparselt*
look
say 'two of them in one folder, whichever sorts first: nobody can tell which one counts'
for other in 9.19.0.56 9.30.0.1; do
	machine_213
	dist $site nvidia_cudnn_cu13 $other
	look
done
say 'two torches, whichever sorts first'
for other in 2.14.0 2.16.0; do
	machine_213
	dist $site torch $other
	doctor -v | grep -A1 '^differs installed-twice' | sed 's/ \[.*//'
done
say 'without metadata the table of wheels knows the cuDNN'
machine kaggle
rm -r "$root"/usr/local/lib/python3.10/dist-packages/nvidia_cudnn*
dist /usr/local/lib/python3.10/dist-packages nvidia_cudnn_cu12 8.7.0.84
doctor --cuda --spec kaggle-2025-09 --fail-on-mismatch >out
echo "status $?"
grep -A1 cudnn-refused out
