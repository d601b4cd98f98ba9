# spawned, forked and multiprocessing children are reached, a sitecustomize that was there
# still runs
mkdir site && echo 'print("x", file=open("site.log", "a"))' >site/sitecustomize.py
cat >prog.py <<'PY'
import multiprocessing as mp, os, random, subprocess, sys
def work(q): q.put(random.random())
if __name__ == "__main__":
    for method in ("fork", "spawn"):
        ctx = mp.get_context(method)
        q = ctx.Queue()
        p = ctx.Process(target=work, args=(q,))
        p.start(); v = q.get(); print(method, v if method == "spawn" else type(v)); p.join()
    print(subprocess.run([sys.executable, "-c", "import random; print(random.random())"], capture_output=True,
                         text=True).stdout, end="")
PY
PYTHONPATH=$PWD/site lockstep run -- python3 prog.py
sort -u site.log; [ "$(wc -l <site.log)" -ge 3 ] || wc -l <site.log
python3 - <<'PY'
import json
h = json.load(open("artifacts/run_manifest.json"))["hook"]
pairs = {(bool(i["forked_from"]), "-c" in i["argv"] or "prog.py" in i["argv"]) for i in h["interpreters"]}
print(sorted(pairs), h["held"], h["count"] >= 4)
PY
