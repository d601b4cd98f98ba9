#!/usr/bin/env python3
"""schema.py REPORT VERDICT: checks a validation report against docs/FORMATS.md,
"Validation report"."""
import json
import pathlib
import re
import sys

r = json.load(open(sys.argv[1]))
root = pathlib.Path(__file__).resolve().parent.parent.parent
assert list(r) == ["format", "version", "lockstep", "commit", "created", "mode", "devices", "has_cuda", "verdict", "exit", "seconds",
                   "checklist", "facts", "ways", "checks"], list(r)
assert r["format"] == "lockstep-validate" and r["version"] == 2
assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", r["created"])
assert r["mode"] in ("quick", "full") and isinstance(r["has_cuda"], bool)
assert r["verdict"] == sys.argv[2], r["verdict"]
assert r["exit"] == {"green": 0, "differs": 1, "incomplete": 3}[r["verdict"]]
states = ("passed", "differs", "not-run")
assert len(r["checklist"]) == 6
for c in r["checklist"]:
    assert list(c) == ["item", "state", "detail"] and c["state"] in states and c["detail"], c
keys = [f["key"] for f in r["facts"]]
assert len(set(keys)) == len(keys) and {"lockstep", "commit", "numerics_version", "has_cuda", "gpu_code", "driver", "cpu"} <= set(keys), keys
assert "host" not in keys
for f in r["facts"]:
    assert list(f) == ["key", "state", "value", "source", "reason"], f
    assert (f["value"] is not None) == (f["state"] == "known"), f
names = [w["name"] for w in r["ways"]]
assert len(set(names)) == len(names) and r["ways"][0]["reference"] and r["ways"][0]["device"] == "cpu"
for threads in ("1 thread", "2 threads", "3 threads", "7 threads"):
    assert any(f"cpu, {threads}," in n for n in names), names
for c in r["checks"]:
    assert list(c) == ["check", "cell", "on", "state", "expected", "got", "reason"], c
    assert c["check"] in ("golden", "scores", "batches", "twins", "control", "handover") and c["on"] in names and c["state"] in states, c
    assert (c["reason"] is None) == (c["state"] == "passed"), c
    if c["state"] == "passed":
        assert (c["expected"] == c["got"]) == (c["check"] != "control") and len(c["got"]) == 64, c
# every way has every cell of the golden table, by the names and digests of the files
golden = dict(line.split() for line in (root / "tests/bitwise/golden.txt").read_text().splitlines())
for w in r["ways"]:
    n, wanted = w["name"], golden
    cells = {c["cell"]: c for c in r["checks"] if c["check"] == "golden" and c["on"] == n}
    assert list(cells) == list(wanted), n
    assert all(c["expected"] in (wanted[name], None) for name, c in cells.items()), n
worst = {c["state"] for c in r["checks"]}
verdict = "differs" if "differs" in worst else "incomplete" if "not-run" in worst else "green"
assert verdict == r["verdict"], (verdict, r["verdict"])
