# one run at a time in a folder; what a killed one left goes; an output folder inside an
# input is no input; a run inside a run
lockstep run -o a -- sh -c 'echo $$ >pid; exec sleep 60' &
while [ ! -s pid ]; do sleep 0.05; done
lockstep run -o a -- true 2>&1
echo "status $?"
# gathered while the program runs, and there whatever happens
until grep -q '"environment"' a/run_manifest.json; do sleep 0.05; done
kill -9 $!
wait $! 2>/dev/null
kill "$(cat pid)"
lockstep manifest show a | grep -E '^(state|result)'
find a -maxdepth 1 -name '.lockstep.*' | wc -l
lockstep run -o a -- true && find a -maxdepth 1 -name '.lockstep.*' | wc -l
# the same input twice, though the first run wrote into it
mkdir data && echo 1 >data/x
for i in 1 2; do lockstep run --input data -o data/out -- sh -c 'echo $$ >{out}/y'; cp data/out/run_manifest.json $i.json; done
lockstep manifest diff 1.json 2.json | grep -c '^inputs'
# the inner run's policy holds, and the outer run says so instead of crying
lockstep run -o outer --strict -- lockstep run -o inner --seed 5 -- python3 -c 'import random, time; print(random.random()); time.sleep(0.3)' 2>&1
echo "status $?"
python3 -c 'import random; random.seed(5); print(random.random())'
python3 - <<'PY'
import json
for d in ("outer", "inner"):
    h = json.load(open(d + "/run_manifest.json"))["hook"]
    print(d, h["held"], h["count"], h["uncovered"], [i.get("nested") for i in h["interpreters"]])
PY
lockstep run -- /etc/passwd 2>&1
lockstep run -- /tmp 2>&1
lockstep run -- /nowhere/x 2>&1
lockstep run -o '' -- true 2>&1
echo "status $?"
lockstep run -o /dev/null/x -- true 2>&1
echo "status $?"
