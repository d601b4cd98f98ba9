# one array in three packings
make() { python3 "$ROOT/tests/tensor/make.py" "$@"; }
make npy a.npy 1 nan -0.0 1e-45
make safetensors b.safetensors 1 nan -0.0 1e-45
lockstep compare a.npy b.safetensors
