"""Sums, means, variances and norms over any dimensions, and softmax along one."""
import math

import torch
from lockstep.torch._call import FLOATS, TYPES, Outside, call


def kept(x, dims):
    """The shape with size 1 in the dimensions that are reduced; none given: all."""
    at = {d % max(1, x.dim()) for d in dims} if dims else set(range(x.dim()))
    return [1 if d in at else n for d, n in enumerate(x.shape)], at


def _shape(x, dims, keepdim):
    shape, at = kept(x, dims)
    return shape, shape if keepdim else [n for d, n in enumerate(x.shape) if d not in at]


def _is_wrong(x, dims):
    """Dimensions that are not there, or twice: torch refuses them by its own sentence."""
    n = max(1, x.dim())
    return bool(dims) and (not all(-n <= d < n for d in dims) or len({d % n for d in dims}) < len(dims))


def _type(x, dtype):
    kind = dtype or x.dtype
    if kind not in FLOATS or x.dtype not in TYPES or x.dtype is torch.float64:
        raise Outside(str(x.dtype if x.dtype not in FLOATS else kind)[6:])
    return kind


def reduce(word, x, dims, keepdim, dtype, numbers=(), out=None, results=1):
    kind = _type(x, dtype)
    if not x.numel() or _is_wrong(x, dims):
        return NotImplemented
    if not x.is_floating_point():
        x = x.to(kind)
    shape, final = _shape(x, dims, keepdim)
    made = [torch.empty(shape, dtype=kind, device=x.device) for _ in range(results)]
    call(word, (x, *made), numbers)
    made = [t.reshape(final) for t in made]
    if out is not None:
        if out.dtype != kind:
            raise Outside("out has another type")
        made[0] = out.resize_(final).copy_(made[0])
    return made[0] if results == 1 else tuple(made)


def sum_dim(x, dim=None, keepdim=False, dtype=None, out=None):
    if not (dtype or x.dtype).is_floating_point and not x.is_complex() and not x.is_floating_point():
        return NotImplemented
    return reduce("sum", x, dim, keepdim, dtype, (), out)


def mean_dim(x, dim=None, keepdim=False, dtype=None, out=None):
    if not (dtype or x.dtype).is_floating_point:
        return NotImplemented  # torch says that it cannot be
    return reduce("mean", x, dim, keepdim, dtype, (), out)


def _correction(value):
    return (1 if value is None else value,)


def var(x, dim=None, correction=None, keepdim=False, out=None):
    return reduce("var", x, dim, keepdim, None, _correction(correction), out)


def var_mean(x, dim=None, correction=None, keepdim=False):
    return reduce("var", x, dim, keepdim, None, _correction(correction), None, 2)


def std(x, dim=None, correction=None, keepdim=False, out=None):
    return reduce("std", x, dim, keepdim, None, _correction(correction), out)


def std_mean(x, dim=None, correction=None, keepdim=False):
    return reduce("std", x, dim, keepdim, None, _correction(correction), None, 2)


_NORMS = {1: "norm1", 2: "norm2", math.inf: "norm_inf"}


def vector_norm(x, ord=2, dim=None, keepdim=False, dtype=None, out=None):
    if ord not in _NORMS:
        raise Outside("the norm of order %s" % ord)
    return reduce(_NORMS[ord], x, dim, keepdim, dtype, (), out)


def foreach_norm(tensors, ord=2, dtype=None):
    if ord not in _NORMS or any(t.dtype not in FLOATS or not t.numel() for t in tensors):
        raise Outside("the norm of order %s" % ord)
    return [vector_norm(t, ord, None, False, dtype) for t in tensors]


# --- along one dimension ---

def along(word, inputs, dim, kind, out):
    """The operation of rows on dimension dim."""
    x = inputs[0]
    if any(t.dtype not in FLOATS for t in inputs) or kind not in FLOATS:
        raise Outside(str(kind)[6:])
    if not x.numel() or not x.dim():
        return NotImplemented
    made = torch.empty(x.shape, dtype=kind, device=x.device)
    call(word, (*(t.contiguous().movedim(dim, -1) for t in inputs), made.movedim(dim, -1)))
    return made if out is None else out.resize_(x.shape).copy_(made)


def softmax(x, dim, half_to_float=False, out=None):
    return along("softmax", (x,), dim, torch.float32 if half_to_float else x.dtype, out)


def log_softmax(x, dim, half_to_float=False, out=None):
    return along("log_softmax", (x,), dim, torch.float32 if half_to_float else x.dtype, out)


def softmax_back(grad, y, dim, input_dtype, grad_input=None):
    return along("softmax_back", (grad, y), dim, input_dtype, grad_input)


def log_softmax_back(grad, y, dim, input_dtype, out=None):
    return along("log_softmax_back", (grad, y), dim, input_dtype, out)


def cumsum(x, dim, dtype=None, out=None):
    if not (dtype or x.dtype).is_floating_point:
        return NotImplemented
    return along("cumsum", (x,), dim, dtype or x.dtype, out)


def cumsum_(x, dim, dtype=None):
    return cumsum(x, dim, dtype, x)


KERNELS = {
    "cumsum": ("cumsum", cumsum), "cumsum_": ("cumsum", cumsum_), "cumsum.out": ("cumsum", cumsum),
    "sum.dim_IntList": ("sum", sum_dim), "sum.IntList_out": ("sum", sum_dim),
    "mean.dim": ("mean", mean_dim), "mean.out": ("mean", mean_dim),
    "var.correction": ("var", var), "var.correction_out": ("var", var), "var_mean.correction": ("var", var_mean),
    "std.correction": ("std", std), "std.correction_out": ("std", std), "std_mean.correction": ("std", std_mean),
    "linalg_vector_norm": ("norm1 norm2 norm_inf", vector_norm),
    "linalg_vector_norm.out": ("norm1 norm2 norm_inf", vector_norm),
    "_foreach_norm.Scalar": ("norm1 norm2 norm_inf", foreach_norm),
    "_softmax": ("softmax", softmax), "_softmax.out": ("softmax", softmax),
    "_log_softmax": ("log_softmax", log_softmax), "_log_softmax.out": ("log_softmax", log_softmax),
    "_softmax_backward_data": ("softmax_back", softmax_back),
    "_softmax_backward_data.out": ("softmax_back", softmax_back),
    "_log_softmax_backward_data": ("log_softmax_back", log_softmax_back),
    "_log_softmax_backward_data.out": ("log_softmax_back", log_softmax_back),
}
