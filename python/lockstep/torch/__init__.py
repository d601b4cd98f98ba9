"""PyTorch with the same bits on a CPU and on a GPU.

    import lockstep.torch
    lockstep.torch.exact()

From then on this process computes by liblockstep's exact operations, whose results do not
depend on device, threads or instruction set. The program needs no change. What it calls
beside them is computed by torch, and told: see coverage(). `lockstep run --exact` does the
same for a program that knows nothing of it.
"""
import atexit
import os
import sys

import torch
from lockstep import _library
from lockstep._library import LockstepError
from lockstep.torch import _call, _counts, _override, _patches
from lockstep.torch._counts import OutsideContract

__all__ = ["exact", "is_exact", "coverage", "OutsideContract", "LockstepError"]
_OLDEST = (2, 4)
_state = {"told": False}


def exact(strict=False, tell=True):
    """Makes this process exact, for good. strict: an operation outside of the contract
    raises OutsideContract instead of running torch's kernel. tell: say the coverage on
    stderr when the program ends."""
    if tuple(int(n) for n in torch.__version__.split("+")[0].split(".")[:2]) < _OLDEST:
        raise LockstepError("exact() needs torch %d.%d or newer, not %s" % (*_OLDEST, torch.__version__))
    if "mm" not in _library.operations():
        raise LockstepError("%s has no exact operations; it is version %s" % (_library.path(), _library.version()))
    _call.start()
    first = not _override.is_registered()
    _override.register(strict)
    if first:
        _patches.apply()
        _probe("cpu")
        _call.on_new_device = _probe
        _counts.clear()
    if tell and not _state["told"]:
        _state["told"] = True
        atexit.register(_tell, os.getpid())


def is_exact():
    return _override.is_registered()


def coverage():
    """What was called since exact(): {"numerics", "strict", "kinds", "exact_kinds", "calls",
    "exact_calls", "exact": {operation: calls}, "outside": {operation: {"calls", "reason",
    "where"}}}."""
    return {"numerics": _library.numerics_version(), "strict": _override.is_strict(), **_counts.coverage()}


def _tell(pid):
    if os.getpid() == pid:
        sys.stderr.write("lockstep: %s\n" % _counts.sentence(_counts.coverage()))


# 2^24 + 1 is no float32: a sum in another order, or in float32, loses the 1
_LEFT, _RIGHT_SIDE, _ANSWER = [[2.0 ** 21, 1.0, -2.0 ** 21]], [[8.0], [1.0], [8.0]], 1.0


def _probe(device):
    """A product whose exact sum is known shows that torch calls our kernel there."""
    before = _counts.cell("mm")[0]
    found = torch.mm(torch.tensor(_LEFT, device=device), torch.tensor(_RIGHT_SIDE, device=device)).item()
    if _counts.cell("mm")[0] == before:
        raise LockstepError("torch %s on %s does not call the kernel that was registered" % (torch.__version__, device))
    if found != _ANSWER:
        raise LockstepError("the probe product on %s is %r, not %r" % (device, found, _ANSWER))
    _counts.cell("mm")[0] = before
