"""Lockstep's way into every interpreter of a run, then whatever sitecustomize would have
run without it.

Python ignores an exception that leaves this file and runs the program all the same,
without the policy. So every failure of the hook ends the interpreter here.
"""
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


def _is_here(entry):
    try:
        return os.path.samefile(entry or ".", _HERE)
    except OSError:
        return False


def _load():
    """Its bytecode is kept in the run's private folder, whatever the user's settings:
    the next interpreter is faster."""
    keep = sys.dont_write_bytecode, sys.pycache_prefix
    sys.dont_write_bytecode, sys.pycache_prefix = False, None
    try:
        import lockstep_hook
        return lockstep_hook
    finally:
        sys.dont_write_bytecode, sys.pycache_prefix = keep


def _start():
    try:
        lockstep_hook = _load()
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
    """Python runs only the first sitecustomize on the path, which is ours; the next one
    is run from here."""
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
