# A container that was given "compute" and not "utility": no NVML, and libcuda lists the
# GPUs.
. "$ROOT/tests/fake/machine.sh"
machine kaggle
rm "$root/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1"
cp "$BUILD/fake/libcuda.so.1" "$root/usr/lib/x86_64-linux-gnu/"
variables+=(LS_FAKE_CUDA_CONFIG='cuda=12020 devices=2 cc=75' NVIDIA_DRIVER_CAPABILITIES=compute)
doctor --cuda -v | sed -n '/^Driver/,/^CUDA/p; /^What to look at/,$p'
