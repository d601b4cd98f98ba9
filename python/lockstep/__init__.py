"""Lockstep: machine-learning runs repeatable to the last bit.

`lockstep.torch` gives PyTorch the same bits on a CPU and on a GPU.
"""
from lockstep._library import LockstepError

__all__ = ["LockstepError"]


def __getattr__(name):
    if name == "__version__":
        from lockstep import _library
        return _library.version()
    raise AttributeError("module 'lockstep' has no attribute %r" % name)
