"""lockstep.digest, compare, doctor, spec_check, plan and manifests: what Python gets is
what the command line says, and what the files hold. Argument: the program lockstep.
"""
import collections
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import safetensors.torch
import torch

import lockstep

PROGRAM = sys.argv[1]
os.chdir(tempfile.mkdtemp())


def told(*words, status=0):
    r = subprocess.run([PROGRAM, *words], stdout=subprocess.PIPE, text=True, check=False)
    assert r.returncode == status, (words, r.returncode, r.stdout)
    return r.stdout


def of_program(path):
    """compare prints a digest for each side."""
    lines = told("compare", "--digest", path, path).splitlines()
    found = {line.split()[2] for line in lines if line.startswith("digest ")}
    assert len(found) == 1, lines
    return found.pop()


def raises(kind, call, *words):
    try:
        call()
    except kind as fault:
        assert all(w in str(fault) for w in words), fault
        return
    raise AssertionError("no %s" % kind.__name__)


def states():
    torch.manual_seed(3)
    base = torch.randn(6, 8)
    yield "types", {t: torch.randn(3, 5).to(getattr(torch, t)) for t in
                    ("float32", "float64", "bfloat16", "float16", "complex64", "int8", "int64", "uint8", "bool", "float8_e4m3fn")}
    yield "views", {"t": base.t(), "step": base[::2, 1::3], "row": base[2], "one": base[0, 0], "none": base[:0],
                    "wide": base[:1].expand(4, 8), "conj": torch.randn(4, dtype=torch.complex64).conj()}
    model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3))
    adam = torch.optim.Adam(model.parameters())
    model(torch.randn(5, 4)).sum().backward()
    adam.step()
    yield "training", {"model": model.state_dict(), "optimizer": adam.state_dict(), "epoch": 3, "name": "run", "best": None,
                       "args": ("a", [1.5, {"nested": [torch.ones(2), (torch.zeros(1),)]}])}
    yield "twins", {"a": {"b": torch.ones(1)}, "a.b": torch.zeros(2), 7: torch.ones(3), "7": torch.ones(4), True: torch.ones(5)}
    yield "numpy", collections.OrderedDict(
        a=np.asfortranarray(np.arange(6.0).reshape(2, 3)), b=np.arange(5, dtype=">i4"), c=np.float32(2.5), d=np.float64(-0.0),
        e=np.arange(4, dtype=np.uint16)[::2], f=np.array([True, False]), g=torch.ones(2))
    yield "alone", torch.arange(5)


def digests():
    seen = set()
    for name, state in states():
        torch.save(state, name + ".pt")
        mine = lockstep.digest(state)
        assert mine == of_program(name + ".pt") == lockstep.digest_file(name + ".pt"), name
        assert mine not in seen
        seen.add(mine)
    weights = {k: v.contiguous() for k, v in next(iter(states()))[1].items() if not k.startswith("complex")}
    safetensors.torch.save_file(weights, "w.safetensors")
    assert lockstep.digest(weights) == of_program("w.safetensors")
    arrays = {"x": np.arange(6.0).reshape(2, 3).T, "y": np.float32(3), "back": np.arange(9)[::-1]}
    np.savez("a.npz", **arrays)
    assert lockstep.digest(arrays) == of_program("a.npz")
    model = torch.nn.Linear(2, 2)
    assert lockstep.digest(model) == lockstep.digest(model.state_dict()) != lockstep.digest({"m": model.state_dict()})
    one, other = {"w": torch.tensor([0.0])}, {"w": torch.tensor([-0.0])}
    assert torch.equal(one["w"], other["w"]) and lockstep.digest(one) != lockstep.digest(other)
    raises(TypeError, lambda: lockstep.digest({"m": {"inner": model}}), '"m.inner"', "Linear", "state_dict")
    raises(TypeError, lambda: lockstep.digest({"s": torch.eye(2).to_sparse()}), '"s"', "sparse")
    raises(TypeError, lambda: lockstep.digest({"d": np.array(["x"])}), '"d"')
    raises(TypeError, lambda: lockstep.digest({(1, 2): torch.ones(1)}), "tuple")
    raises(ValueError, lambda: lockstep.digest({"epoch": 3}), "no tensors")
    loop = []
    loop.append(loop)
    raises(ValueError, lambda: lockstep.digest(loop), "within itself")
    raises(FileNotFoundError, lambda: lockstep.digest_file("none.pt"))


