# other strides, compression and zip layout: the same values
make() { python3 "$ROOT/tests/tensor/make.py" "$@"; }
make checkpoint a.pt
make checkpoint b.ckpt strided=True compress=8
lockstep compare a.pt b.ckpt
