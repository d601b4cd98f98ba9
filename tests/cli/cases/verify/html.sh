# The page has the verdict and what differs on top, with histograms; nothing of it runs or
# is loaded
cp "$ROOT/tests/tensor/make.py" .
set -o pipefail
page() {
	lockstep verify --html page.html "$@" >/dev/null 2>&1
	echo "status $?"
	python3 "$ROOT/tests/tensor/check_html.py" page.html | sed -E 's/(environment \|).*Python [0-9.]+[^|]*/\1 … Python … /; s/[0-9.]+ s \| [0-9]+ MiB/… s | … MiB/g' || echo "the page is bad"
}
page --vary W=0.25,0.25000003 -- sh -c 'python3 make.py checkpoint {out}/a.pt weight=$W; echo 1 >"{out}/<b>$W"; echo 2 >{out}/same'
# the control's differences are folded away behind the verdict
page --control seed -- sh -c 'python3 make.py checkpoint {out}/a.pt weight=0.$LOCKSTEP_SEED'
# what the run says about itself is told, and is not among the differences
page --vary W=1,2 -- sh -c 'date +%s.%N >{out}/when; echo $W >{out}/what'
page -- sh -c 'echo "<b>oh</b> {out}"; exit 3'
# the page beside the runs links to their manifests
grep -o 'href="[^"]*"' artifacts/verify/002/verify.html
