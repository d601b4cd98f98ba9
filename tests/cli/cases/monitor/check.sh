# One line and a status for health checks: ok, warn, critical and unknown; rules from a
# file and left out; a job that left something; a machine without a GPU.
. "$ROOT/tests/fake/machine.sh"

try() {
	echo "\$ monitor $*"
	monitor "$@" | sed 's/[0-9]* ok, [0-9]* not judged/… ok, … not judged/'
	echo "status ${PIPESTATUS[0]}"
}

well() {
	machine h200
	measures 0 "$@" util=0 used=1 reserved=600 temp=40 margin=40 draw=70000 remap=0,0,0,0 eccc=0 eccu=0 \
		recovery=0 serial=1650421000123 pci=3b
}

well
try check
try check --gpus 1
echo "== two are expected"
try check --gpus 2
echo "== reset needed"
well recovery=1 remap=0,1,1,0
try check
try check --skip recovery-action --skip remap-pending
monitor check --json | python3 -c '
import json, sys
d = json.load(sys.stdin)
assert d["health"] == "critical", d
v = {x["rule"]: x for x in d["verdicts"]}
r = v["recovery-action"]
assert r["health"] == "critical" and r["gpu"] == 0 and "serial 1650421000123" in r["of"], r
assert r["cause"] and r["evidence"] and "reset it" in r["advice"], r
assert v["utilization-low"]["health"] == "not judged" and v["memory-high"]["health"] == "not judged"
assert v["ecc-uncorrected"]["health"] == "ok" and "leftover-memory" not in v
print("JSON is right")'
echo "== off the bus"
well lost=15
put /proc/stat 'cpu  1 0 0 1 0 0 0 0' 'btime 1757116000'
put /dev/kmsg '4,812,5500000,-;NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.'
try check
echo "== the driver hangs"
well
echo 'init hang' >>"$script"
try check --within 0.3
monitor check --within 0.3 --json
monitor probe --within 0.3
echo "status $?"
echo "== an Xid of a program, ten minutes ago and just now"
well
put /proc/stat 'cpu  1 0 0 1 0 0 0 0' 'btime 1757116000'
put /dev/kmsg '4,812,5500000,-;NVRM: Xid (PCI:0000:3b:00): 31, pid=1'
try check
put /dev/kmsg '4,812,795500000,-;NVRM: Xid (PCI:0000:3b:00): 31, pid=1'
try check
echo "== a job left something"
well used=64
try check
try check --epilog
well used=64 proc=99:64
process 99 python3 0::/
try check --epilog
echo "== rules of a file"
well
cat >rules.json <<'JSON'
{"rules": [{"rule": "warm", "signal": "temperature", "warn_above": 35, "cause": "the GPU is warm"},
 {"rule": "gpu-present", "off": true}]}
JSON
try check --rules rules.json
echo '{"rules": [{"rule": "warm", "signal": "temperatur", "warn_above": 35}]}' >wrong.json
try check --rules wrong.json
try check --skip gpu-lots
try check --rules missing.json
echo "== an old driver is not bad"
machine old
try check
echo "== no driver"
machine nodriver
try check
try check --gpus 0
try --epilog
monitor --once --gpus 0
