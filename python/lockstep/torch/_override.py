"""Replaces aten's kernels.

Each leaf operation whose bits could depend on the device gets a Python kernel at the
dispatch key BackendSelect. That key is directly above the kernels of all devices, below
autograd and autocast, and on in every thread; from there torch's own kernel can still be
reached, for a call that the contract does not cover. Operations that are right as they
are (_tables.py) keep torch's kernels and cost nothing.
"""
import warnings

import torch
from lockstep.torch import _autocast, _counts, _tables
from lockstep.torch._call import _BELOW, Outside

_DEVICES = ("cpu", "cuda")
_state = {"strict": False, "library": None}


def _tensors(values):
    for v in values:
        if isinstance(v, torch.Tensor):
            yield v
        elif isinstance(v, (list, tuple)):
            yield from _tensors(v)


def all_tensors(args, kwargs):
    return list(_tensors(args)) + list(_tensors(kwargs.values()))


def _as_tensor(number, tensors):
    """A Python number that stands in a tensor's place, of a type that promotes no other:
    torch hands it over without the mark that says so."""
    for t in tensors:
        if t.dim() == 0:
            return torch.scalar_tensor(number, dtype=torch.result_type(t, number))
    kind = torch.bool if isinstance(number, bool) else torch.int64 if isinstance(number, int) else \
        torch.float64 if isinstance(number, float) else torch.complex128
    if kind is torch.float64 and not any(t.is_floating_point() or t.is_complex() for t in tensors):
        kind = torch.get_default_dtype()
    return torch.scalar_tensor(number, dtype=kind)


def _tensor_places(op):
    return [n for n, a in enumerate(op._schema.arguments) if isinstance(a.type, torch._C.TensorType)]


def torchs_own(op, places, args, kwargs):
    """The kernel that torch has for these tensors. places: the arguments of op that are
    tensors by its schema."""
    keys = None
    for v in args:
        if isinstance(v, torch.Tensor):
            own = torch._C._dispatch_keys(v)
            keys = own if keys is None else keys | own
    if keys is None or kwargs or any(isinstance(v, (list, tuple)) for v in args):
        for t in all_tensors(args, kwargs):
            own = torch._C._dispatch_keys(t)
            keys = own if keys is None else keys | own
    if keys is None:
        keys = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)
    keys = keys | torch._C._dispatch_tls_local_include_set()  # names a fake tensor's kernels
    numbers = [n for n in places if n < len(args) and isinstance(args[n], (int, float, complex))]
    if numbers:
        args, tensors = list(args), all_tensors(args, kwargs)
        for n in numbers:
            args[n] = _as_tensor(args[n], tensors)
    return op.redispatch(keys & _BELOW, *args, **kwargs)


def _why_outside(tensors):
    """The reason why no exact kernel can take these tensors; None: they are no numbers of
    a device, or whole numbers, which have no rounding; "": nothing against them."""
    floats = False
    for t in tensors:
        if t.device.type not in _DEVICES:
            return None
        if t.layout is not torch.strided:
            return "a sparse tensor"
        if t.is_complex():
            return "complex numbers"
        floats = floats or t.is_floating_point()
    return "" if floats else None


def _floats(result):
    parts = result if isinstance(result, (list, tuple)) else [result]
    return any(t.is_floating_point() or t.is_complex() for t in parts if isinstance(t, torch.Tensor))


def _outside(op, places, name, reason, args, kwargs):
    why = _why_outside(all_tensors(args, kwargs))
    if why is not None:
        _counts.note_outside(name, why or reason, _state["strict"])
    return torchs_own(op, places, args, kwargs)


def exact_kernel(op, name, make):
    """make(*args) computes it exactly, or raises Outside, or gives NotImplemented where
    torch's own kernel is right."""
    cell, places = _counts.cell(name), _tensor_places(op)

    def kernel(*args, **kwargs):
        try:
            result = make(*args, **kwargs)
        except Outside as reason:
            return _outside(op, places, name, str(reason), args, kwargs)
        if result is NotImplemented:
            return torchs_own(op, places, args, kwargs)
        cell[0] += 1
        return result
    return kernel


def outside_kernel(op, name):
    """An operation that has no exact kernel: it is counted, unless all its numbers are
    whole ones."""
    places = _tensor_places(op)

    def kernel(*args, **kwargs):
        why = _why_outside(all_tensors(args, kwargs))
        if why is not None:
            _counts.note_outside(name, why or "no exact kernel", _state["strict"])
            return torchs_own(op, places, args, kwargs)
        result = torchs_own(op, places, args, kwargs)
        if _floats(result) and _is_here(result):
            _counts.note_outside(name, "no exact kernel", _state["strict"])
        return result
    return kernel


def _is_here(result):
    return all(t.device.type in _DEVICES for t in _tensors(result if isinstance(result, (list, tuple)) else [result]))


def _overload(full):
    """torch.ops.aten.add.Tensor of "aten::add.Tensor"; None where torch lists an operation
    that Python cannot call."""
    space, rest = full.split("::")
    base, _, overload = rest.partition(".")
    try:
        return getattr(getattr(getattr(torch.ops, space), base), overload or "default")
    except AttributeError:
        return None


def leaves(ours):
    """Names of aten's operations with a kernel for a device, and of those in ours."""
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    for full in torch._C._dispatch_get_all_op_names():
        name = full[6:]
        if not full.startswith("aten::") or has(full, "BackendSelect"):
            continue
        if has(full, "CPU") or has(full, "CUDA") or name in ours or name.split(".")[0] in _tables.LEAVES:
            yield full


def register(strict):
    """Once a process; called again it changes only `strict`."""
    _state["strict"] = strict
    if _state["library"] is not None:
        return
    made = torch.library.Library("aten", "IMPL")
    kernels = _tables.kernels()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for full in leaves(kernels):
            name = full[6:]
            make, op = kernels.get(name), _overload(full)
            if op is None or (make is None and _tables.is_right(name)):
                continue
            kernel = exact_kernel(op, name, make) if make else outside_kernel(op, name)
            made.impl(name, kernel, "BackendSelect")
        _autocast.register()
    _state["library"] = made


def is_strict():
    return _state["strict"]


def is_registered():
    return _state["library"] is not None
