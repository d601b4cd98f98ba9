# The same tensors have one digest, whatever file they are in.
make() { python3 "$ROOT/tests/tensor/make.py" "$@"; }
make checkpoint a.pt
make checkpoint b.pt epoch=8
make checkpoint c.pt weight=0.50000006
one=$(lockstep compare a.pt b.pt --digest | grep -c "^digest [ab]  [0-9a-f]\{64\}$")
echo "$one lines"
lockstep compare a.pt b.pt --digest --json | python3 -c 'import json, sys; d = json.load(sys.stdin)["digests"]; print(d[0] == d[1])'
lockstep compare a.pt c.pt --digest --json | python3 -c 'import json, sys; d = json.load(sys.stdin)["digests"]; print(d[0] == d[1])'
echo x > text.txt
lockstep compare text.txt text.txt --digest
echo "status $?"
