# Four real kinds of machine, as they should be and then wrong: verdict, exit status and
# what to do, on one screen of 24 lines.
. "$ROOT/tests/fake/machine.sh"
judge() { # TITLE OPTION…
	printf '\n== %s: ' "$1"
	doctor "${@:2}" --fail-on-mismatch >out
	echo "status $?, $([ "$(wc -l <out)" -lt 24 ] && echo one screen || echo too long)"
	head -n 1 out
	awk '/^(DIFFERS|unknown) / { on = 1 } /^(differs|[0-9]+ (more|notes?)|$)/ { on = 0 } on' out
}

# a PyPI torch 2.15 in a venv: a stack of NVIDIA wheels under one requirement
site=/srv/env/lib/python3.12/site-packages
pypi() {
	base debian 12 2.36
	driver 580.65.06 13020
	gpu 'NVIDIA L4' 8.9 23034 72
	python /usr/bin/python3.12 3.12.7
	mkdir -p "$root/srv/env/bin"
	ln -s /usr/bin/python3.12 "$root/srv/env/bin/python3"
	put /srv/env/pyvenv.cfg 'home = /usr/bin' 'version = 3.12.7'
	torch $site 2.15.0+cu132 13.2 9.26.0.51
	put $site/torch-2.15.0.dist-info/METADATA 'Name: torch' 'Version: 2.15.0' 'Requires-Dist: nvidia-cudnn-cu13==9.26.0.51'
	variables=(PATH=/srv/env/bin:/usr/bin COLUMNS=80)
}
echo '{"schema": 1, "name": "pypi", "torch": "2.15.0+cu132", "cudnn": "9.x", "driver": ">=580"}' >pypi.json
pypi
judge 'PyPI torch' --cuda --spec pypi.json
rm -r "$root$site"/nvidia_cudnn*
dist $site nvidia_cudnn_cu13 9.19.0.56
judge 'PyPI torch over an older cuDNN that the spec takes' --cuda --spec pypi.json
pypi
echo 'init 9' >>"$script"
rm -r "$root/sys/module/nvidia" "$root/proc/driver/nvidia"
judge 'PyPI torch, the module is not loaded' --cuda --spec pypi.json

machine kaggle
variables+=(COLUMNS=80)
judge 'notebook' --cuda --spec kaggle-2025-09
dist /usr/local/lib/python3.10/dist-packages numpy 2.0.2
rm -r "$root"/usr/local/lib/python3.10/dist-packages/numpy-1*
judge 'notebook whose image moved on' --cuda --spec kaggle-2025-09
machine nodriver
variables+=(COLUMNS=80)
judge 'notebook without an accelerator' --cuda --spec kaggle-2025-09

service() {
	base debian 12 2.36
	python "/usr/local/bin/python${1%.*}" "$1"
	ln -s "python${1%.*}" "$root/usr/local/bin/python3"
	variables=(PATH=/usr/local/bin:/usr/bin COLUMNS=80)
}
service 3.11.9
judge 'CPU service' --spec gpu-inference-2024-11
service 3.12.4
judge 'CPU service on another Python' --spec gpu-inference-2024-11
judge 'CPU service asked for CUDA' --cuda --spec gpu-inference-2024-11

machine t4
variables+=(COLUMNS=80)
judge 'drifted GPU machine' --cuda --spec kaggle-2025-09
machine code18
variables+=(COLUMNS=80)
judge 'GPU machine upgraded without a reboot' --cuda --spec kaggle-2025-09
