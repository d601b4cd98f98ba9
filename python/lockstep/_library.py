"""liblockstep: finds it, loads it, and calls its functions.

It is the file that LOCKSTEP_LIBRARY names, or lies beside this package (a wheel), or is
one that the system's loader finds. Loaded once a process; any thread may call. ctypes
lets other Python threads run during every call.

    call("ls_model_load", b"m.safetensors", ctypes.byref(handle))

raises what the library says was wrong: a LockstepError that is, besides, the exception of
Python that fits (ValueError for bad input, FileNotFoundError, MemoryError, ...).
"""
import ctypes
import itertools
import os
import struct
import threading
from typing import Any, Dict, List, Optional, Sequence, Tuple, Type, Union

_NAME = "liblockstep.so.0"
_HERE = os.path.dirname(os.path.abspath(__file__))
_lock = threading.Lock()
_state: Dict[str, Any] = {"library": None, "path": None}

# enum ls_code
EINPUT, EUNKNOWN, EIO, ENOMEM, EINTERNAL, ENOENT, EINTR, EDIFFER = range(-1, -9, -1)


class LockstepError(RuntimeError):
    """What the library says was wrong. code: a negative number, as lockstep.h has it."""

    def __init__(self, message: str, code: int = 0) -> None:
        super().__init__(message)
        self.code = code

    def __str__(self) -> str:
        return str(self.args[0])

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (str(self), self.code)


class InputError(LockstepError, ValueError):
    """Bad usage or bad input."""


class UnknownError(LockstepError):
    """Cannot be told or done here: no GPU, no driver, a tool is missing."""


class FileError(LockstepError, OSError):
    """The machine refused: the disk is full, there is no permission."""


class NoMemoryError(LockstepError, MemoryError):
    """There is no memory."""


class MissingError(LockstepError, FileNotFoundError):
    """A named file is not there."""


class Interrupted(LockstepError):
    """Stopped on request."""


class DifferError(LockstepError, ArithmeticError):
    """A real negative answer; numbers that left the finite range."""


_errors: Dict[int, Type[LockstepError]] = {
    EINPUT: InputError, EUNKNOWN: UnknownError, EIO: FileError, ENOMEM: NoMemoryError,
    ENOENT: MissingError, EINTR: Interrupted, EDIFFER: DifferError}


class Err(ctypes.Structure):
    """struct ls_err"""
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

# The arguments of every function that does not return an error code. All others take
# handles and structures by address and text as bytes, and end in a struct ls_err *.
_P, _S = ctypes.c_void_p, ctypes.c_char_p
_PLAIN: Dict[str, Tuple[Any, List[Any]]] = {
    "ls_version": (_S, []),
    "ls_numerics_version": (ctypes.c_int, []),
    "ls_free": (None, [_P]),
    "ls_options_free": (None, [_P]),
    "ls_dataset_free": (None, [_P]),
    "ls_dataset_describe": (None, [_P, _P]),
    "ls_metric_name": (_S, [ctypes.c_int]),
    "ls_metric_find": (ctypes.c_int, [_S]),
    "ls_model_free": (None, [_P]),
    "ls_model_outputs": (ctypes.c_uint32, [_P]),
    "ls_model_tensors": (ctypes.c_size_t, [_P]),
    "ls_comparison_free": (None, [_P]),
    "ls_comparison_answer": (ctypes.c_int, [_P]),
    "ls_digest_free": (None, [_P]),
    "ls_exact_op_list": (ctypes.c_int, [ctypes.c_size_t, _P]),
    "ls_exact_release": (None, []),
}
_CALLS: Dict[str, List[Any]] = {
    "ls_options_new": [_S, _P], "ls_options_set": [_P, _S, _S], "ls_options_check": [_P],
    "ls_options_describe": [_P, _P],
    "ls_dataset_load": [_S, _P, _P], "ls_dataset_from_csr": [_P, _P], "ls_dataset_digest": [_P, _P],
    "ls_model_train": [_P, _P, _P], "ls_model_load": [_S, _P], "ls_model_save": [_P, _S],
    "ls_model_load_state": [_S, _P], "ls_model_save_state": [_P, _S],
    "ls_model_digest": [_P, _P], "ls_model_info": [_P, _P], "ls_model_predict": [_P, _P, _P, _P],
    "ls_model_eval": [_P, _P, _P, _P], "ls_model_tensor_at": [_P, ctypes.c_size_t, _P],
    "ls_model_tensor_find": [_P, _S, _P],
    "ls_doctor": [_P, _P, _P, _P], "ls_spec_judge": [_S, _P, _P, _P], "ls_plan_judge": [_P, _P, _P],
    "ls_comparison_new": [_S, _S, _P, _P], "ls_comparison_report": [_P, _S, _P],
    "ls_digest_new": [_P], "ls_digest_add": [_P, _P], "ls_digest_final": [_P, _P], "ls_digest_file": [_S, _P],
    "ls_manifest_read": [_S, _P], "ls_manifest_explain": [_S, _S, _P, _P], "ls_manifest_record": [_P, _P],
    "ls_policy_describe": [ctypes.c_int, ctypes.c_uint64, _S, _P, _P],
    "ls_features_hash": [_S, _S, _P, ctypes.c_size_t, ctypes.c_uint64, ctypes.c_uint, _P],
    "ls_exact_op": [_S, _P, ctypes.c_size_t, _P, ctypes.c_size_t, _P],
    "ls_exact_op_scratch": [_S, _P, ctypes.c_size_t, _P, ctypes.c_size_t, _P, ctypes.POINTER(ctypes.c_size_t)],
}


