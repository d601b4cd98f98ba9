# Files for a fleet: promtool, systemd and a YAML reader accept them; the alerts fire when they
# should; every series that alerts and dashboard name exists; a real Prometheus scrapes a monitor
# and fires.
# labels: once
. "$ROOT/tests/fake/machine.sh"
. "$ROOT/tests/watch/serve.sh"

mkdir fleet
for pair in prometheus:prometheus.yml alerts:alerts.yml grafana:grafana.json compose:compose.yml \
	systemd:lockstep-monitor.service daemonset:daemonset.yml dockerfile:Dockerfile; do
	lockstep monitor --print-config "${pair%%:*}" >"fleet/${pair#*:}" || echo "no $pair"
	cmp "fleet/${pair#*:}" "$ROOT/share/monitor/${pair#*:}"
done
lockstep monitor --print-config nagios
echo $?
cd fleet || exit 99
promtool check config prometheus.yml | grep SUCCESS
cp "$ROOT/tests/watch/alerts-test.yml" .
promtool test rules alerts-test.yml | grep -v '^$'
sed -i "s|/usr/local/bin/lockstep|$(command -v lockstep)|" lockstep-monitor.service
systemd-analyze verify --man=no "$PWD/lockstep-monitor.service" >analyzed 2>&1
echo "systemd-analyze $?"
grep lockstep-monitor analyzed
machine h200
measures 0 lost=15
put /dev/kmsg '4,812,5500000,-;NVRM: Xid (PCI:0000:00:00): 31, pid=1'
put /proc/stat 'cpu  1 0 0 1 0 0 0 0' 'cpu0 1 0 0 1 0 0 0 0' 'btime 1757000000'
gpu 'NVIDIA H200' 9.0 143771 700 mig=0
measures 1 util=93 used=71000 reserved=600 temp=61 draw=512500 sm=1980 eccu=0 pci=0 proc=4711:65536
process 4711 python3 '0::/system.slice/slurmstepd.scope/job_12/step_0/user/task_0'
serve --interval 0.1 --history none || exit 99
python3 "$ROOT/tests/watch/fleet.py" "$address"
stop_server