def judging():
    torch.save({"w": torch.zeros(4), "b": torch.ones(2)}, "one.pt")
    torch.save({"w": torch.tensor([0, 0, 1e-9, 0]), "b": torch.ones(2)}, "two.pt")
    same, other = lockstep.compare("one.pt", "one.pt"), lockstep.compare("one.pt", "two.pt")
    assert same and same.identical and same.answer is lockstep.Answer.YES
    assert not other and not other.identical and other.answer is lockstep.Answer.NO
    assert other.json == json.loads(told("compare", "--json", "one.pt", "two.pt", status=1))
    assert other.text().strip() == told("compare", "one.pt", "two.pt", status=1).strip()
    assert other.html().lower().startswith("<!doctype html") and "w" in other.markdown()
    assert lockstep.compare("one.pt", "two.pt", ignore="w").identical
    close = lockstep.compare("one.pt", "two.pt", tolerance=["abs=1e-6"])
    assert not close.identical and close.json["tolerance"]["within"] is True
    raises(FileNotFoundError, lambda: lockstep.compare("one.pt", "none.pt"), "none.pt")
    raises(ValueError, lambda: lockstep.compare("one.pt", "two.pt", threads=1000), "threads")
    here = lockstep.doctor()
    assert here.answer is lockstep.Answer.YES and here.facts and isinstance(here.findings, list)
    assert os.path.basename(sys.prefix) in json.dumps(here.facts), "not this interpreter"
    assert not lockstep.doctor(cuda=True) or torch.cuda.is_available()
    spec = lockstep.spec_check("kaggle-2025-09", today="2025-10-01")
    assert spec.json == json.loads(told("spec", "check", "--json", "--today", "2025-10-01", "kaggle-2025-09", status=int(spec.answer)))
    plan = lockstep.plan(from_="L40S:4", to="H200:2", batch=32, precision="bf16")
    assert plan and plan.json == json.loads(told("plan", "--from", "L40S:4", "--to", "H200:2", "--batch", "32", "--precision", "bf16", "--json"))
    assert lockstep.plan(from_="L40S:3", to="H200:2", batch=1).answer is lockstep.Answer.NO
    raises(ValueError, lambda: lockstep.plan(nonsense=1), "nonsense")


def manifests():
    with open("rows.csv", "w", encoding="ascii") as f:
        f.write("1\n")
    one = lockstep.run_manifest("out", inputs=["rows.csv"], level=2, seed=7)
    assert one.json["state"] == "running" and one.json["policy"]["seed"] == 7
    assert lockstep.read_manifest("out").json == one.json
    with open("out/model.bin", "wb") as f:
        f.write(b"abc")
    one.finish()
    read = lockstep.read_manifest("out").json
    assert read["state"] == "finished" and read["result"]["status"] == 0 and read["modules"]["torch"] == torch.__version__
    assert [(o["path"], o["bytes"]) for o in read["outputs"]] == [("model.bin", 3)]
    two = lockstep.run_manifest("out2", inputs=["rows.csv"], level=2, seed=8)
    assert lockstep.run_manifest().path is None
    again = lockstep.run_manifest("out", level=0).finish(3)  # no output is new
    assert again.json["outputs"] == [] and again.json["result"]["status"] == 3
    difference = lockstep.manifest_diff("out", "out2")
    assert difference.answer is lockstep.Answer.NO and "policy.seed" in json.dumps(difference.json), two
    raises(ValueError, lambda: lockstep.run_manifest(level=9), "level")
    raises(ValueError, lambda: lockstep.run_manifest(precision="fp64"), "fp64")
    raises(FileNotFoundError, lambda: lockstep.read_manifest("none"))
    assert "finished" in told("manifest", "show", "out")


assert set(lockstep.__all__) == {"LockstepError", *lockstep._WHERE, *lockstep._MODULES}
assert all(getattr(lockstep, name) is not None for name in dir(lockstep))
digests()
judging()
manifests()
print("digests, reports and manifests of Python are those of the program")
