"""`lockstep.digest`: tensors in memory, digested as `lockstep compare --digest` digests
the file that they are saved to (docs/FORMATS.md, "The tensors' digest").

Names are paths, as in such a file: {"model": {"weight": t}} has the tensor "model.weight".
Values that are no tensors do not count. Objects that a file would take apart, and whose
names cannot be told here, are refused.
"""
import ctypes
import enum
import os
import sys
from typing import Any, Dict, Iterator, List, Optional, Tuple, Type, Union

from lockstep import _library


class _Tensor(ctypes.Structure):
    """struct ls_array_tensor"""
    _fields_ = [("name", ctypes.c_char_p), ("type", ctypes.c_char_p), ("dimensions", ctypes.c_int),
                ("shape", ctypes.c_void_p), ("stride", ctypes.c_void_p), ("data", ctypes.c_void_p)]


_MOST_DEPTH = 190  # the reader of files has a limit likewise
_VALUES: Tuple[Type[Any], ...] = (type(None), bool, int, float, complex, str, bytes, bytearray, type, range, enum.Enum,
                                  os.PathLike)
# objects of torch and numpy that are no tensors
_VALUE_NAMES = {("torch", "dtype"), ("torch", "device"), ("torch", "layout"), ("torch", "memory_format"),
                ("numpy", "dtype")}


def _is_tensor(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def _is_array(value: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic))


def _is_value(value: Any) -> bool:
    kind = type(value)
    named = any((c.__module__.split(".")[0], c.__name__.split("[")[0]) in _VALUE_NAMES for c in kind.__mro__)
    return isinstance(value, _VALUES) or named


def _key_text(key: Any, where: str) -> str:
    """As src/tensor/torch/torch_value.c writes a key."""
    if key is None or isinstance(key, (bool, int)):
        return str(key if key is None or isinstance(key, bool) else int(key))
    if isinstance(key, str):
        return key.replace("\0", "\\x00")
    raise TypeError("digest: a key of type %s at \"%s\": save the state to a file and use digest_file"
                    % (type(key).__name__, where))


def _children(value: Any, where: str) -> Optional[Iterator[Tuple[str, Any]]]:
    """(name, child) of a container, or None."""
    if isinstance(value, dict):
        return ((_key_text(k, where), v) for k, v in value.items())
    if isinstance(value, (list, tuple)):
        return ((str(i), v) for i, v in enumerate(value))
    return None


def leaves(state: Any) -> List[Tuple[str, Any]]:
    """[(name, tensor or array)] in the order of a walk, with the names of a file."""
    found: List[Tuple[str, Any]] = []

    def walk(value: Any, where: str, depth: int) -> None:
        if depth > _MOST_DEPTH:
            raise ValueError("digest: \"%.200s\": nested deeper than %d, or within itself" % (where, _MOST_DEPTH))
        if _is_tensor(value) or _is_array(value):
            found.append((where or "tensor", value))
            return
        inner = _children(value, where)
        if inner is not None:
            for name, child in inner:
                walk(child, "%s.%s" % (where, name) if where else name, depth + 1)
        elif not (_is_value(value) or isinstance(value, (set, frozenset))):
            raise TypeError("digest: \"%s\" is a %s: pass its state_dict(), or save it to a file and use digest_file"
                            % (where or "(top)", type(value).__name__))
    walk(state, "", 0)
    return _number_twins(found)


def _number_twins(found: List[Tuple[str, Any]]) -> List[Tuple[str, Any]]:
    """{"a": {"b": t}} and {"a.b": t} lead to one path: the later ones get a number."""
    times: Dict[str, int] = {}
    named = []
    for name, value in found:
        times[name] = times.get(name, 0) + 1
        named.append((name if times[name] == 1 else "%s#%d" % (name, times[name]), value))
    return named


def _numbers(values: Any) -> Any:
    return (ctypes.c_int64 * (len(values) or 1))(*values)


def _of_torch(name: str, t: Any) -> Tuple[str, Any, Any, int, Any]:
    torch = sys.modules["torch"]
    if t.layout != torch.strided or t.is_quantized or getattr(t, "is_nested", False):
        raise TypeError("digest: \"%s\" is no plain tensor (sparse, quantized or nested): save it to a file and use "
                        "digest_file" % name)
    if t.device.type == "meta":
        raise TypeError("digest: \"%s\" is on the meta device and has no values" % name)
    t = t.detach()
    full = getattr(t, "full_tensor", None)
    if full is not None:
        raise TypeError("digest: \"%s\" is a DTensor: pass its full_tensor()" % name)
    t = t.cpu().resolve_conj().resolve_neg()
    return str(t.dtype)[len("torch."):], t.shape, [s * t.element_size() for s in t.stride()], t.data_ptr(), t


def _of_numpy(name: str, value: Any) -> Tuple[str, Any, Any, int, Any]:
    numpy = sys.modules["numpy"]
    array = numpy.asarray(value)
    if array.dtype.kind not in "biufc" or array.dtype.itemsize > (16 if array.dtype.kind == "c" else 8):
        raise TypeError("digest: \"%s\" is an array of %s, which has no type of PyTorch's" % (name, array.dtype))
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if any(s < 0 for s in array.strides):
        array = numpy.array(array, order="C")
    return array.dtype.name, array.shape, array.strides, array.ctypes.data, array


def digest(state: Any) -> str:
    """The digest of a state: tensors of PyTorch on any device, arrays of numpy, and
    dicts, lists and tuples of them. 64 hexadecimal digits, the same as `lockstep compare
    --digest` prints for the file that torch.save, safetensors or numpy.savez makes of
    it."""
    if hasattr(state, "state_dict") and not isinstance(state, dict):
        state = state.state_dict()
    handle = _library.Handle("ls_digest_free")
    _library.call("ls_digest_new", handle.ret)
    for name, value in leaves(state):
        kind, shape, stride, data, keep = (_of_torch if _is_tensor(value) else _of_numpy)(name, value)
        sizes, steps = _numbers(shape), _numbers(stride)
        one = _Tensor(name.encode("utf-8", "surrogateescape"), kind.encode(), len(shape), ctypes.addressof(sizes),
                      ctypes.addressof(steps), data or None)
        _library.call("ls_digest_add", handle.address, ctypes.byref(one))
        del keep
    return _library.call_hex("ls_digest_final", handle.address)


def digest_file(path: "Union[str, os.PathLike[str]]") -> str:
    """The same of a file: what `lockstep compare --digest` prints for it."""
    return _library.call_hex("ls_digest_file", os.fsencode(path))
