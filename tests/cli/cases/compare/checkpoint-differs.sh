make() { python3 "$ROOT/tests/tensor/make.py" "$@"; }
make checkpoint a.pt
make checkpoint b.pt weight=0.50000006 epoch=8 lr=0.2
lockstep compare a.pt b.pt
