"""Pooling. A mean of a window is a sum without an order, divided; the gradient of a maximum
is a sum over the windows that have it. Forward, a maximum is torch's own.
"""
import math

import torch
from lockstep.torch._call import FLOATS, Outside, call, torchs
from lockstep.torch._reductions import reduce
from lockstep.torch._resize import spread


def _each(value, dims, otherwise=None):
    value = [int(n) for n in value] if len(value) else list(otherwise)
    return value * dims if len(value) == 1 else value


def _check(dims, *tensors):
    for t in tensors:
        if t.dtype not in FLOATS:
            raise Outside("pooling of " + str(t.dtype)[6:])
    return all(t.dim() in (dims + 1, dims + 2) and t.numel() for t in tensors)


# --- means ---

class _Window:
    def __init__(self, dims, size, kernel, stride, padding, ceil, include, divisor):
        self.dims, self.size = dims, list(size)
        self.kernel = _each(kernel, dims)
        self.stride, self.padding = _each(stride, dims, self.kernel), _each(padding, dims)
        self.include, self.divisor = include, divisor
        self.out = [self._places(d, ceil) for d in range(dims)]

    def _places(self, d, ceil):
        n, k, s, p = self.size[d], self.kernel[d], self.stride[d], self.padding[d]
        out = (n + 2 * p - k + (s - 1 if ceil else 0)) // s + 1
        return out - 1 if ceil and (out - 1) * s >= n + p else out

    def count(self, d):
        """How many elements the windows of a dimension have."""
        n, p, found = self.size[d], self.padding[d], []
        for i in range(self.out[d]):
            begin = i * self.stride[d] - p
            end = min(begin + self.kernel[d], n + p)
            found.append(end - begin if self.include else min(end, n) - max(begin, 0))
        return found

    def divide(self, x):
        if self.divisor is not None:
            return x / self.divisor
        counts = [self.count(d) for d in range(self.dims)]
        if all(len(set(c)) == 1 for c in counts):
            return x / math.prod(c[0] for c in counts)
        number = torch.ones((), dtype=torch.float32)
        for c in counts:
            number = number.unsqueeze(-1) * torch.tensor(c, dtype=torch.float32)
        return x / number.to(x.device)


def _sum(view, dims):
    """Over the last dimensions, to float32."""
    return reduce("sum", view, list(range(view.dim() - dims, view.dim())), False, torch.float32)


def avg_pool(dims, x, kernel, stride=(), padding=0, ceil=False, include=True, divisor=None):
    padding = [padding] if isinstance(padding, int) else padding
    if not _check(dims, x) or divisor == 0:
        return NotImplemented
    w = _Window(dims, x.shape[x.dim() - dims:], kernel, stride, padding, ceil, include, divisor)
    if min(w.out) < 1 or any(2 * p > k for p, k in zip(w.padding, w.kernel)):
        return NotImplemented
    ends = []
    for d in reversed(range(dims)):
        last = (w.out[d] - 1) * w.stride[d] + w.kernel[d]
        ends += [w.padding[d], max(0, last - w.size[d] - w.padding[d])]
    view = torch.constant_pad_nd(x, ends) if any(ends) else x
    for d in range(dims):
        view = view.unfold(x.dim() - dims + d, w.kernel[d], w.stride[d]).narrow(x.dim() - dims + d, 0, w.out[d])
    return w.divide(_sum(view, dims)).to(x.dtype)


def _stuffed(g, w):
    """The gradients of windows where each window ends, zeros between."""
    first = g.dim() - w.dims
    length = [max(p + n - 1 + k, (o - 1) * s + k)
              for p, n, k, o, s in zip(w.padding, w.size, w.kernel, w.out, w.stride)]
    made = torch.zeros((*g.shape[:first], *length), dtype=g.dtype, device=g.device)
    made[(...,) + tuple(slice(k - 1, (o - 1) * s + k, s) for k, o, s in zip(w.kernel, w.out, w.stride))] = g
    return made


def avg_pool_back(dims, grad, x, kernel, stride, padding, ceil, include, divisor):
    if not _check(dims, grad, x) or divisor == 0:
        return NotImplemented
    w = _Window(dims, x.shape[x.dim() - dims:], kernel, stride, padding, ceil, include, divisor)
    if list(grad.shape[grad.dim() - dims:]) != w.out:
        return NotImplemented
    g, first = w.divide(grad.float()), x.dim() - dims
    if w.stride == w.kernel and not any(w.padding) and [o * s for o, s in zip(w.out, w.stride)] == w.size:
        for d in range(dims):  # each element is in one window
            g = g.repeat_interleave(w.kernel[d], first + d)
        return g.to(x.dtype)
    view = _stuffed(g, w)
    for d in range(dims):
        view = view.narrow(first + d, w.padding[d], w.size[d] + w.kernel[d] - 1).unfold(first + d, w.kernel[d], 1)
    return _sum(view, dims).to(x.dtype)


