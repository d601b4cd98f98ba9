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
# 40 MB of which every value differs
for file, last in (("a", 1), ("b", 2)):
    text = ", ".join('{"accuracy": %d.%d, "loss": "%d %d"}' % (i, last, i, last) for i in range(950000))
    assert len(text) > 40e6
    with open(file + ".numbers.json", "w") as f:
        f.write("[" + text + "]")
write("csv", "loss,text\n" + "\n".join(cells), "text,loss\n" + "\n".join(",".join(reversed(c.split(","))) for c in cells))
PY
# the peak of a process begins with what its parent had, so a small one measures
for name in json jsonl csv numbers.json; do
	python3 -c '
import os, subprocess, sys
child = subprocess.Popen(["lockstep", "compare", "a." + sys.argv[1], "b." + sys.argv[1]])
status, use = os.wait4(child.pid, 0)[1:]
peak, most = use.ru_maxrss >> 10, 400 if "numbers" in sys.argv[1] else 48
print(sys.argv[1], "exit", status >> 8, f"under {most} MiB" if peak < most else f"{peak} MiB")' "$name" | sed '/^value/d'
done
