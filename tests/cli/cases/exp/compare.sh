# Two experiments beside each other: what was different, what came out, what may explain
# it.
set -u
fails() { "$@" 2>&1; echo "exit $?"; }
lockstep exp init >/dev/null
printf '1 1:1 2:1\n0 1:1 3:1\n1 2:1\n0 3:1\n' >data.txt
run() { lockstep exp submit "$@" && lockstep worker --once --gpus none --cpus 4 2>/dev/null; }
lockstep exp template fm --level 1 --num-gpus 1 --set lr=0.1 -- lockstep fm train data.txt -o '{out}/model.safetensors' --epochs 3 --seed '{seed}' --lr '{lr}' --log '{out}/log.jsonl'
new() { lockstep exp new "$@" --num-gpus 0 >/dev/null; }
# file digests are those of the manifests; log.jsonl has times in it
new a --template fm --seed 1
new again --template fm --seed 1
new seed --template fm --seed 2
new lr --template fm --seed 1 --set lr=0.2
new plain --template fm --seed 1
new none -- true
new random -- python3 -c 'import json, os; json.dump({"f1": int.from_bytes(os.urandom(6), "big")}, open("{out}/metrics.json", "w"))'
lockstep exp new random2 --like random >/dev/null
fails lockstep exp compare a again
run a again seed lr none random random2
lockstep exp harvest --all >/dev/null

# seconds and threads are metrics, too, and may differ by themselves
only() { grep -v -e '^seconds' -e '^threads' -e '^f1 ' | sed -E 's/  +/ | /g'; }
show() { lockstep exp compare "$@" >text; echo "status $?"; only <text; }
echo '--- the same'
show a again
echo '--- another seed, another setting'
show a seed
show a lr
echo '--- nothing explains it'
show random random2
echo '--- nothing to compare'
show a none
fails lockstep exp compare a nobody
fails lockstep exp compare a
echo '--- JSON, and a page'
lockstep exp compare a lr --json --html page.html | python3 -c 'import json, sys
d = json.load(sys.stdin)
print(d["verdict"], [x["what"] for x in d["differences"]], d["metrics"]["loss"]["equal"], d["files"])'
python3 - <<'P'
import re
page = open("page.html").read()
print(page.count("<svg"), page.count("class=\"l\""), re.findall(r"<h2>([^<]*)", page))
P
echo '--- curves that part and meet again, of two lengths; a name that is no HTML; many steps'
cat >curve.py <<'P'
import json, math, sys
b = sys.argv[1] == "curve_b"
with open(sys.argv[2] + "/metrics.jsonl", "w") as f:
    for i in range(1, 5001 if b else 4001):
        row = {"step": i, "<b>&\"f1\"</b>": 1 / i + (b and i == 37) * 0.25, "loss": 1.0, "acc": i % 7}
        if i < 5:
            row["few"] = "NaN" if i == 2 else i
        f.write(json.dumps(row).replace('"NaN"', "NaN") + "\n")
P
new curve_a -- python3 curve.py '{name}' '{out}'
new curve_b --like curve_a
run curve_a curve_b
lockstep exp harvest curve_a curve_b
lockstep exp compare curve_a curve_b --html curves.html >text
echo "status $?"
sed -E 's/  +/ | /g' text | grep -A9 METRIC
lockstep exp compare curve_a curve_b --json | python3 -c 'import json, sys
for name, m in json.load(sys.stdin)["metrics"].items(): print(name, m["equal"], m["steps"], m["steps_differ"], m["first_step"])'
python3 - <<'P'
import re
import xml.dom.minidom
page = open("curves.html").read()
print(re.findall("<figcaption>([^<]*)", page), re.findall(r"<title>(step 37)<", page), "<b>" in page)
for plot in re.findall("<svg.*?</svg>", page, re.S):
    dom = xml.dom.minidom.parseString(plot)
    paths = [p.getAttribute("d") for p in dom.getElementsByTagName("path") if p.getAttribute("class") == "l"]
    # a curve of thousands of steps has no more strokes than the plot has half pixels
    print(dom.documentElement.getAttribute("aria-label"), max(len(re.findall("[ML]", p)) for p in paths) < 1400)
for path in ("page.html", "curves.html"):
    page = open(path).read().replace('xmlns="http://www.w3.org/2000/svg"', "")
    print([word for word in ("http", "src=", "href", "url(", "@import", "<script", "<link") if word in page], page.count("prefers-color-scheme:dark") > 1)
P
