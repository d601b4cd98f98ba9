# What is wrong with a spec is said with its place, and the status is 2; a file that
# cannot be read is a 4.
try() {
	lockstep doctor "$@" --fail-on-mismatch --emit-json r.json 2>&1 | sed 's/(shipped:.*/(shipped: …)/'
	echo "status ${PIPESTATUS[0]}"
	[ ! -e r.json ] || echo "a report was written"
}
try --spec no-such-file.json
try --spec kaggle-2025-9
printf '{\n  "schema": 1,\n  "name": "x",\n  "torch": "2.3' >cut.json
try --spec cut.json
printf '{\n  "schema": 1,\n  "name": "x",\n  "torch": 2.3\n}\n' >type.json
try --spec type.json
printf '{\n  "schema": 1,\n  "name": "x",\n  "torhc": "2.3"\n}\n' >key.json
try --spec key.json
head -c 10000000 /dev/zero | tr '\0' '{' >garbage.json
try --spec garbage.json
head -c 10000000 /dev/zero | tr '\0' '\377' >bytes.json
try --spec bytes.json
echo '{"schema": 1, "name": "x"}' >private.json
chmod 0 private.json
(
	. "$ROOT/tests/fake/machine.sh"
	lockstep=$(command -v lockstep)
	lockstep() { unprivileged "$lockstep" "$@"; }
	try --spec private.json
)
try --spec ./
try --spec /proc/self/mem
try --spec
