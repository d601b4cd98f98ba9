make() { python3 "$ROOT/tests/tensor/make.py" "$@"; }
make checkpoint a.pt
make checkpoint b.pt weight=0.50000006 epoch=8
lockstep compare a.pt b.pt --html report.html >/dev/null; echo "exit $?"
python3 "$ROOT/tests/tensor/check_html.py" report.html
lockstep compare a.pt b.pt --html /no/such/folder/r.html >/dev/null 2>&1; echo "exit $?"
