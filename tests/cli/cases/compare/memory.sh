# labels: once
# Text files beyond 64 MiB are compared in little memory: their pages are given back.
python3 - <<'PY'
import json

def write(name, a, b):
    assert len(a) > 64 << 20
    for file, text in (("a." + name, a), ("b." + name, b)):
        with open(file, "w") as f:
            f.write(text)

rows = [{"loss": float("nan") if i == 7 else i * 0.5, "text": "x" * 400 + str(i)} for i in range(165000)]
lines = [json.dumps(r) for r in rows]
write("json", "[" + ",".join(lines) + "]", "[" + ", \n".join(lines) + "]")
write("jsonl", "\n".join(lines), "\n".join(lines[:-1] + [lines[-1].replace("x1", "y1")]))
cells = [f"{r['loss']},{r['text']}" for r in rows]
write("csv", "loss,text\n" + "\n".join(cells), "text,loss\n" + "\n".join(",".join(reversed(c.split(","))) for c in cells))
PY
# the peak of a process begins with what its parent had, so a small one measures
for name in json jsonl csv; do
	python3 -c '
import os, subprocess, sys
child = subprocess.Popen(["lockstep", "compare", "a." + sys.argv[1], "b." + sys.argv[1]])
status, use = os.wait4(child.pid, 0)[1:]
peak = use.ru_maxrss >> 10
print(sys.argv[1], "exit", status >> 8, "under 48 MiB" if peak < 48 else f"{peak} MiB")' "$name"
done
