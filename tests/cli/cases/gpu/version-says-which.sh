# the build's own architecture and compiler, and nothing looked for on the machine
command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ] || { echo "no nvcc here" >&2; exit 77; }
lockstep --version | grep -E '^GPU kernels: embedded PTX for compute_[0-9]+ \(made by (nvcc [0-9.]+|NVRTC)\)$' | sed 's/compute_.*/compute_NN (made by …)/'
