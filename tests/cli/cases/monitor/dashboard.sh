# The dashboard in a real browser: GPUs, a verdict with advice, experiments with names that try to
# be markup, the keyboard, three sizes, no error; and without a GPU. Pictures: BUILD/pictures.
# labels: once long
command -v chromium >/dev/null || { echo "there is no chromium" >&2; exit 77; }
. "$ROOT/tests/fake/machine.sh"
. "$ROOT/tests/watch/serve.sh"
evil='<img src=x onerror="window.hacked=1">'

mkdir project && cd project || exit 99
lockstep exp init >/dev/null
lockstep exp template t --harvest metrics.jsonl -- sh -c 'for i in 1 2 3 4; do echo "{\"step\": $i, \"loss\": 0.$((9 - i))$1, \"$2\": 1}"; done >$3/metrics.jsonl' \
	sh '{seed}' "${evil//\"/}" '{out}'
lockstep exp new runs --template t --seeds 1,2,3 --partition "$evil" >/dev/null
lockstep exp submit runs >/dev/null && lockstep worker --once --gpus none --cpus 2 2>/dev/null
lockstep exp harvest --all | tail -n 1
cd ..

base debian 12 2.36
driver 580.65.06 13000
for i in 0 1 2 3 4 5; do
	gpu 'NVIDIA H200' 9.0 143771 700 mig=0
	measures $i util=93 used=$((71000 + 9000 * i)) reserved=600 temp=$((61 + i)) slowdown=92 margin=31 draw=512500 sm=1980 smmax=1980 \
		throttle=0x0 remap=0,0,0,0 eccc=5 eccu=0 recovery=$((i == 2)) serial=165042100$i pci=$i "proc=471$i:65536"
	process 471$i "$evil" '0::/system.slice/slurmstepd.scope/job_12/step_0/user/task_0'
done
put /proc/stat 'cpu  1 0 0 1 0 0 0 0' 'cpu0 1 0 0 1 0 0 0 0' 'btime 1757000000'
for i in $(seq 20); do echo "{\"samples_per_second\": $((1000 + i))}"; done >training.jsonl
python3 -c 'import json, sys, time; print(json.dumps({"time": time.time(), "file": sys.argv[1], "success": False, "error": sys.argv[1]}))' "$evil" >exports.jsonl
serve --interval 0.5 --project project --log training.jsonl --exports exports.jsonl || exit 99
until curl -sf "http://$address/api/v1/now" >/dev/null; do sleep 0.1; done
curl -s "http://$address/api/v1/verdicts" | python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["health"], len(d["verdicts"]) > 50)'
curl -s "http://$address/api/v1/history?range=600&step=60" | python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["step"], len(d["gpus"][5]["power"]))'
curl -s "http://$address/api/v1/history?range=600&step=601"
curl -s "http://$address/api/v1/jobs" | python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["project"], d["jobs"], d["counts"]["done"])'
curl -s "http://$address/api/v1/curve?experiment=runs_seed1&metric=loss"
echo
curl -s "http://$address/api/v1/curve?experiment=nobody&metric=loss"
PYTHONDONTWRITEBYTECODE=1 python3 "$ROOT/tests/watch/dashboard.py" "$address" "$BUILD/pictures"
version=$(curl -s "http://$address/api/v1/experiments" | python3 -c 'import json, sys; print(json.load(sys.stdin)["version"])')
curl -s "http://$address/api/v1/experiments?seen=$version" | sed "s/$version/VERSION/"; echo
echo "== while it runs, its metrics are there without a harvest"
(
	cd project || exit 99
	lockstep exp new live --seed 5 -- sh -c 'echo "{\"step\": 1, \"f1\": 0.25}" >$1/metrics.jsonl; until [ -e "$2/go" ]; do sleep 0.05; done' \
		sh '{out}' "$PWD" >/dev/null
	lockstep exp submit live >/dev/null && exec lockstep worker --once --gpus none --cpus 1 2>/dev/null
) &
worker=$!
until curl -s "http://$address/api/v1/curve?experiment=live&metric=f1" | grep -q 0.25; do sleep 0.1; done
curl -s "http://$address/api/v1/curve?experiment=live&metric=f1"
echo
until curl -s "http://$address/api/v1/jobs" | grep -q '"f1"'; do sleep 0.1; done
curl -s "http://$address/api/v1/jobs" | python3 -c 'import json, sys; print([(j["name"], j["state"], j["metrics"]["f1"]["last"]) for j in json.load(sys.stdin)["jobs"]])'
touch project/go
wait "$worker"
stop_server

echo "== without a GPU"
machine nodriver
serve --interval 0.5 --history none || exit 99
until curl -sf "http://$address/api/v1/now" >/dev/null; do sleep 0.1; done
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$ROOT/tests/watch" python3 - "$address" <<'PY'
import sys
from browser import Browser
with Browser() as b:
    page = b.open(f"http://{sys.argv[1]}/")
    page.until("document.documentElement.dataset.drawn")
    page.until("!document.querySelector('#no-project').hidden")
    print(page.js("document.querySelector('#no-gpu').textContent"))
    print(page.js("document.querySelector('#no-project').textContent"))
    print(page.errors)
PY
stop_server
