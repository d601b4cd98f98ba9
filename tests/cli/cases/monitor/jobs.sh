# Rules about jobs: how many attempts of a project succeed, how quick a training is,
# whether the driver is the run's and whether GPUs and driver are the spec's.
. "$ROOT/tests/fake/machine.sh"

try() {
	echo "\$ monitor $*"
	monitor "$@" | sed 's/[0-9]* ok, [0-9]* not judged/… ok, … not judged/'
	echo "status ${PIPESTATUS[0]}"
}
quiet() { "$@" >/dev/null 2>&1; }

machine h200
measures 0 util=0 used=1 reserved=600 temp=40 margin=40 draw=70000 remap=0,0,0,0 eccc=0 eccu=0 recovery=0 \
	serial=1650421000123 pci=3b
echo "== attempts: too few, one of six failed"
mkdir project
(cd project && quiet lockstep exp init && for i in 1 2 3 4; do quiet lockstep exp new "ok$i" -- true; done &&
	quiet lockstep exp submit ok1 ok2 ok3 ok4 && quiet lockstep worker --once --gpus none)
try check --project project
(cd project && quiet lockstep exp new ok5 -- true && quiet lockstep exp new bad -- false &&
	quiet lockstep exp submit ok5 bad; quiet lockstep worker --once --gpus none)
try check --project project
try check --project "$SCRATCH"
echo "== an experiment that runs: its speed without --log, and whose a program is"
(
	cd project || exit 99
	quiet lockstep exp new live -- sh -c 'for v in 100 50; do for i in $(seq 20); do echo "{\"rows/s\": $v}"; done; done >"$1/metrics.jsonl"
		until [ -e "$2/go" ]; do sleep 0.05; done' sh '{out}' "$PWD"
	quiet lockstep exp submit live && quiet exec lockstep worker --once --gpus none
) &
worker=$!
until [ "$(wc -l <project/runs/live/attempt-1/out/metrics.jsonl)" = 40 ] 2>/dev/null; do sleep 0.05; done
echo '{"rules": [{"rule": "throughput-down", "for_s": 0}, {"rule": "success-rate", "off": true}]}' >now.json
try check --project project --rules now.json
measures 0 proc=4711:2048
process 4711 python3 0::/ HOME=/ LOCKSTEP_EXPERIMENT=live
monitor --once --project project | sed -n '/^PID/,/^Health/p' | sed 's/[0-9]* ok.*/…/'
monitor --json --project project | python3 -c '
import json, sys
d = json.load(sys.stdin)
print(d["jobs"]["running"], d["jobs"]["trainings"], d["processes"][0]["experiment"])'
touch project/go
wait "$worker"
measures 0 proc=-
echo "== speed: as ever, then by half"
for i in $(seq 30); do echo "{\"step\": $i, \"samples_per_second\": 500}"; done >log.jsonl
for i in $(seq 30); do echo "{\"step\": $i, \"samples_per_second\": 1000}"; done >steady.jsonl
cat steady.jsonl log.jsonl >slow.jsonl
echo '{"rules": [{"rule": "throughput-down", "for_s": 0}]}' >now.json
try check --log steady.jsonl --rules now.json
try check --log slow.jsonl --log steady.jsonl --rules now.json
try check --log model.pt
try check --log not-there-yet.jsonl
echo "== exports"
echo "{\"time\": 1757116700, \"format\": \"onnx\", \"file\": \"/runs/a.onnx\", \"success\": false, \"error\": \"opset 7 has no Gather\"}" >exports.jsonl
try check --exports exports.jsonl
try check --exports not-there-yet.jsonl
try check --exports .
echo "== the driver of a run"
quiet lockstep run --out run -- true
python3 - <<'PY'
import json
m = json.load(open("run/run_manifest.json"))
facts = [f for f in m["environment"] if f["key"] != "driver"]
m["environment"] = facts + [{"key": "driver", "state": "known", "value": "575.57.08", "source": "NVML"}]
json.dump(m, open("run/run_manifest.json", "w"))
PY
try check --manifest run/run_manifest.json
try check --manifest now.json
echo "== the spec: one GPU, then two"
echo '{"schema": 1, "name": "two", "driver": ">=580.65", "gpus": {"one_of": ["NVIDIA H200"], "count": 2}}' >spec.json
try check --spec spec.json
gpu 'NVIDIA H200' 9.0 143771 700 mig=0
measures 1 util=0 used=1 reserved=600 temp=40 margin=40 draw=70000 remap=0,0,0,0 eccc=0 eccu=0 recovery=0 serial=2 pci=4b
try check --spec spec.json
sed -i 's/>=580.65/>=590/' spec.json
try check --spec spec.json
echo '{"schema": 1, "name": "modes", "gpus": {"ecc": "off", "mig": "off"}}' >spec.json
try check --spec spec.json
try check --spec no-such-spec
