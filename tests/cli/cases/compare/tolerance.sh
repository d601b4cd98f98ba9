# --tolerance is a second verdict; the exit status stays the exact one
make() { python3 "$ROOT/tests/tensor/make.py" "$@"; }
make checkpoint a.pt
make checkpoint b.pt weight=0.2500001
show() {
	echo "--- $*"
	lockstep compare "$@" 2>&1
	echo "exit $?"
}
show a.pt a.pt --tolerance abs=1
show a.pt b.pt --tolerance abs=0.5
show a.pt b.pt --tolerance ulp=1
show a.pt b.pt --tolerance 'optimizer*:abs=9'
show a.pt b.pt --tolerance abs=9 --tolerance 'state_dict.*:rel=1e-9' --markdown out.md --html out.html
cat out.md
grep -c 'beyond the tolerance: 1/' out.html
printf '{"loss": 0.5, "n": 3, "s": "x"}' >a.json
printf '{"loss": 0.50001, "n": 3, "s": "x"}' >b.json
show a.json b.json --tolerance rel=1e-4
show a.json b.json --tolerance 'n*:rel=1e-4'
printf '{"loss": 0.5, "n": 3, "s": "y"}' >b.json
show a.json b.json --tolerance abs=1e9
printf 'x,y\n1,2\n3,1e400\n' >a.csv
printf 'x,y\n1.125,2\n3,2e400\n' >b.csv
show a.csv b.csv --tolerance abs=0.125
lockstep compare --json a.csv b.csv --tolerance 'x:abs=0.125' |
	python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["tolerance"]); print([(i["name"], i["within_tolerance"], i["beyond"]) for i in d["results"][0]["differences"]])'
show a.csv b.csv --tolerance near
show a.csv b.csv --tolerance abs=inf
show a.csv b.csv --tolerance ':ulp=4'
show a.csv b.csv --tolerance 'ulp=18446744073709551616'
