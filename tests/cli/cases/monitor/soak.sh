# A monitor of eight GPUs over a thousand looks, with a page that is asked all the time: memory,
# files and history do not grow. With wrk also thousands of requests a second.
# labels: slow
. "$ROOT/tests/fake/machine.sh"
. "$ROOT/tests/watch/serve.sh"
command -v wrk >/dev/null || { echo "there is no wrk (Debian package)" >&2; exit 77; }
base debian 12 2.36
driver 580.65.06 13000
for i in 0 1 2 3 4 5 6 7; do
	gpu 'NVIDIA H200' 9.0 143771 700 mig=0
	measures $i util=93 used=71000 reserved=600 temp=61 slowdown=92 margin=31 draw=512500 sm=1980 smmax=1980 throttle=0x4 \
		remap=0,0,0,0 eccc=5 eccu=0 recovery=0 serial=165042100$i pci=$i "proc=471$i:65536"
	process 471$i python3 '0::/system.slice/slurmstepd.scope/job_12/step_0/user/task_0'
done
put /proc/stat 'cpu  1 0 0 1 0 0 0 0' 'cpu0 1 0 0 1 0 0 0 0' 'btime 1757000000'
mkdir project && (cd project && lockstep exp init >/dev/null)
serve --interval 0.1 --history history --project project || exit 99
wrk -t1 -c64 -d10s "http://$address/metrics" >wrk.txt
wrk -t1 -c64 -d5s "http://$address/api/v1/history?range=86400" >>wrk.txt
grep -c 'Requests/sec' wrk.txt
grep -E 'Non-2xx|Socket errors: connect [1-9]' wrk.txt
python3 - "$address" "$server" <<'PY'
import os, sys, time, urllib.request
address, pid = sys.argv[1:]
def state():
    with open(f"/proc/{pid}/status") as f:
        kb = next(int(line.split()[1]) for line in f if line.startswith("VmRSS:"))
    return kb, len(os.listdir(f"/proc/{pid}/fd")), sum(os.path.getsize("history/" + f) for f in os.listdir("history"))
def looks(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for path in ("/metrics", "/api/v1/now", "/api/v1/history?range=3600", "/api/v1/events", "/health", "/api/v1/experiments"):
            urllib.request.urlopen(f"http://{address}{path}").read()
        time.sleep(0.1)
looks(20)
before = state()
looks(80)
after = state()
print("memory is flat" if after[0] - before[0] < 1024 else f"memory grew from {before[0]} to {after[0]} kB")
print("files are the same" if after[1] <= before[1] else f"from {before[1]} to {after[1]} open files")
print("history has its size" if after[2] - before[2] < 4096 else f"the history grew from {before[2]} to {after[2]} bytes")
PY
stop_server
