# a machine that does not agree with the spec starts nothing: 1; one that cannot be
# judged: 3; agreement is recorded
lockstep run --spec nowhere.json -- touch started
echo "status $?"
spec() { printf '{"schema": 1, "name": "mine", "python": "%s"}' "$1"; }
spec '>=3.0' >ok.json
spec '>=99.0' >no.json
lockstep run --spec ok.json -- python3 -c pass
echo "status $?"
lockstep manifest show artifacts --json | python3 -c 'import json, sys
s = json.load(sys.stdin)["spec"]; print(s["name"], [(f["id"], f["outcome"]) for f in s["findings"]])'
lockstep run --spec no.json -- touch started 2>notes
echo "status $?"
sed 's/found .*/found …/' notes
ls
