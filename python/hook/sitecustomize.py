"""Lockstep's way into every interpreter of a run, then whatever sitecustomize would have run without it.

Python swallows an exception that leaves this file and runs the program all the same. Unprotected is the one thing a
run must not be, so every failure of the hook ends the interpreter here.
"""
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


def _is_here(entry):
    try:
        return os.path.samefile(entry or ".", _HERE)
    except OSError:
        return False


def _start():
    try:
        import lockstep_hook
        if os.path.dirname(os.path.abspath(lockstep_hook.__file__)) == _HERE:
            lockstep_hook.start()
        else:
            lockstep_hook.nested(os.path.join(_HERE, "seen"))
    except BaseException as fault:  # pylint: disable=broad-except
        text = "lockstep: the hook failed, the program was not started: %s: %s\n" % (type(fault).__name__, fault)
        os.write(2, text.encode("utf-8", "replace"))
        os._exit(4)
    sys.path[:] = [p for p in sys.path if not _is_here(p)]


def _next():
    """Only the first sitecustomize on the path runs; the one that ours stands before is run from here."""
    from _frozen_importlib import module_from_spec
    from _frozen_importlib_external import PathFinder
    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None:
        return
    module = module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


_start()
_next()
