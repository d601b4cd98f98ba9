# The result for a pull request: the verdict, the control, the environment in brief, what
# differs
cp "$ROOT/tests/tensor/make.py" .
verify() {
	lockstep verify --markdown out.md "$@" >/dev/null 2>notes
	echo "status $?"
	sed -E 's/^(\| environment \|).*Python [0-9.]+.*/\1 … Python …/; s/commit [0-9a-f]{40}/commit …/' out.md
}
verify --control seed -- sh -c 'python3 make.py checkpoint {out}/a.pt weight=0.$LOCKSTEP_SEED'
# what a file or a program chose becomes no markup
verify --vary W=0.25,0.5 -- sh -c 'python3 make.py checkpoint {out}/a.pt weight=$W; echo 1 >"{out}/<b>|@$W"'
verify -- sh -c 'echo "<b>oh</b> {out}"; exit 3'
# the commit, and changes to it
git init -q . && git add make.py && git -c user.name=a -c user.email=a@b commit -qm c && echo >>make.py
verify -- sh -c 'echo 1 >{out}/x' | grep commit
# a page that cannot be written costs the status, not the verdict
lockstep verify --markdown no/such/out.md -- sh -c 'echo 1 >{out}/x' 2>notes
echo "status $?"
tail -n 1 notes
lockstep verify --seeds 2 --metric x --markdown out.md -- touch started 2>&1
echo "status $?"
