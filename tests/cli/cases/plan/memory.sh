# What fits, by measurement, by estimate and by the table; the best way follows.
set -e
. "$ROOT/tests/docs/setup-guide-switching-gpus.sh" 2>/dev/null
plan() { lockstep plan --from L40S:4 --batch 48 "$@" | sed -n '/BATCH/,/^$/p'; }
plan --to "RTX 4090:1" --manifest runs/baseline
plan --to "RTX 4090:1" --manifest runs/baseline/run_manifest.json --params 300M --optimizer adamw
plan --to "RTX 4090:1" --params 300M --optimizer adamw --activations 180M
plan --to T4:4
plan --to T4:2 --params 1.3B --optimizer adam
lockstep plan --from L40S:4 --to T4:2 --batch 48 --params 1.3B --optimizer adam --json | python3 -c '
import json, sys
print(json.load(sys.stdin)["options"][0]["memory"])'
