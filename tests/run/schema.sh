# manifests of every sort agree with the documented schema; one that is damaged does not
py=$("$ROOT/tools/venv") || exit 77
check() { "$(dirname "$py")/check-jsonschema" --schemafile "$ROOT/docs/schema/manifest.schema.json" "$@" >out 2>&1; echo "$1: $?"; }
export LOCKSTEP_CUPTI=$BUILD/fake/libfake_cupti.so
echo data >in
lockstep run -o finished --input in -- sh -c 'echo 1 >{out}/x; ln -s x {out}/l'
lockstep run -o traced --trace kernels -- "$BUILD/fake/fake_launches" 10 exit
lockstep run -o killed -- sh -c 'cp {out}/run_manifest.json running.json; kill -9 $$'
lockstep run -o torch --trace ops --warn-only -- "$py" "$ROOT/tests/run/progs/undo.py" put benchmark >/dev/null 2>&1
for m in finished traced killed torch; do check $m/run_manifest.json; done
check running.json
sed 's/"finished"/"done"/' finished/run_manifest.json >bad.json
check bad.json
python3 -c 'import json; m = json.load(open("torch/run_manifest.json")); print(m["determinism"]); print([(t["ops"] > 0, t["complete"]) for t in m["trace"]["ops"]])'
