"""Products of matrices and vectors: aten's mm, bmm, addmm and their like by the operation
"mm", whose sums are exact.
"""
import torch
from lockstep.torch._call import FLOATS, Outside, call

_FINE, _COARSE = 22, 15  # bits of the grids: float32, half precisions


def take_out(out, shape, dtype):
    """Where a result goes: a new tensor, or the caller's, resized as torch does it."""
    if out is None:
        raise TypeError("take_out without a tensor")
    if out.dtype != dtype:
        raise Outside("out has another type")
    if tuple(out.shape) != tuple(shape):
        out.resize_(shape)
    return out


def _product(a, b, shape, out, c=None, alpha=1, beta=1):
    """out = alpha (a b) + beta c; c is broadcast."""
    dtype = a.dtype
    if dtype not in FLOATS or b.dtype != dtype:
        if not a.is_floating_point() and not a.is_complex():
            return NotImplemented
        raise Outside("a product of " + str(dtype)[6:])
    if any(t is not None and t.layout is not torch.strided for t in (a, b, c, out)):
        raise Outside("a sparse tensor")
    if a.shape[-1] != b.shape[-2]:
        return NotImplemented  # torch says what is wrong
    if a.shape[-1] > 1 << 20:
        raise Outside("a sum of %d terms" % a.shape[-1])
    if c is not None:
        if c.dtype != dtype:
            return NotImplemented
        c = c.expand(shape) if beta != 0 else None
    alone = out is None or (out.data_ptr() in (a.data_ptr(), b.data_ptr()) and out.numel())
    made = torch.empty(shape, dtype=dtype, device=a.device) if alone else take_out(out, shape, dtype)
    grid = _FINE if dtype is torch.float32 else _COARSE
    if made.numel():
        call("mm", (a, b, made) if c is None else (a, b, made, c), (alpha, beta, grid))
    if out is None or made is out:
        return made
    return out.resize_(shape).copy_(made)


def mm(a, b, out=None):
    if a.dim() != 2 or b.dim() != 2:
        return NotImplemented
    return _product(a, b, (a.shape[0], b.shape[1]), out)


def bmm(a, b, out=None):
    if a.dim() != 3 or b.dim() != 3 or a.shape[0] != b.shape[0]:
        return NotImplemented
    return _product(a, b, (a.shape[0], a.shape[1], b.shape[2]), out)


def addmm(c, a, b, beta=1, alpha=1, out=None):
    if a.dim() != 2 or b.dim() != 2:
        return NotImplemented
    return _product(a, b, (a.shape[0], b.shape[1]), out, c, alpha, beta)


def addmm_(c, a, b, beta=1, alpha=1):
    return addmm(c, a, b, beta, alpha, c)


def baddbmm(c, a, b, beta=1, alpha=1, out=None):
    if a.dim() != 3 or b.dim() != 3 or a.shape[0] != b.shape[0]:
        return NotImplemented
    return _product(a, b, (a.shape[0], a.shape[1], b.shape[2]), out, c, alpha, beta)


def baddbmm_(c, a, b, beta=1, alpha=1):
    return baddbmm(c, a, b, beta, alpha, c)


def _columns(out):
    return None if out is None else out.unsqueeze(1)


def addmv(c, a, v, beta=1, alpha=1, out=None):
    if a.dim() != 2 or v.dim() != 1:
        return NotImplemented
    if out is not None and out.shape != a.shape[:1]:
        out.resize_(a.shape[0])
    c = c.expand(a.shape[0]).unsqueeze(1)
    made = _product(a, v.unsqueeze(1), (a.shape[0], 1), _columns(out), c, alpha, beta)
    return made if made is NotImplemented else made.squeeze(1) if out is None else out


def addmv_(c, a, v, beta=1, alpha=1):
    return addmv(c, a, v, beta, alpha, c)


def dot(a, b):
    if a.dim() != 1 or b.dim() != 1:
        return NotImplemented
    made = _product(a.unsqueeze(0), b.unsqueeze(1), (1, 1), None)
    return made if made is NotImplemented else made.reshape(())


# aten's name -> (the exact operation, the function that calls it)
KERNELS = {
    "mm": ("mm", mm), "mm.out": ("mm", mm), "bmm": ("mm", bmm), "bmm.out": ("mm", bmm),
    "addmm": ("mm", addmm), "addmm_": ("mm", addmm_), "addmm.out": ("mm", addmm),
    "baddbmm": ("mm", baddbmm), "baddbmm_": ("mm", baddbmm_), "baddbmm.out": ("mm", baddbmm),
    "addmv": ("mm", addmv), "addmv_": ("mm", addmv_), "addmv.out": ("mm", addmv),
    "dot": ("mm", dot), "vdot": ("mm", dot),
}
