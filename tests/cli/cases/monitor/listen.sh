# Pages over HTTP: health with its status, metrics that promtool accepts, a sample as
# JSON; a token where other machines could ask; sampling that goes on while clients hang;
# a stop by signal.
. "$ROOT/tests/fake/machine.sh"
. "$ROOT/tests/watch/serve.sh"

machine h200
measures 0 util=93 used=71000 reserved=600 temp=61 slowdown=92 margin=31 draw=512500 sm=1980 smmax=1980 throttle=0x4 \
	remap=0,0,0,0 eccc=5 eccu=0 recovery=0 serial=1650421000123 pci=0 'proc=4711:65536,99' xid=31
process 4711 'py"th\on' '0::/system.slice/slurmstepd.scope/job_12/step_0/user/task_0'
put /proc/stat 'cpu  1 0 0 1 0 0 0 0' 'cpu0 1 0 0 1 0 0 0 0' 'btime 1757000000'
put /dev/kmsg '4,812,5500000,-;NVRM: Xid (PCI:0000:00:00): 31, pid=1'
serve --interval 0.1 || exit 99
python3 - "$address" <<'EOF'
import json, socket, subprocess, sys, time, urllib.error, urllib.request
base = "http://" + sys.argv[1]
def get(path):
    try:
        with urllib.request.urlopen(base + path) as r:
            return r.status, r.headers, r.read().decode()
    except urllib.error.HTTPError as e:
        return e.code, e.headers, e.read().decode()
while get("/health")[0] == 503 and '"reasons":[]' in get("/health")[2]:
    time.sleep(0.02)
status, headers, text = get("/health")
assert status == 200 and json.loads(text)["health"] in ("ok", "warn"), (status, text)
assert "default-src 'none'" in headers["Content-Security-Policy"]
status, headers, text = get("/metrics")
check = subprocess.run(["promtool", "check", "metrics"], input=text, text=True, capture_output=True)
assert check.returncode == 0 and not check.stdout + check.stderr, check
u = 'gpu="0",uuid="GPU-00000000-aaaa-bbbb-cccc-000000000000"'
for line in ('lockstep_gpu_utilization_ratio{%s} 0.93' % u, 'lockstep_gpu_power_watts{%s} 512.5' % u,
             'lockstep_gpu_memory_used_bytes{%s} 74448896000' % u, 'lockstep_gpu_up{%s} 1' % u,
             'lockstep_gpu_sm_clock_hertz{%s} 1980000000' % u,
             'lockstep_gpu_xid_errors_total{%s,xid="31"} 1' % u,
             r'lockstep_job_info{%s,pid="4711",program="py\"th\\on",job="12",container="",experiment="",user=""} 1' % u,
             'lockstep_health_verdict{gpu="0",rule="gpu-lost"} 0'):
    assert line + "\n" in text, line + "\nis not in\n" + text
assert "fan_speed" not in text and 'pid="99",program' in text
now = json.loads(get("/api/v1/now")[2])
assert now["gpus"][0]["metrics"]["power"] == 512.5 and now["verdicts"], now
# half a request from many does not stop the samples
hang = [socket.create_connection(sys.argv[1].split(":")) for _ in range(200)]
for s in hang:
    s.send(b"GET /metrics HTTP/1.1\r\nX: ")
before = now["time"]
while json.loads(get("/api/v1/now")[2])["time"] == before:
    time.sleep(0.02)
print("pages are right")
EOF
echo "== the GPU is lost"
stop_server
measures 0 lost=15
serve --interval 0.1 || exit 99
python3 - "$address" <<'EOF'
import json, sys, time, urllib.error, urllib.request
while True:
    try:
        urllib.request.urlopen("http://" + sys.argv[1] + "/health")
        raise SystemExit("a lost GPU is well")
    except urllib.error.HTTPError as e:
        d = json.loads(e.read())
        if e.code == 503 and d["reasons"]:
            break
        time.sleep(0.02)
assert d["health"] == "critical", d
assert any(r["rule"] == "gpu-lost" and "1650421000123" not in r["evidence"] for r in d["reasons"]), d
print("health is right")
EOF
stop_server
echo "== killed in the middle: history and events are there again"
rm -rf history
measures 0 lost=0 util=77
put /proc/stat 'cpu  1 0 0 1 0 0 0 0' 'cpu0 1 0 0 1 0 0 0 0' "btime $(($(date +%s) - 60))"
serve --interval 0.1 --history history || exit 99
ask() { # ask PATH: the document once `until` of it is true
	python3 - "$address" "$1" "$2" <<'EOF'
import json, sys, time, urllib.request
for tries in range(200):
    with urllib.request.urlopen("http://" + sys.argv[1] + sys.argv[2]) as r:
        d = json.load(r)
    if eval(sys.argv[3]):
        break
    time.sleep(0.05)
else:
    print("never so:", sys.argv[3], json.dumps(d)[:2000])
EOF
}
ask '/api/v1/history?range=60' 'd["gpus"] and d["gpus"][0]["utilization"].count(77) > 1'
{ kill -9 "$server" && wait "$server"; } 2>/dev/null
monitor --listen 127.0.0.1:0 --history "$script"
echo $?
measures 0 util=33
serve --interval 0.1 --history history || exit 99
monitor --listen 127.0.0.1:0 --history history
echo $?
ask '/api/v1/history?range=60' 'd["gpus"] and {77, 33} <= set(d["gpus"][0]["utilization"])'
ask '/api/v1/events?range=600' 'sum(e["kind"] == "start" for e in d) == 2 and any(e["text"].startswith("Xid 31 ") for e in d)'
python3 - "$address" <<'EOF'
import sys, urllib.error, urllib.request
for query in ("range=1e9", "range=59", "range=", "range=%00", "x=1"):
    try:
        print(urllib.request.urlopen("http://" + sys.argv[1] + "/api/v1/history?" + query).status)
    except urllib.error.HTTPError as e:
        print(e.code, e.read().decode().strip())
EOF
stop_server
ls history | sed 's/GPU-[-0-9a-f]*/UUID/'
echo "== a token"
monitor --listen 0.0.0.0:0
echo $?
variables+=(LOCKSTEP_MONITOR_TOKEN=short)
monitor --listen 0.0.0.0:0
echo $?
variables=()
echo 0123456789abcdef >token
chmod 644 token
monitor --listen 0.0.0.0:0 --token-file token
echo $?
chmod 600 token
serve --token-file token || exit 99
python3 - "$address" <<'EOF'
import sys, urllib.error, urllib.request
def status(token):
    r = urllib.request.Request("http://" + sys.argv[1] + "/metrics")
    if token:
        r.add_header("Authorization", "Bearer " + token)
    try:
        return urllib.request.urlopen(r).status
    except urllib.error.HTTPError as e:
        return e.code
print(status(None), status("0123456789abcdeg"), status("0123456789abcdef") in (200, 503))
EOF
stop_server
echo "== wrong"
monitor --listen nowhere
echo $?
monitor check --listen 127.0.0.1:0
echo $?
monitor --token-file token --once
echo $?
for wrong in '--listen 127.0.0.1:0 --json' '--listen 127.0.0.1:0 --once' 'check --interval 5' 'probe --gpus 1' "--listen 0.0.0.0:0 --token-file $SCRATCH"; do
	# shellcheck disable=SC2086
	monitor $wrong
	echo $?
done
