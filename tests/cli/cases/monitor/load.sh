# 10,000 connections, slow clients, noise and many requests: samples go on and memory stays flat.
# labels: once
. "$ROOT/tests/fake/machine.sh"
. "$ROOT/tests/watch/serve.sh"
machine h200
measures 0 util=93 used=71000 temp=61 draw=512500
mkdir project && (cd project && lockstep exp init >/dev/null)
serve --interval 0.1 --history none --project project || exit 99
python3 - "$address" <<'PY'
import sys, time, urllib.request, urllib.error
while True:
    try:
        urllib.request.urlopen(f"http://{sys.argv[1]}/api/v1/now").read()
        break
    except urllib.error.HTTPError:
        time.sleep(0.02)
PY
python3 "$ROOT/tests/watch/load.py" "$address" "$server"
stop_server
