# One look: a GPU at work with its processes, one of which nothing is known, an old driver
# whose metrics are absent and not 0, no driver, and wrong options.
. "$ROOT/tests/fake/machine.sh"

machine h200
measures 0 util=93 used=71000 reserved=600 temp=61 slowdown=92 margin=31 draw=512500 sm=1980 smmax=1980 throttle=0x4 \
	nvlinks=18 nvlinkerr=0 recovery=0 serial=1650421000123 pci=0 'proc=4711:65536,99'
put /etc/passwd 'root:x:0:0::/root:/bin/sh' 'anna:x:1000:100::/home/anna:/bin/sh'
put /proc/4711/status 'Name: python' $'Uid:\t1000\t1000' 'VmRSS: 2048 kB'
put /proc/4711/stat '4711 (python) S 1 1 1 0 -1 4194560 1 0 0 0 1 1 0 0 20 0 1 0 12300 1 1'
process 4711 $'py\033[31mthon' '0::/system.slice/slurmstepd.scope/job_12/step_0/user/task_0'
put /proc/stat 'cpu  1 0 0 1 0 0 0 0' 'cpu0 1 0 0 1 0 0 0 0' 'btime 1757000000'
put /proc/loadavg '1.5 1 1 2/300 4711'
put /proc/meminfo 'MemTotal: 32880404 kB' 'MemAvailable: 16440202 kB'
put /dev/kmsg '4,812,5500000,-;NVRM: Xid (PCI:0000:00:00): 79, GPU has fallen off the bus.' '6,1,2,-;usb'
monitor --once
monitor --json | python3 -c '
import json, sys
d = json.load(sys.stdin)
g = d["gpus"][0]
assert d["driver"] == "580.65.06" and d["no_gpu_because"] is None, d
assert g["serial"] == "1650421000123" and g["lost"] is None
m = g["metrics"]
assert m["power"] == 512.5 and m["memory_used"] == 71000 << 20 and m["nvlinks"] == 18, m
assert "fan" not in m and g["absent"]["fan"] == "not supported by this GPU"
assert g["throttle_reasons"] == ["sw-power-cap"]
assert not set(m) & set(g["absent"])
p, q = d["processes"]
assert p["user"] == "anna" and p["started"] == 1757000123 and p["host_memory"] == 2 << 20 and q["user"] is None, p
assert p["job"] == "12" and p["memory"] == 65536 << 20 and p["program"] == "py\\x1b[31mthon", p
assert "memory" not in q and q["program"] is None, q
assert d["host"]["load"] == 1.5 and "disk_total" not in d["host"]
assert d["xids"] == [{"xid": 79, "gpu": 0, "pci": "0000:00:00", "time": 1757000005.5}], d["xids"]
print("JSON is right")'

measures 0 pciesent=1500 pciereceived=9000
for with in "" --pcie; do
	# shellcheck disable=SC2086
	monitor --json $with | python3 -c '
import json, sys
g = json.load(sys.stdin)["gpus"][0]
print(g["metrics"].get("pcie_sent"), g["metrics"].get("pcie_received"), g["absent"].get("pcie_sent"))'
done

echo "== a GPU in instances (MIG): its parts, whose program is where, which is full"
machine mig
measures 0 used=30000 reserved=600 serial=7 pci=0 migs=1:3g.40gb:40320:38000,5:1g.10gb:9728:12 'proc=4711:37000@1'
process 4711 python3 0::/
monitor --once | sed -n '/^GPU  INSTANCE/,/^Health/p' | sed 's/[0-9]* ok.*/…/'
monitor --json | python3 -c '
import json, sys
d = json.load(sys.stdin)
a, b = d["gpus"][0]["instances"]
assert a == {"gpu_instance": 1, "compute_instance": 0, "uuid": "MIG-1", "profile": "3g.40gb",
             "memory_total": 40320 << 20, "memory_used": 38000 << 20}, a
assert b["gpu_instance"] == 5 and d["processes"][0]["gpu_instance"] == 1, d
v = {x["rule"]: x for x in d["verdicts"]}
print(v["mig-memory-high"]["health"])'
echo '{"rules": [{"rule": "mig-memory-high", "for_s": 0}]}' >now.json
monitor check --rules now.json --skip utilization-low | sed 's/[0-9]* ok.*/…/'

echo "== an old driver"
machine old
monitor --once
monitor --json | python3 -c '
import json, sys
g = json.load(sys.stdin)["gpus"][0]
assert "recovery_action" in g["absent"] and "utilization" in g["absent"], g
assert set(g["metrics"]) == {"memory_total", "memory_used", "power_limit", "throttle", "ecc"}, g["metrics"]'

echo "== no driver"
machine nodriver
monitor --once
echo "== a driver that does not start"
machine code18
monitor --once 2>&1 | sed 's|/.*/||'
echo "== wrong"
monitor --onze
echo $?
monitor what
echo $?
