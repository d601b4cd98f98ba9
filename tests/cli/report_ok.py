#!/usr/bin/env python3
"""report_ok.py REPORT: checks a doctor report against the schema in docs/FORMATS.md and
prints its head."""
import json
import sys

r = json.load(open(sys.argv[1]))
top = ["format", "version", "lockstep", "created", "host", "spec", "cuda", "deep", "verdict", "env", "gpus", "findings",
       "symptom", "facts"]
assert list(r) == top, list(r)
assert r["format"] == "lockstep-doctor" and r["version"] == 1
assert list(r["env"]) == ["torch", "torch_cuda", "cudnn", "python", "nvidia_smi", "cuda_version_txt"], r["env"]
assert r["env"]["cudnn"] is None or isinstance(r["env"]["cudnn"], int)
assert r["facts"] and len({f["key"] for f in r["facts"]}) == len(r["facts"])
for f in r["facts"]:
    assert f["state"] in ("known", "absent", "unknown") and f["source"], f
    assert (f["value"] is not None) == (f["state"] == "known"), f
    assert ("reason" in f) == (f["state"] != "known"), f
for f in r["findings"]:
    assert f["outcome"] in ("match", "mismatch", "unknown") and f["kind"] in ("check", "fault"), f
    assert f["level"] in ("required", "recommended", "informational") and isinstance(f["advice"], list), f
for g in r["gpus"]:
    assert list(g) == ["index", "name", "uuid", "capability", "memory_mib", "ecc", "mig", "persistence", "power_limit_w",
                       "power_default_w", "throttle", "batch", "tested"], g
    assert g["batch"] is None or 0 < g["batch"][0] < g["batch"][1], g
required = [f["outcome"] for f in r["findings"] if f["level"] == "required"]
verdict = "mismatch" if "mismatch" in required else "unknown" if "unknown" in required else "match"
assert r["verdict"] == verdict, (r["verdict"], verdict)
print(json.dumps({k: r[k] for k in top[:11] if k not in ("lockstep", "created", "host")}, indent=1))
