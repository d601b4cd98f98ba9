"""Values of a program, compared to the last bit: tensors of PyTorch, arrays of numpy and
JAX, numbers, text, and dicts, lists and tuples of them. A snapshot is a copy, so that what
the program changes in place later is not compared with itself.
"""
import struct
import sys
from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, Optional, Tuple


@dataclass(frozen=True)
class Leaf:
    """kind: "tensor", "array", or a type of Python; data: bytes for comparing."""

    name: str
    kind: str
    dtype: str
    shape: Tuple[int, ...]
    data: bytes
    item: int  # bytes of an element


@dataclass(frozen=True)
class Difference:
    """The first one. index, a and b are None where there are no elements to compare."""

    name: str
    what: str
    index: Optional[Tuple[int, ...]] = None
    a: Optional[str] = None
    b: Optional[str] = None

    def __str__(self) -> str:
        return self.what


def _of_torch(name: str, t: Any) -> Leaf:
    torch = sys.modules["torch"]
    if t.layout != torch.strided or t.is_quantized or t.device.type == "meta":
        raise TypeError("%s: a tensor without plain values (sparse, quantized or meta) cannot be compared bit by bit" % name)
    t = t.detach().cpu().resolve_conj().resolve_neg().contiguous()
    bits = t.reshape(-1).view(torch.uint8).numpy().tobytes() if t.numel() else b""
    return Leaf(name, "tensor", str(t.dtype), tuple(t.shape), bits, t.element_size())


def _of_array(name: str, value: Any) -> Leaf:
    numpy = sys.modules["numpy"]
    array = numpy.asarray(value)
    if array.dtype.hasobject:
        raise TypeError("%s: an array of Python objects cannot be compared bit by bit" % name)
    return Leaf(name, "array", str(array.dtype), tuple(array.shape), array.tobytes(), array.dtype.itemsize)


def _of_scalar(name: str, value: Any) -> Optional[Leaf]:
    kind = type(value).__name__
    if isinstance(value, float):
        return Leaf(name, kind, kind, (), struct.pack("=d", value), 8)
    if isinstance(value, complex):
        return Leaf(name, kind, kind, (), struct.pack("=dd", value.real, value.imag), 16)
    if isinstance(value, (bool, int, str)):
        return Leaf(name, kind, kind, (), str(value).encode("utf-8", "surrogatepass"), 0)
    if isinstance(value, (bytes, bytearray)):
        return Leaf(name, kind, kind, (), bytes(value), 0)
    return None


def _is_a(value: Any, module: str, *names: str) -> bool:
    loaded = sys.modules.get(module)
    return loaded is not None and any(isinstance(value, getattr(loaded, n)) for n in names)


def _leaf(name: str, value: Any) -> Optional[Leaf]:
    if _is_a(value, "torch", "Tensor"):
        return _of_torch(name, value)
    if _is_a(value, "numpy", "ndarray", "generic") or _is_a(value, "jax", "Array"):
        return _of_array(name, value)
    return _of_scalar(name, value)


def _children(value: Any) -> Optional[Iterator[Tuple[str, Any]]]:
    if isinstance(value, dict):
        return ((str(k), v) for k, v in value.items())
    if isinstance(value, (list, tuple)):
        return ((str(i), v) for i, v in enumerate(value))
    if hasattr(value, "state_dict"):
        return ((str(k), v) for k, v in value.state_dict().items())
    if hasattr(value, "__dataclass_fields__"):
        return ((n, getattr(value, n)) for n in value.__dataclass_fields__)
    return None


def snapshot(value: Any, name: str = "") -> List[Leaf]:
    """All that can be compared, in order. TypeError for what cannot."""
    if value is None:
        return []
    leaf = _leaf(name or "result", value)
    if leaf is not None:
        return [leaf]
    inner = _children(value)
    if inner is None:
        raise TypeError("%s: a %s cannot be compared bit by bit: return tensors, arrays, numbers, or dicts and lists of them"
                        % (name or "result", type(value).__name__))
    return [leaf for key, child in inner for leaf in snapshot(child, "%s.%s" % (name, key) if name else key)]


