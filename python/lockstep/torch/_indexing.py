"""Sums of rows that go to the same place: gradients of embeddings, of indexing and of
gather. The operations want outer × places × inner.
"""
import math

import torch
from lockstep.torch._call import FLOATS, Outside, call


def embedding_back(grad, index, places, padding, by_frequency):
    if grad.dtype not in FLOATS:
        raise Outside(str(grad.dtype)[6:])
    if not grad.numel():
        return NotImplemented
    width = grad.shape[-1]
    out = torch.empty((places, width), dtype=grad.dtype, device=grad.device)
    call("embedding_back", (grad.contiguous().view(-1, width), index.contiguous().view(-1).long(), out),
         (padding, int(by_frequency)))
    return out


def _cut(x, dim):
    """(outer, inner) of dimension dim."""
    return math.prod(x.shape[:dim]), math.prod(x.shape[dim + 1:])


def _check(x, source):
    if x.dtype not in FLOATS or source.dtype != x.dtype:
        if not x.is_floating_point() and not x.is_complex():
            return False
        raise Outside(str(x.dtype)[6:])
    return bool(x.numel() and source.numel() and x.dim())


def _is_at_hand(index):
    return type(index) is torch.Tensor and index.is_cpu  # a fake tensor is of another type


def _is_wrong(x, dim, index):
    """What torch refuses, by its own sentence. The indices of a GPU are not waited for."""
    if not -x.dim() <= dim < x.dim() or index.dtype not in (torch.int32, torch.int64):
        return True
    return _is_at_hand(index) and bool(((index < 0) | (index >= x.shape[dim])).any())


def _finish(made, x, out):
    made = made.view(x.shape)
    return made if out is None else out.copy_(made) if out is x else out.resize_(x.shape).copy_(made)


def index_add(x, dim, index, source, alpha=1, out=None):
    if not _check(x, source) or _is_wrong(x, dim, index):
        return NotImplemented
    dim %= x.dim()
    if source.dim() and (source.dim() != x.dim() or _cut(source, dim) != _cut(x, dim)):
        return NotImplemented
    outer, inner = _cut(x, dim)
    made = torch.empty((outer, x.shape[dim], inner), dtype=x.dtype, device=x.device)
    call("index_add", (x.contiguous().view(made.shape), index.reshape(-1).long().contiguous(),
                       source.contiguous().view(outer, -1, inner), made), (alpha,))
    return _finish(made, x, out)


def index_add_(x, dim, index, source, alpha=1):
    return index_add(x, dim, index, source, alpha, x)


def scatter_add(x, dim, index, source, out=None):
    if not _check(x, source) or not index.numel() or _is_wrong(x, dim, index):
        return NotImplemented
    dim %= x.dim()
    outer, inner = _cut(x, dim)
    if index.dim() != x.dim() or _cut(index, dim) != (outer, inner):
        raise Outside("an index that leaves out a part of the others")
    source = source[tuple(slice(n) for n in index.shape)]
    made = torch.empty((outer, x.shape[dim], inner), dtype=x.dtype, device=x.device)
    call("scatter_add", (x.contiguous().view(made.shape), index.contiguous().view(outer, -1, inner),
                         source.contiguous().view(outer, -1, inner), made))
    return _finish(made, x, out)


def scatter_add_(x, dim, index, source):
    return scatter_add(x, dim, index, source, x)


def _plain_indices(x, indices):
    """Whole numbers for the first dimensions; masks become those of their elements."""
    found = []
    for index in indices:
        if index is None:
            raise Outside("an index that leaves out a dimension")
        found += list(index.nonzero().unbind(1)) if index.dtype in (torch.bool, torch.uint8) else [index]
    if len(found) > x.dim():
        raise Outside("too many indices")
    return torch.broadcast_tensors(*(i.to(x.device).long() for i in found))


def index_put(x, indices, values, accumulate=False, unsafe=False):
    """Without accumulate it only moves values."""
    if not accumulate or not _check(x, values):
        return NotImplemented
    indices = _plain_indices(x, indices)
    place = torch.zeros_like(indices[0])
    for index, n in zip(indices, x.shape):
        if _is_at_hand(index) and bool(((index < -n) | (index >= n)).any()):
            return NotImplemented  # torch says which
        place = place * n + torch.where(index < 0, index + n, index)
    rest = x.shape[len(indices):]
    inner = math.prod(rest)
    source = values.expand(*place.shape, *rest).reshape(1, -1, inner)
    made = torch.empty((1, math.prod(x.shape[:len(indices)]), inner), dtype=x.dtype, device=x.device)
    call("index_add", (x.contiguous().view(made.shape), place.reshape(-1).contiguous(), source.contiguous(), made), (1,))
    return x.copy_(made.view(x.shape))


KERNELS = {
    "embedding_dense_backward": ("embedding_back", embedding_back),
    "index_add": ("index_add", index_add), "index_add_": ("index_add", index_add_),
    "index_add.out": ("index_add", index_add),
    "scatter_add": ("scatter_add", scatter_add), "scatter_add_": ("scatter_add", scatter_add_),
    "scatter_add.out": ("scatter_add", scatter_add),
    "_index_put_impl_": ("index_add", index_put),
}
