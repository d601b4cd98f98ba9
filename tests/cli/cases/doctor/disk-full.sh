# The report does not fit: 4, the old file stays as it was, no temporary file is left, and
# nothing is printed as if done.
. "$ROOT/tests/fake/machine.sh"
machine kaggle
echo old >r.json
(
	trap '' XFSZ
	ulimit -f 1
	doctor --emit-json r.json
) 2>&1
echo "status $?"
cat r.json
ls -A
