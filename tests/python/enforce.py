"""lockstep.enforce: in time all of it holds, and a program then draws the same numbers
and reads the same switches as under `lockstep run`; what came too late, or did not take
hold, is told by name. Argument: the program lockstep.
"""
import json
import os
import subprocess
import sys
import tempfile

PROGRAM = sys.argv[1]
# what a program sees, in both cases
ACCOUNT = """
import numpy, torch
print(json.dumps({
    "hash": hash("x"), "random": random.random(), "numpy": numpy.random.rand(), "torch": torch.rand(1).item(),
    "threads": [torch.get_num_threads(), torch.get_num_interop_threads()],
    "deterministic": torch.are_deterministic_algorithms_enabled(), "cudnn": torch.backends.cudnn.deterministic,
    "benchmark": torch.backends.cudnn.benchmark, "tf32": torch.backends.cuda.matmul.allow_tf32,
    "precision": torch.get_float32_matmul_precision(), "fill": torch.utils.deterministic.fill_uninitialized_memory,
    "env": {n: os.environ.get(n) for n in %r}}))
"""
VARIABLES = ["NVIDIA_TF32_OVERRIDE", "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE", "TF_DETERMINISTIC_OPS", "TF_CUDNN_DETERMINISTIC",
             "NVTE_ALLOW_NONDETERMINISTIC_ALGO", "MKL_CBWR", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS",
             "NUMEXPR_NUM_THREADS", "CUDA_LAUNCH_BLOCKING", "NCCL_ALGO", "NCCL_PROTO", "PYTHONHASHSEED", "CUBLAS_WORKSPACE_CONFIG",
             "XLA_FLAGS"]
SEED = "11"


def python(code, *before, **env):
    """Its last line, as JSON. Of a level the environment has only what is named."""
    clean = {k: v for k, v in os.environ.items() if k not in VARIABLES}
    r = subprocess.run([*before, sys.executable, "-c", code], env=dict(clean, **env), stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(r.stdout.strip().splitlines()[-1])


def in_time():
    """Level 3 at the start, restarted for the seed of hashes; then lockstep run."""
    code = "import json, os, random\n" + ACCOUNT % VARIABLES
    enforced = python("""
import json, os, random, sys
starts = os.open("starts", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
os.write(starts, b"x")
import lockstep
done = lockstep.enforce(%s, "bitwise", late="restart")
assert done.complete and done.level == 3 and not done.missed, done
assert done.held["torch.num_threads"] == 1 and done.held["torch.manual_seed"] == %s and done.held["environment NCCL_ALGO"] == "Ring"
assert lockstep.run_manifest().json["policy"]["level"] == 3
again = lockstep.enforce(%s, 3)  # what is in place is in time
""" % (SEED, SEED, SEED) + ACCOUNT % VARIABLES, TORCH_ALLOW_TF32_CUBLAS_OVERRIDE="1")
    with open("starts", encoding="ascii") as f:
        assert f.read() == "xx", "restarted once"
    run = python(code, PROGRAM, "run", "--level", "3", "--seed", SEED, "-o", "out", "--", TORCH_ALLOW_TF32_CUBLAS_OVERRIDE="1")
    assert enforced == run, "\n%s\n%s" % (enforced, run)
    assert run["precision"] == "highest" and run["deterministic"] and run["env"]["TORCH_ALLOW_TF32_CUBLAS_OVERRIDE"] is None


def too_late():
    """Without PYTHONHASHSEED; with PyTorch at work; CUDA's start is played."""
    python("""
import json, os, sys, warnings
import torch
torch.set_num_interop_threads(2)  # which can be done once
import lockstep
from lockstep import _enforce

def refused(*args, **named):
    try:
        lockstep.enforce(*args, **named)
    except lockstep.NotEnforced as fault:
        return fault
    raise AssertionError("enforced")

fault = refused(7, 2)
assert set(fault.enforcement.late) == {"PYTHONHASHSEED", "MKL_CBWR"} and not fault.enforcement.missed, fault
assert "PYTHONHASHSEED=7" in str(fault) and "lockstep run --level 2 --seed 7" in str(fault), fault
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    some = lockstep.enforce(7, 2, late="warn", precision="tf32")
assert len(told) == 1 and "too late: PYTHONHASHSEED" in str(told[0].message) and not some.complete
assert torch.backends.cuda.matmul.allow_tf32 and torch.are_deterministic_algorithms_enabled()
assert "environment CUBLAS_WORKSPACE_CONFIG" in some.held  # CUDA had not begun
fault = refused(7, 3, late="warn")
assert fault.enforcement.missed.keys() == {"torch.num_interop_threads"}, fault
assert {"OMP_NUM_THREADS", "MKL_CBWR"} <= fault.enforcement.late.keys() and "CUDA_LAUNCH_BLOCKING" in _enforce._in_time

_enforce._in_time.clear()
torch.cuda.is_initialized = lambda: True
torch.cuda.device_count = lambda: 0
fault = refused(7, 2)
assert "torch has started CUDA" in fault.enforcement.late["CUBLAS_WORKSPACE_CONFIG"], fault
assert "torch has started CUDA" in fault.enforcement.late["NVIDIA_TF32_OVERRIDE"], fault
torch.cuda.is_initialized = lambda: False
_enforce._open_files = lambda: ["/dev/nvidiactl", "/dev/nvidia-uvm"]
assert "CUDA has started" in refused(7, 2).enforcement.late["CUBLAS_WORKSPACE_CONFIG"]

torch._C._set_deterministic_algorithms(False)
torch._C._set_deterministic_algorithms = lambda *values, **named: None
fault = refused(7, 2, late="warn")
assert fault.enforcement.missed == {"torch.deterministic_algorithms": "set to True, reads False"}, fault

for wrong in ((7, 4), (7, "extreme"), (-1, 2), (7, 2, "fp64")):
    try:
        lockstep.enforce(*wrong[:2], **({"precision": wrong[2]} if wrong[2:] else {}))
    except (ValueError, OverflowError):
        continue
    raise AssertionError(wrong)
for wrong, word in (((2**70, 2), "seed"), (("x", 2), "seed"), ((1.5, 2), "seed"), ((7, "extreme"), "bitwise"), ((7, None), "level")):
    try:
        lockstep.enforce(*wrong, late="warn")
    except ValueError as fault:
        assert word in str(fault), fault
        continue
    raise AssertionError(wrong)
before = torch.initial_seed(), dict(os.environ)
nothing = lockstep.enforce(99, 0)
assert nothing.complete and not nothing.held and before == (torch.initial_seed(), dict(os.environ))
print("{}")
""")


os.chdir(tempfile.mkdtemp())
in_time()
too_late()
print("enforce holds what run holds, and tells what came too late")
