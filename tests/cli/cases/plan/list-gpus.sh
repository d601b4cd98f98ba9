# Every GPU of the catalogue, in text and in JSON.
set -e
lockstep plan --list-gpus
lockstep plan --list-gpus --json | python3 -c '
import json, sys
g = {x["gpu"]: x for x in json.load(sys.stdin)["gpus"]}
print(g["L40S"], g["T4"]["precisions"])'