# --- means of windows that share out a dimension ---

def _bins(size, out):
    return [(i * size // out, -((-(i + 1) * size) // out)) for i in range(out)]


def _even(size, out):
    return all(n % o == 0 for n, o in zip(size, out))


def _of_bins(x, first, sizes, outs, back):
    """Sums over the bins of each dimension in turn, or from bins to their elements."""
    for d, (size, out) in enumerate(zip(sizes, outs)):
        pairs = [(i, at) for i, (begin, end) in enumerate(_bins(size, out)) for at in range(begin, end)]
        bins, places = [p[0] for p in pairs], [p[1] for p in pairs]
        x = spread(x, first + d, bins, places, size) if back else spread(x, first + d, places, bins, out)
    return x


def _bin_counts(sizes, outs, device):
    number = torch.ones((), dtype=torch.float32)
    for size, out in zip(sizes, outs):
        number = number.unsqueeze(-1) * torch.tensor([end - begin for begin, end in _bins(size, out)], dtype=torch.float32)
    return number.to(device)


def adaptive_avg_pool(dims, x, output_size):
    out = [int(n) for n in output_size]
    if not _check(dims, x) or len(out) != dims or min(out) < 1:
        return NotImplemented
    first = x.dim() - dims
    size = list(x.shape[first:])
    if _even(size, out):
        step = [n // o for n, o in zip(size, out)]
        return avg_pool(dims, x, step, step, [0])
    return (_of_bins(x.float(), first, size, out, False) / _bin_counts(size, out, x.device)).to(x.dtype)


def adaptive_avg_pool_back(dims, grad, x):
    if not _check(dims, grad, x):
        return NotImplemented
    first = x.dim() - dims
    size, out = list(x.shape[first:]), list(grad.shape[first:])
    if _even(size, out):
        step = [n // o for n, o in zip(size, out)]
        return avg_pool_back(dims, grad, x, step, step, [0], False, True, None)
    return _of_bins(grad.float() / _bin_counts(size, out, x.device), first, size, out, True).to(x.dtype)


# --- the gradient of a maximum ---

def _max_back(dims, grad, x, indices, alone):
    """alone: no element is the maximum of two windows."""
    if not _check(dims, grad, x) or grad.shape != indices.shape:
        return NotImplemented
    places = math.prod(x.shape[x.dim() - dims:])
    outer = x.numel() // places
    made = torch.zeros((outer, places, 1), dtype=x.dtype, device=x.device)
    g, at = grad.contiguous().view(outer, -1, 1), indices.contiguous().view(outer, -1, 1)
    if alone:
        torchs(torch.ops.aten.scatter_.src, made, 1, at, g)
    else:
        call("scatter_add", (made, at, g, made))
    return made.view(x.shape)


def max_pool_back(dims, grad, x, kernel, stride, padding, dilation, ceil, indices):
    kernel = _each(kernel, dims)
    stride, dilation = _each(stride, dims, kernel), _each(dilation, dims)
    return _max_back(dims, grad, x, indices, all(s > d * (k - 1) for s, d, k in zip(stride, dilation, kernel)))


def adaptive_max_pool_back(dims, grad, x, indices):
    return _max_back(dims, grad, x, indices, False)


def _with(dims, make):
    return lambda *args, **kwargs: make(dims, *args, **kwargs)


KERNELS = {}
for _n in (2, 3):
    KERNELS["avg_pool%dd" % _n] = ("sum", _with(_n, avg_pool))
    KERNELS["avg_pool%dd_backward" % _n] = ("sum", _with(_n, avg_pool_back))
    KERNELS["_adaptive_avg_pool%dd" % _n] = ("sum index_add", _with(_n, adaptive_avg_pool))
    KERNELS["_adaptive_avg_pool%dd_backward" % _n] = ("sum index_add", _with(_n, adaptive_avg_pool_back))
    KERNELS["max_pool%dd_with_indices_backward" % _n] = ("scatter_add", _with(_n, max_pool_back))
    KERNELS["adaptive_max_pool%dd_backward" % _n] = ("scatter_add", _with(_n, adaptive_max_pool_back))