# --- differences ---


def _index_text(index: Tuple[int, ...]) -> str:
    return "[%s]" % ", ".join(map(str, index))


def _unravel(flat: int, shape: Tuple[int, ...]) -> Tuple[int, ...]:
    index: List[int] = []
    for size in reversed(shape):
        index.insert(0, flat % size)
        flat //= size
    return tuple(index)


def _element_text(leaf: Leaf, flat: int) -> str:
    """The value and its bits, as a number of the machine."""
    raw = leaf.data[flat * leaf.item:(flat + 1) * leaf.item]
    bits = "0x%0*x" % (2 * leaf.item, int.from_bytes(raw, sys.byteorder))
    if leaf.kind == "tensor":
        torch = sys.modules["torch"]
        dtype = getattr(torch, leaf.dtype[len("torch."):])
        value = torch.frombuffer(bytearray(raw), dtype=torch.uint8).view(dtype)[0]
        return "%r (%s)" % (value.item(), bits)
    if leaf.kind == "array":
        return "%s (%s)" % (sys.modules["numpy"].frombuffer(raw, leaf.dtype)[0], bits)
    if leaf.kind == "float":
        return "%r (%s)" % (struct.unpack("=d", raw)[0], bits)
    return bits


def _compare_elements(a: Leaf, b: Leaf) -> Tuple[int, int]:
    """The first that differs, and how many do."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        places = [i for i in range(len(a.data) // a.item) if a.data[i * a.item:(i + 1) * a.item] != b.data[i * a.item:(i + 1) * a.item]]
    else:
        one, other = (numpy.frombuffer(leaf.data, "u1").reshape(-1, leaf.item) for leaf in (a, b))
        places = (one != other).any(axis=1).nonzero()[0]
    return int(places[0]), len(places)


def _elements(a: Leaf, b: Leaf) -> Difference:
    if not a.item:
        texts = [leaf.data.decode("utf-8", "replace")[:200] for leaf in (a, b)]
        return Difference(a.name, "%s differs: %r and %r" % (a.name, *texts), None, *texts)
    count = len(a.data) // a.item
    first, differing = _compare_elements(a, b)
    index = _unravel(first, a.shape)
    texts = [_element_text(leaf, first) for leaf in (a, b)]
    place = a.name + (_index_text(index) if a.shape else "")
    return Difference(a.name, "%s: %s and %s; %s of %s elements of %s %s differ"
                      % (place, *texts, differing, count, a.dtype, list(a.shape)), index, *texts)


def _differ(a: Leaf, b: Leaf) -> Optional[Difference]:
    for what, one, other in (("kind", a.kind, b.kind), ("type", a.dtype, b.dtype), ("shape", str(list(a.shape)), str(list(b.shape)))):
        if one != other:
            return Difference(a.name, "%s: its %s is %s and %s" % (a.name, what, one, other))
    return None if a.data == b.data else _elements(a, b)


def _by_name(leaves: List[Leaf]) -> Dict[str, Leaf]:
    found: Dict[str, Leaf] = {}
    for leaf in leaves:
        name, n = leaf.name, 1
        while name in found:
            n += 1
            name = "%s#%d" % (leaf.name, n)
        found[name] = leaf
    return found


def first_difference(a: List[Leaf], b: List[Leaf]) -> Optional[Difference]:
    """Between two snapshots; None where every bit is the same."""
    one, other = _by_name(a), _by_name(b)
    for name, leaf in one.items():
        if name not in other:
            return Difference(name, "%s is in one result and not in the other" % name)
        found = _differ(leaf, other[name])
        if found is not None:
            return found
    for name in other:
        if name not in one:
            return Difference(name, "%s is in one result and not in the other" % name)
    return None