def _places() -> List[str]:
    named = os.environ.get("LOCKSTEP_LIBRARY")
    if named:
        return [named]
    beside = os.path.join(_HERE, _NAME)
    return ([beside] if os.path.exists(beside) else []) + [_NAME]


def _open() -> Tuple[ctypes.CDLL, str]:
    faults = []
    for place in _places():
        try:
            return ctypes.CDLL(place), place
        except OSError as fault:
            faults.append(str(fault))
    raise LockstepError("liblockstep was not found (%s); set LOCKSTEP_LIBRARY to its path" % "; ".join(faults))


def _declare(lib: ctypes.CDLL) -> ctypes.CDLL:
    """What an older library lacks is an AttributeError where it is called."""
    for name, (result, arguments) in _PLAIN.items():
        if hasattr(lib, name):
            function = getattr(lib, name)
            function.restype, function.argtypes = result, arguments
    for name, arguments in _CALLS.items():
        if hasattr(lib, name):
            function = getattr(lib, name)
            function.restype, function.argtypes = ctypes.c_int, arguments + [_P]
    return lib


def library() -> ctypes.CDLL:
    """The loaded library; LockstepError where there is none."""
    if _state["library"] is None:
        with _lock:
            if _state["library"] is None:
                lib, path = _open()
                _state["path"] = path
                _state["library"] = _declare(lib)
    lib = _state["library"]
    assert isinstance(lib, ctypes.CDLL)
    return lib


def use(path: str) -> None:
    """The library that is to be loaded; before the first call of it."""
    if _state["library"] is None:
        os.environ.setdefault("LOCKSTEP_LIBRARY", path)


def path() -> str:
    library()
    return str(_state["path"])


def version() -> str:
    return text_of(library().ls_version())


def numerics_version() -> int:
    return int(library().ls_numerics_version())


def operations() -> Dict[str, Tuple[List[str], List[str]]]:
    """{name: (words for its tensors, words for its numbers)} of the exact operations."""
    lib, info = library(), Info()
    found: Dict[str, Tuple[List[str], List[str]]] = {}
    if not hasattr(lib, "ls_exact_op"):
        return found
    for index in itertools.count():
        if lib.ls_exact_op_list(index, ctypes.byref(info)) != 0:
            break
        found[text_of(info.name)] = text_of(info.tensors).split(), text_of(info.numbers).split()
    return found


# --- calls ---


def text_of(value: Optional[bytes]) -> str:
    return (value or b"").decode("utf-8", "replace")


