"""Interpolation and padding, one dimension after the other, in float32. An element of the
result is a weighted sum of a few of the input, in a written order; the gradient is a sum
without an order. Which elements with which weights is worked out on the CPU for every
device.
"""
import functools
import math

import torch
from lockstep.torch._call import FLOATS, Outside
from lockstep.torch._indexing import index_add

_CUBIC = -0.75


@functools.lru_cache(maxsize=256)
def _on(device, kind, values):
    return torch.tensor(values, dtype=kind).to(device)


def _index(values, x):
    return _on(x.device, torch.int64, tuple(values))


def _weights(values, x, dim):
    return _on(x.device, torch.float32, tuple(values)).view([-1] + [1] * (x.dim() - 1 - dim))


def spread(x, dim, source, target, size, weights=None):
    """out[target[i]] += x[source[i]] * weights[i] along a dimension of `size`."""
    picked = x.index_select(dim, _index(source, x))
    if weights is not None:
        picked = picked * _weights(weights, x, dim)
    shape = list(x.shape)
    shape[dim] = size
    return index_add(torch.zeros(shape, dtype=x.dtype, device=x.device), dim, _index(target, x), picked)


def _check(dims, x):
    if x.dtype not in FLOATS:
        raise Outside("resizing of " + str(x.dtype)[6:])
    return x.dim() == dims + 2 and x.numel() > 0


# --- which elements with which weights: a list of pairs for each place of the result ---

def _scale(size, out, align, scale):
    if align:
        return (size - 1) / (out - 1) if out > 1 else 0.0
    return 1.0 / scale if scale else size / out


def _at(i, scale, align):
    return i * scale if align else (i + 0.5) * scale - 0.5


@functools.lru_cache(maxsize=256)
def _linear(size, out, align, scale):
    step, found = _scale(size, out, align, scale), []
    for i in range(out):
        at = max(0.0, _at(i, step, align))
        low = min(int(at), size - 1)
        part = min(max(at - low, 0.0), 1.0)
        found.append(((low, 1.0 - part), (min(low + 1, size - 1), part)))
    return tuple(found)


@functools.lru_cache(maxsize=256)
def _cubic(size, out, align, scale):
    step, found, a = _scale(size, out, align, scale), [], _CUBIC

    def near(t):
        return ((a + 2) * t - (a + 3)) * t * t + 1

    def far(t):
        return ((a * t - 5 * a) * t + 8 * a) * t - 4 * a
    for i in range(out):
        at = _at(i, step, align)
        low = math.floor(at)
        t = at - low
        weights = (far(t + 1), near(t), near(1 - t), far(2 - t))
        found.append(tuple((min(max(low - 1 + k, 0), size - 1), w) for k, w in enumerate(weights)))
    return tuple(found)


def _interpolate(table, dims, x, output_size, align, scales):
    out = [int(n) for n in output_size]
    if not _check(dims, x) or min(out) < 1:
        return NotImplemented
    y = x.float()
    for d in range(dims):
        rows = table(y.shape[2 + d], out[d], bool(align), scales[d])
        parts = []
        for column in zip(*rows):
            picked = y.index_select(2 + d, _index([c[0] for c in column], y))
            parts.append(picked * _weights([c[1] for c in column], y, 2 + d))
        y = functools.reduce(torch.add, parts)
    return y.to(x.dtype)


def _interpolate_back(table, dims, grad, output_size, input_size, align, scales):
    if not _check(dims, grad):
        return NotImplemented
    g = grad.float()
    for d in reversed(range(dims)):
        size = int(input_size[2 + d])
        rows = table(size, g.shape[2 + d], bool(align), scales[d])
        terms = [(i, at, w) for i, row in enumerate(rows) for at, w in row]
        g = spread(g, 2 + d, *([t[k] for t in terms] for k in (0, 1)), size, [t[2] for t in terms])
    return g.to(grad.dtype)


def _forward(table, dims):
    def make(x, output_size, align, *scales, **named):
        scales = list(scales) + list(named.values())
        return _interpolate(table, dims, x, output_size, align, (scales + [None] * dims)[:dims])
    return make


def _backward(table, dims):
    def make(grad, output_size, input_size, align, *scales, **named):
        scales = list(scales) + list(named.values())
        return _interpolate_back(table, dims, grad, output_size, input_size, align, (scales + [None] * dims)[:dims])
    return make


# --- copies of elements: torch's own forward says of which ---

def _copies(op, size, *args):
    """What each place of the result is a copy of, along one dimension of `size`."""
    return tuple(int(n) for n in op(torch.arange(size, dtype=torch.float64).view(1, 1, -1), *args).view(-1).tolist())


_copies = functools.lru_cache(maxsize=256)(_copies)


def _copies_back(grad, dim, found, size):
    return spread(grad, dim, range(len(found)), found, size)


def _nearest_back(op, dims):
    def make(grad, output_size, input_size, *scales, **named):
        if not _check(dims, grad):
            return NotImplemented
        scales = (list(scales) + list(named.values()) + [None] * dims)[:dims]
        g = grad.float()
        for d in reversed(range(dims)):
            size = int(input_size[2 + d])
            g = _copies_back(g, 2 + d, _copies(op, size, (g.shape[2 + d],), scales[d]), size)
        return g.to(grad.dtype)
    return make


def _pad_back(op, dims):
    def make(grad, x, padding):
        if grad.dtype not in FLOATS:
            raise Outside("padding of " + str(grad.dtype)[6:])
        if not grad.numel() or grad.dim() != x.dim() or len(padding) != 2 * dims:
            return NotImplemented
        g = grad.float()
        for d in range(dims):  # the last dimension has the first pair
            at, pair = x.dim() - 1 - d, tuple(int(n) for n in padding[2 * d:2 * d + 2])
            g = _copies_back(g, at, _copies(op, x.shape[at], pair), x.shape[at])
        return g.to(grad.dtype)
    return make


KERNELS = {}
for _name, _table, _dims in (("linear1d", _linear, 1), ("bilinear2d", _linear, 2), ("trilinear3d", _linear, 3),
                             ("bicubic2d", _cubic, 2)):
    KERNELS["upsample_" + _name] = ("index_add", _forward(_table, _dims))
    KERNELS["upsample_%s_backward" % _name] = ("index_add", _backward(_table, _dims))
for _dims in (1, 2, 3):
    for _name in ("upsample_nearest", "_upsample_nearest_exact"):
        KERNELS["%s%dd_backward" % (_name, _dims)] = ("index_add", _nearest_back(getattr(torch.ops.aten, _name + "1d"), _dims))
    for _name in ("reflection_pad", "replication_pad"):
        KERNELS["%s%dd_backward" % (_name, _dims)] = ("index_add", _pad_back(getattr(torch.ops.aten, _name + "1d"), _dims))
