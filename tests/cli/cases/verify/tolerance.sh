# --tolerance is a second verdict beside the exact one, which alone decides the exit status
cp "$ROOT/tests/tensor/make.py" .
echo 'python3 make.py checkpoint $LOCKSTEP_OUT/a.pt weight=$W' >job.sh
verify() {
	lockstep verify "$@" -- sh job.sh 2>/dev/null | grep -E '^(differs|identical|run1|within|beyond|nothing)'
	echo "status ${PIPESTATUS[0]}"
}
verify --tolerance abs=1e-6 --vary W=0.25,0.2500001
verify --tolerance ulp=1 --vary W=0.25,0.2500001
verify --tolerance abs=1 --vary W=0.25,0.25
# the pair that is furthest apart; the last rule that a name matches
verify --runs 3 --tolerance abs=1 --tolerance '*.weight:abs=1e-6' --vary W=0.25,0.2500001,0.5
# what cannot be measured is beyond every tolerance
echo 'echo $W >$LOCKSTEP_OUT/x' >job.sh
verify --tolerance abs=9e99 --vary W=a,b
# a tolerance that another seed is within shows nothing, and the control says so
echo 'python3 make.py checkpoint $LOCKSTEP_OUT/a.pt weight=0.$LOCKSTEP_SEED' >job.sh
verify --control seed --tolerance abs=1e-5
verify --control seed --tolerance abs=1
# the pages and the JSON have both
echo 'echo "{\"loss\": $W}" >$LOCKSTEP_OUT/x.json' >job.sh
lockstep verify --json --tolerance rel=1e-3 --vary W=1,1.0001 --html out.html --markdown out.md -- sh job.sh 2>/dev/null >v.json
echo "status $?"
python3 -c 'import json; v = json.load(open("v.json")); print(v["verdict"], v["sentence"], v["tolerance"], v["comparisons"][0]["tolerance"]["within"], sep="\n")'
grep -e '| tolerance |' -e '^\*\*' out.md
grep -o '<p class=[^/]*' out.html
# bad rules are refused before anything runs
lockstep verify --tolerance near -- touch started 2>&1
lockstep verify --seeds 2 --metric x --tolerance abs=1 -- touch started 2>&1
[ ! -e started ] && echo "nothing was started"