def error(err: Err) -> LockstepError:
    """The exception for what a call left behind."""
    code = int(err.code)
    return _errors.get(code, LockstepError)(text_of(err.msg), code)


def call(name: str, *args: Any) -> None:
    """Calls a function that ends in a struct ls_err *; raises on failure."""
    err = Err()
    if getattr(library(), name)(*args, ctypes.byref(err)):
        raise error(err)


def call_text(name: str, *args: Any, answer: bool = False) -> Any:
    """The same for one whose last result is a char ** (and after it, with answer, an
    enum ls_answer *): the string, or (string, number)."""
    text, number = ctypes.c_void_p(), ctypes.c_int()
    call(name, *args, ctypes.byref(text), *([ctypes.byref(number)] if answer else []))
    taken = take_text(text)
    return (taken, number.value) if answer else taken


def call_hex(name: str, *args: Any) -> str:
    """The same for one whose last result is char ret_hex[65]."""
    digits = ctypes.create_string_buffer(65)
    call(name, *args, digits)
    return text_of(digits.value)


def take_text(pointer: ctypes.c_void_p) -> str:
    """A string that a call gave away, and frees it."""
    try:
        return text_of(ctypes.string_at(pointer)) if pointer else ""
    finally:
        library().ls_free(pointer)


def path_bytes(path: Union[str, bytes, "os.PathLike[Any]"]) -> bytes:
    return os.fsencode(path)


def strings(words: Optional[Sequence[str]]) -> Any:
    """char ** that ends with a NULL; None is NULL. It must outlive the call."""
    if words is None:
        return None
    return (ctypes.c_char_p * (len(words) + 1))(*[os.fsencode(w) for w in words], None)


class Handle:
    """An opaque object of the library. It is freed with this one, and not by a process that
    was forked from its owner. Calls take the handle itself, which lives as long as the call
    then; `address`, for structures, does not keep it alive."""

    def __init__(self, free: str) -> None:
        self.address = ctypes.c_void_p()
        self._free = free
        self._pid = os.getpid()

    @property
    def _as_parameter_(self) -> ctypes.c_void_p:
        return self.address

    @property
    def ret(self) -> Any:
        """Where a call puts it."""
        return ctypes.byref(self.address)

    def close(self) -> None:
        if self.address and self._pid == os.getpid():
            address, self.address = self.address, ctypes.c_void_p()
            getattr(library(), self._free)(address)

    def __del__(self) -> None:
        try:
            self.close()
        except Exception:  # the interpreter is ending
            pass

    def __reduce__(self) -> Any:
        raise TypeError("an object of liblockstep cannot be pickled")


Value = Union[None, bool, int, float, str, "os.PathLike[str]", Sequence[float], Sequence[str]]


def option_text(value: Value) -> Optional[str]:
    """A value as the command line has it. Numbers come back from it with every bit."""
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    if isinstance(value, (bool, int)) or value is None:
        return None if value is None else str(int(value))
    if hasattr(value, "tolist"):
        return option_text(value.tolist())
    if isinstance(value, float):
        return float.__repr__(value)  # numpy's says its type
    return ",".join(str(option_text(v)) for v in value)


class Options(Handle):
    """The options of a command, such as "fm train", by name: `_` stands for `-`. None leaves
    one out; True is an option without a value, and False leaves it out."""

    def __init__(self, command: str, values: Optional[Dict[str, Value]] = None) -> None:
        super().__init__("ls_options_free")
        call("ls_options_new", command.encode(), self.ret)
        for name, value in (values or {}).items():
            self.set(name, value)

    def set(self, name: str, value: Value) -> None:
        if value is None or value is False:
            return
        for one in [value] if not (name == "prefix" and isinstance(value, (list, tuple))) else value:
            text = None if one is True else option_text(one)
            call("ls_options_set", self, name.replace("_", "-").encode(),
                 None if text is None else os.fsencode(text))

    def check(self) -> None:
        call("ls_options_check", self)

    def describe(self) -> str:
        """JSON: [{"name", "value", "help"}, ...]"""
        return str(call_text("ls_options_describe", self))
