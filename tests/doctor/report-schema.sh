# The reports of every scripted machine, with and without a spec, agree with the
# documented schema; a damaged one does not.
py=$("$ROOT/tools/venv") || { echo "no check-jsonschema: tools/venv failed" >&2; exit 77; }
. "$ROOT/tests/fake/machine.sh"
check() { "$(dirname "$py")/check-jsonschema" --schemafile "$ROOT/docs/schema/doctor.schema.json" "$@"; }
for m in kaggle h200 t4 p100 l40s4 nodriver code18 old mig; do
	machine $m
	doctor --json >$m.json
	doctor --cuda --spec kaggle-2025-09 --emit-json $m-spec.json >/dev/null
done
lockstep doctor --json >here.json
check ./*.json >out 2>&1 && echo "all of $(ls ./*.json | wc -l) agree" || cat out
sed 's/"known"/"sure"/' kaggle.json >state.json
sed 's/"verdict"/"opinion"/' kaggle.json >key.json
for f in state key; do check $f.json >out 2>&1; echo "$f: $?"; done
