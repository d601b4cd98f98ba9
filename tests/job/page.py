"""page.py LOCKSTEP: the page of `exp compare --html` in a real browser, headless: it
parses as it was written, says nothing on the console, each curve is drawn over the whole
width of its plot, and a dark desktop gets a dark page. Exit status 77 where the system
has no browser package."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PROGRAM = """import json, sys
with open(sys.argv[2] + "/metrics.jsonl", "w") as f:
    for i in range(1, 201):
        row = {"step": i, "<b>&loss": 1 / i + (i > 50 and int(sys.argv[1]) / 100)}
        f.write(json.dumps(row) + "\\n")
"""
# What the page shows, written into the page by a script of the test's own.
PROBE = """<script>
const lines = [...document.querySelectorAll("svg path.l")].map(p => p.getBoundingClientRect());
const plot = document.querySelector("svg").getBoundingClientRect();
document.title = JSON.stringify([lines.filter(r => r.width > 0.7 * plot.width && r.height > 50).length,
    getComputedStyle(document.body).backgroundColor, document.documentElement.scrollWidth <= innerWidth]);
</script>"""

lockstep = os.path.abspath(sys.argv[1])
browser = shutil.which("chromium")
if not browser:
    print("no chromium here")
    sys.exit(77 if "ID=ubuntu" in pathlib.Path("/etc/os-release").read_text() else 1)


def exp(*words, status=0):
    p = subprocess.run([lockstep, *words], capture_output=True, text=True)
    assert p.returncode == status, (words, p.returncode, p.stdout, p.stderr)


def dom(path, scratch, *options):
    p = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={scratch}/profile",
                        "--enable-logging=stderr", "--window-size=700,900", *options, "--dump-dom", f"file://{path}"],
                       capture_output=True, text=True, timeout=200)
    assert "CONSOLE" not in p.stderr, p.stderr
    return p.stdout


with tempfile.TemporaryDirectory() as scratch:
    os.chdir(scratch)
    pathlib.Path("train.py").write_text(PROGRAM)
    exp("exp", "init")
    exp("exp", "new", "a", "--seed", "0", "--", sys.executable, "train.py", "{seed}", "{out}")
    exp("exp", "new", "b", "--like", "a", "--seed", "1")
    exp("exp", "submit", "a", "b")
    exp("worker", "--once", "--gpus", "none")
    exp("exp", "harvest", "a", "b")
    exp("exp", "compare", "a", "b", "--html", "page.html", status=1)
    written = pathlib.Path("page.html").read_text()
    shown = dom(f"{scratch}/page.html", scratch)
    for tag in ("table", "tr", "th", "td", "svg", "path", "text", "figure", "figcaption", "b"):
        have, want = (len(re.findall(f"<{tag}[ >]", t)) for t in (shown, written))
        assert have == want and (want > 0 or tag == "b"), (tag, have, want)
    pathlib.Path("probe.html").write_text(written + PROBE)
    answers = []
    for scheme in ("1", "0"):  # light, dark
        text = dom(f"{scratch}/probe.html", scratch, f"--blink-settings=preferredColorScheme={scheme}")
        answers.append(re.search("<title>(.*?)</title>", text).group(1))
    print(*answers)
    assert answers == ['[2,"rgb(255, 255, 255)",true]', '[2,"rgb(13, 17, 23)",true]']
