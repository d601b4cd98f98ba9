make() { python3 "$ROOT/tests/tensor/make.py" "$@"; }
make checkpoint a.pt
make checkpoint b.pt weight=0.25 epoch=8
lockstep compare a.pt b.pt --ignore epoch --ignore 'state_dict.*'
cp a.pt same.pt; lockstep compare a.pt same.pt --ignore "*" 2>&1; echo "nothing left: $?"
