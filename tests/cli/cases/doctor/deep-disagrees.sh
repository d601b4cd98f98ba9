# A real Python whose torch says another thing than its files: --deep asks it, and the
# difference fails the gate.
# a file changed within a second and not in size would run from its cache
export PYTHONDONTWRITEBYTECODE=1
python3 -m venv --without-pip env || exit
site=$(echo env/lib/python3*/site-packages)
mkdir -p "$site/torch" "$site/nvidia/cudnn/lib" "$site/nvidia_cudnn_cu12-8.9.2.26.dist-info"
printf "__version__ = '2.3.1+cu121'\ncuda: Optional[str] = '12.1'\n" >"$site/torch/version.py"
printf 'Name: nvidia-cudnn-cu12\nVersion: 8.9.2.26\n' >"$site/nvidia_cudnn_cu12-8.9.2.26.dist-info/METADATA"
cat >"$site/torch/__init__.py" <<'PY'
from types import SimpleNamespace as S

print("chatter on stdout {while importing}")
__version__ = "2.3.1+cu121"
version = S(cuda="12.1")
backends = S(cudnn=S(version=lambda: CUDNN))
cuda = S(is_available=lambda: False, get_arch_list=lambda: ["sm_50", "sm_90"])
CUDNN = 8902
PY
echo '{"schema": 1, "name": "pin", "torch": "2.3.1+cu121"}' >pin.json
say() { printf '\n== %s\n' "$1"; }
look() {
	lockstep doctor -v --python env/bin/python3 --deep --spec pin.json --fail-on-mismatch >out
	echo "status $?"
	grep -e '^deep.torch ' -e '^deep.cudnn ' -e '^deep.arch' out | sed 's/  */ /g'
	# the findings of --deep alone: what else this machine lacks is not the matter
	awk '/^(DIFFERS|unknown ) ?(deep|cuda-version|torch-import)/ { on = 1; print; next } !/^ / { on = 0 } on' out | sed 's|python3\.[0-9]*/|python3.N/|'
}
say 'agreement'
look
say 'another cuDNN is loaded'
sed -i 's/8902/8907/' "$site/torch/__init__.py"
look
say 'the import fails for want of a symbol version'
echo 'raise ImportError("/usr/lib/libcublas.so.12: version `CUDA_12.1'"'"' not found (required by libtorch_cuda.so)")' >"$site/torch/__init__.py"
look
say 'the import ends the process'
echo 'import os; os._exit(7)' >"$site/torch/__init__.py"
look
say 'cuDNN is not the one that torch was built for: torch says so, and it is no mere unknown'
cat >"$site/torch/__init__.py" <<'PY'
from types import SimpleNamespace as S


def version():
    raise RuntimeError("cuDNN version incompatibility: PyTorch was compiled against (9, 26, 0) but found (9, 19, 0)")


__version__ = "2.3.1+cu121"
version_ = version
version = S(cuda="12.1")
backends = S(cudnn=S(version=version_))
cuda = S(is_available=lambda: False, get_arch_list=lambda: ["sm_90"])
PY
look
say 'a question that raises for another reason stays open: the gate cannot tell'
sed -i 's/cuDNN version incompatibility/out of order/' "$site/torch/__init__.py"
look
say 'no torch at all is an answer'
rm -r "$site/torch"
echo '{"schema": 1, "name": "pin", "python": ">=3"}' >pin.json
look
