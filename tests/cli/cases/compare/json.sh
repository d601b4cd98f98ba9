make() { python3 "$ROOT/tests/tensor/make.py" "$@"; }
make safetensors a.safetensors 1 2 3
make safetensors b.safetensors 1 2 -0.0
make safetensors c.safetensors 1 2 0.0
lockstep compare --json b.safetensors c.safetensors && exit 9
lockstep compare --json a.safetensors a.safetensors
