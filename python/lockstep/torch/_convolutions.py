"""Convolutions in one to three dimensions, and their gradients. A transposed convolution is
the gradient by the input of the one that it transposes. The operations want tensors of
samples × channels × three dimensions.
"""
import torch
from lockstep.torch._call import FLOATS, Outside, call
from lockstep.torch._reductions import reduce

_DIMS = 3
_FINE, _COARSE = 22, 15  # bits of the grids: float32, half precisions


def _each(value, dims):
    value = [int(n) for n in value]
    return value * dims if len(value) == 1 else value


class _Window:
    """Stride, padding and dilation of each dimension."""

    def __init__(self, dims, stride, padding, dilation, output_padding):
        self.dims = dims
        self.stride, self.padding, self.dilation, self.more = (
            _each(v, dims) for v in (stride, padding, dilation, output_padding))

    def fits(self):
        return all(len(v) == self.dims for v in (self.stride, self.padding, self.dilation, self.more)) and \
            min(self.stride) > 0 and min(self.dilation) > 0 and min(self.padding) >= 0

    def out(self, size, kernel):
        return [(n + 2 * p - d * (k - 1) - 1) // s + 1
                for n, k, s, p, d in zip(size, kernel, self.stride, self.padding, self.dilation)]

    def transposed(self, size, kernel):
        return [(n - 1) * s - 2 * p + d * (k - 1) + more + 1
                for n, k, s, p, d, more in zip(size, kernel, self.stride, self.padding, self.dilation, self.more)]

    def numbers(self, dtype, groups):
        rest = _DIMS - self.dims
        return (_FINE if dtype is torch.float32 else _COARSE, groups, *[1] * rest, *self.stride, *[0] * rest,
                *self.padding, *[1] * rest, *self.dilation)


def _wide(x):
    """With all three dimensions."""
    for _ in range(2 + _DIMS - x.dim()):
        x = x.unsqueeze(2)
    return x


def _run(word, a, b, out, window, groups, bias=None):
    tensors = [_wide(a), _wide(b), _wide(out)]
    call(word, tensors if bias is None else tensors + [bias], window.numbers(a.dtype, groups))
    return out


def _check(x, *others):
    for t in (x, *others):
        if t is not None and t.dtype not in FLOATS:
            raise Outside("a convolution of " + str(t.dtype)[6:])
        if t is not None and t.dtype != x.dtype:
            return False  # torch says what is wrong
    return 3 <= x.dim() <= 2 + _DIMS


def _fits(x, w, window, transposed, groups):
    if w.dim() != x.dim() or not window.fits() or groups < 1 or w.shape[0] % groups:
        return False
    return x.shape[1] == (w.shape[0] if transposed else w.shape[1] * groups)


def convolution(x, w, bias, stride, padding, dilation, transposed, output_padding, groups):
    if not _check(x, w, bias):
        return NotImplemented
    window = _Window(x.dim() - 2, stride, padding, dilation, output_padding)
    if not _fits(x, w, window, transposed, groups):
        return NotImplemented
    size, kernel = x.shape[2:], w.shape[2:]
    shape = window.transposed(size, kernel) if transposed else window.out(size, kernel)
    channels = w.shape[1] * groups if transposed else w.shape[0]
    if min(shape) < 1 or not x.shape[0] or not channels or not w.numel():
        return NotImplemented
    if bias is not None and tuple(bias.shape) != (channels,):
        return NotImplemented
    out = torch.empty((x.shape[0], channels, *shape), dtype=x.dtype, device=x.device)
    return _run("conv_back_input" if transposed else "conv", x, w, out, window, groups, bias)


def convolution_back(grad, x, w, bias_sizes, stride, padding, dilation, transposed, output_padding, groups, mask):
    if not _check(grad, x, w):
        return NotImplemented
    window = _Window(x.dim() - 2, stride, padding, dilation, output_padding)
    if not _fits(x, w, window, transposed, groups) or not x.numel() or not w.numel() or not grad.numel():
        return NotImplemented
    by_x = by_w = by_bias = None
    if mask[0]:
        by_x = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        _run("conv" if transposed else "conv_back_input", grad, w, by_x, window, groups)
    if mask[1]:
        by_w = torch.empty(w.shape, dtype=w.dtype, device=w.device)
        _run("conv_back_weight", *((x, grad) if transposed else (grad, x)), by_w, window, groups)
    if mask[2]:
        by_bias = reduce("sum", grad, [d for d in range(grad.dim()) if d != 1], False, None)
    return by_x, by_w, by_bias


_ALL = "conv conv_back_input"
KERNELS = {
    "convolution": (_ALL, convolution),
    "convolution_backward": (_ALL + " conv_back_weight sum", convolution_back),
}
