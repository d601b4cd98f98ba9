"""What an exact program called: how often with exact kernels, and what stayed outside of
the contract, with its reason and its line.
"""
import os
import sys
import threading

import torch

_TORCH = os.path.dirname(torch.__file__) + os.sep
_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
exact = {}    # operation -> [calls]
outside = {}  # operation -> {"calls", "reason", "where"}


class OutsideContract(RuntimeError):
    """In strict mode: an operation whose bits may differ from one device to another."""


def cell(name):
    return exact.setdefault(name, [0])


def _frames(frame):
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith(("<frozen", _TORCH, _OURS)):
            yield "%s:%d" % (name, frame.f_lineno)
        frame = frame.f_back


def _program(frames):
    """The innermost line that belongs to no installed library, or the innermost of all."""
    library, first = os.path.dirname(os.__file__), ""
    for line in frames:
        first = first or line
        if "-packages" + os.sep not in line and not line.startswith(library):
            return line
    return first


def place():
    """The line of the program that is being run; of the thread that called backward, where
    this one is of the autograd engine."""
    found = _program(_frames(sys._getframe(1)))
    if found:
        return found
    threads = sys._current_frames()
    for frame in threads.values():
        if frame.f_code.co_name == "_engine_run_backward":
            return _program(_frames(frame))
    return _program(_frames(threads.get(threading.main_thread().ident)))


def _of_import():
    """Whether a module of torch's calls this as it is imported: that is no computing."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith("<frozen importlib"):
            return True
        if not name.startswith((_TORCH, _OURS)):
            return False
        frame = frame.f_back
    return False


def note_outside(name, reason, strict):
    entry = outside.get(name)
    if (entry is None or strict) and _of_import():
        return
    if entry is None:
        entry = outside[name] = {"calls": 0, "reason": reason, "where": place()}
    entry["calls"] += 1
    if strict:
        where = place()
        raise OutsideContract("%s%s is outside the exact contract: %s" % (where + ": " if where else "", name, reason))


def clear():
    for calls in exact.values():
        calls[0] = 0
    outside.clear()


def coverage():
    called = {name: n[0] for name, n in exact.items() if n[0]}
    kinds = len(called.keys() | outside.keys())
    return {"kinds": kinds, "exact_kinds": kinds - len(outside), "exact": dict(sorted(called.items())),
            "calls": sum(called.values()) + sum(e["calls"] for e in outside.values()),
            "exact_calls": sum(called.values()),
            "outside": {name: dict(e) for name, e in sorted(outside.items())}}


def sentence(found):
    text = "exact: %d of %d kinds of calls" % (found["exact_kinds"], found["kinds"])
    names = sorted(found["outside"], key=lambda n: -found["outside"][n]["calls"])
    if names:
        text += "; outside: " + ", ".join(names[:8]) + (", and %d more" % (len(names) - 8) if len(names) > 8 else "")
    return text
