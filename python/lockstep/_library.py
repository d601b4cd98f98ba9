"""liblockstep: finds it, loads it, and calls its functions.

It is the file that LOCKSTEP_LIBRARY names, or lies beside this package (a wheel), or is
one that the system's loader finds. Loaded once a process; any thread may call.
"""
import ctypes
import itertools
import os
import struct
import threading

_NAME = "liblockstep.so.0"
_HERE = os.path.dirname(os.path.abspath(__file__))
_lock = threading.Lock()
_state = {"library": None, "path": None}


class LockstepError(RuntimeError):
    """What the library says was wrong. code: a negative number, as lockstep.h has it."""

    def __init__(self, message, code=0):
        super().__init__(message)
        self.code = code


class Err(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int), ("msg", ctypes.c_char * 1024)]


class Where(ctypes.Structure):
    """struct ls_exact_where"""
    _fields_ = [("device", ctypes.c_int), ("stream", ctypes.c_void_p), ("scratch", ctypes.c_void_p),
                ("scratch_bytes", ctypes.c_size_t), ("threads", ctypes.c_int), ("cache", ctypes.c_char_p),
                ("isa", ctypes.c_char_p)]


class Info(ctypes.Structure):
    """struct ls_exact_op_info"""
    _fields_ = [("name", ctypes.c_char_p), ("tensors", ctypes.c_char_p), ("numbers", ctypes.c_char_p)]


# struct ls_exact_tensor: at, type, ndim, size[8], stride[8]
MOST_DIMS = 8
TENSOR_BYTES = 16 + 2 * 8 * MOST_DIMS
STRIDES_AT = 16 + 8 * MOST_DIMS
HEAD = [struct.Struct("Pii%dq" % n) for n in range(MOST_DIMS + 1)]
STRIDES = [struct.Struct("%dq" % n) for n in range(MOST_DIMS + 1)]


def _places():
    named = os.environ.get("LOCKSTEP_LIBRARY")
    if named:
        return [named]
    beside = os.path.join(_HERE, _NAME)
    return ([beside] if os.path.exists(beside) else []) + [_NAME]


def _open():
    faults = []
    for place in _places():
        try:
            return ctypes.CDLL(place), place
        except OSError as fault:
            faults.append(str(fault))
    raise LockstepError("liblockstep was not found (%s); set LOCKSTEP_LIBRARY to its path" % "; ".join(faults))


def _declare(lib):
    lib.ls_version.restype = ctypes.c_char_p
    lib.ls_numerics_version.restype = ctypes.c_int
    if not hasattr(lib, "ls_exact_op"):
        return lib
    common = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t,
              ctypes.c_void_p]
    lib.ls_exact_op.argtypes = common + [ctypes.c_void_p]
    lib.ls_exact_op_scratch.argtypes = common + [ctypes.POINTER(ctypes.c_size_t), ctypes.c_void_p]
    lib.ls_exact_op_list.argtypes = [ctypes.c_size_t, ctypes.POINTER(Info)]
    return lib


def library():
    """The loaded library; LockstepError where there is none."""
    with _lock:
        if _state["library"] is None:
            lib, path = _open()
            _state.update(library=_declare(lib), path=path)
        return _state["library"]


def use(path):
    """The library that is to be loaded; before the first call of it."""
    if _state["library"] is None:
        os.environ.setdefault("LOCKSTEP_LIBRARY", path)


def path():
    library()
    return _state["path"]


def version():
    return library().ls_version().decode()


def numerics_version():
    return library().ls_numerics_version()


def operations():
    """{name: (words for its tensors, words for its numbers)} of the exact operations."""
    lib, found, info = library(), {}, Info()
    if not hasattr(lib, "ls_exact_op"):
        return found
    for index in itertools.count():
        if lib.ls_exact_op_list(index, ctypes.byref(info)) != 0:
            return found
        found[info.name.decode()] = (info.tensors or b"").decode().split(), (info.numbers or b"").decode().split()
