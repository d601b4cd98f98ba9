# Every layout of a Python installation, and where its torch is found.
. "$ROOT/tests/fake/machine.sh"
show() { doctor -v "$@" | grep -E '^(python|python\.(path|kind|site)|torch|torch_cuda|bundled\.(cudnn|cublas)) ' | sed 's/  */ /g'; }
say() { printf '\n== %s\n' "$1"; }
debian() {
	base debian 12 2.36
	python /usr/bin/python3.11 3.11.2
	ln -s python3.11 "$root/usr/bin/python3"
	mkdir -p "$root/usr/lib/python3/dist-packages"
}

say 'Debian: apt and pip'
debian
torch /usr/lib/python3/dist-packages 1.13.1 None x
show
torch /usr/local/lib/python3.11/dist-packages 2.1.0+cu118 11.8 8.7.0.84
show

say 'user site wins over both'
torch /home/user/.local/lib/python3.11/site-packages 2.2.0+cu121 12.1 8.9.2.26
show
say 'unless it is turned off'
variables=(PYTHONNOUSERSITE=1)
show | grep '^torch '
say 'PYTHONPATH wins over all'
torch /srv/lib 2.3.0+cu121 12.1 8.9.2.26
variables=(PYTHONPATH=/srv/lib)
show | grep '^torch '

say 'venv, on PATH before the system'
debian
torch /usr/lib/python3/dist-packages 1.13.1 None x
mkdir -p "$root/work/env/bin"
ln -s /usr/bin/python3 "$root/work/env/bin/python3"
put /work/env/pyvenv.cfg 'home = /usr/bin' 'include-system-site-packages = false' 'version = 3.11.2'
torch /work/env/lib/python3.11/site-packages 2.4.0+cu121 12.1 9.1.0.70
variables=(PATH=/work/env/bin:/usr/bin)
show
say 'venv without torch, with and without the system'
rm -r "$root/work/env/lib/python3.11/site-packages"/*
show | grep '^torch '
put /work/env/pyvenv.cfg 'home = /usr/bin' 'include-system-site-packages = true' 'version_info = 3.11.2.final.0'
show | grep '^torch '
say 'a venv whose Python was upgraded under it'
put /work/env/pyvenv.cfg 'home = /usr/bin' 'version = 3.10.9'
doctor -v | grep -A1 venv-stale

say 'conda, its own libraries'
base ubuntu 22.04 2.35
python /opt/conda/envs/ml/bin/python3.10 3.10.14
ln -s python3.10 "$root/opt/conda/envs/ml/bin/python"
put /opt/conda/envs/ml/conda-meta/cudnn-8.9.2.26-cuda12_0.json '{}'
put /opt/conda/envs/ml/conda-meta/libcublas-12.1.0.26-0.json '{}'
put /opt/conda/envs/ml/lib/python3.10/site-packages/torch/version.py "__version__ = '2.3.1'" "cuda: Optional[str] = '12.1'"
variables=()
show --python /opt/conda/envs/ml/bin/python

say 'pyenv shim: global, PYENV_VERSION as prefix, system'
debian
for v in 3.11.9 3.11.10 3.12.4; do python /home/user/.pyenv/versions/$v/bin/python${v%.*} $v; ln -s python${v%.*} "$root/home/user/.pyenv/versions/$v/bin/python3"; done
put /home/user/.pyenv/shims/python3 '#!/usr/bin/env bash' 'exec "/home/user/.pyenv/libexec/pyenv" exec "$program" "$@"'
chmod +x "$root/home/user/.pyenv/shims/python3"
put /home/user/.pyenv/version 3.12.4
torch /home/user/.pyenv/versions/3.12.4/lib/python3.12/site-packages 2.9.0+cu130 13.0 9.13.0.50
variables=(PATH=/home/user/.pyenv/shims:/usr/bin)
show
variables+=(PYENV_VERSION=3.11)
show | grep '^python '
variables+=(PYENV_VERSION=system)
show | grep '^python '

say 'torch/lib of older wheels: only a major number in the name'
debian
variables=()
torch /usr/lib/python3/dist-packages 1.13.1+cu117 11.7 8.5.0.96
rm -r "$root/usr/lib/python3/dist-packages"/nvidia*
put /usr/lib/python3/dist-packages/torch/lib/libcudnn.so.8 x
put /usr/lib/python3/dist-packages/torch/lib/libcublas.so.11 x
show

say 'no Python, and a script that is none'
base debian 12 2.36
show
put /usr/bin/python3 '#!/bin/sh' 'exec python3.11 "$@"'
chmod +x "$root/usr/bin/python3"
show
