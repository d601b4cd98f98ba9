# the same random numbers, hash order and output digests twice; another seed gives others;
# the hook leaves nothing behind
cat >prog.py <<'PY'
import os, random
text = f"{random.random()} {list({'a', 'b', 'c', 'd', 'e', 'f'})}"
open(os.environ["LOCKSTEP_OUT"] + "/x.txt", "w").write(text)
PY
lockstep run --out a -- python3 prog.py || exit 99
lockstep run --out b -- python3 prog.py || exit 99
lockstep run --out c --seed 7 -- python3 prog.py || exit 99
cmp a/x.txt b/x.txt && echo same
cmp -s a/x.txt c/x.txt || echo other
ls -A a
python3 - <<'PY'
import hashlib, json
m = json.load(open("a/run_manifest.json"))
assert m["outputs"] == [{"path": "x.txt", "bytes": len(open("a/x.txt").read()),
                         "sha256": hashlib.sha256(open("a/x.txt", "rb").read()).hexdigest()}], m["outputs"]
assert m["hook"]["held"] is True and m["hook"]["count"] == 1 and m["seeds"] == {"random": 1337}, m["hook"]
i = m["hook"]["interpreters"][0]
assert i["exited"] is True and i["argv"][-1] == "prog.py", i
assert m["policy"]["env"]["PYTHONHASHSEED"] == {"before": None, "value": "1337"}
assert m["resources"]["peak_rss_bytes"] > 1 << 20 and m["resources"]["wall_s"] > 0
PY
lockstep manifest diff a b | grep -v '^ \|^$' | cut -d' ' -f1-3
lockstep manifest diff a c --json | python3 -c 'import json, sys
for d in json.load(sys.stdin)["differences"]: print(d["weight"], d["what"]) if d["weight"] == "can change bits" else 0'
