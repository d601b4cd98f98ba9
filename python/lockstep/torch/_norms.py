"""Layer, group and batch norm, and their gradients. Statistics are float32 on all devices."""
import math

import torch
from lockstep.torch._call import FLOATS, Outside, call


def _check(*tensors):
    for t in tensors:
        if t is not None and t.dtype not in FLOATS:
            raise Outside(str(t.dtype)[6:])


def _flat(t):
    return None if t is None else t.contiguous().reshape(-1)


def _float32(shape, device):
    return torch.empty(shape, dtype=torch.float32, device=device)


# --- layer norm, group norm: statistics of a row ---

def layer_norm(x, shape, weight, bias, eps):
    _check(x, weight, bias)
    n = math.prod(shape)
    if not x.numel() or not n:
        return NotImplemented
    rows = list(x.shape[:x.dim() - len(shape)]) + [1] * len(shape)
    x = x.contiguous()
    out, mean, inverse = torch.empty_like(x), _float32(rows, x.device), _float32(rows, x.device)
    call("layer_norm", (x.view(-1, n), _flat(weight), _flat(bias), out.view(-1, n), mean, inverse), (eps,))
    return out, mean, inverse


def _weight_grads(g, x, mean, inverse, shape, weight_shape, kind):
    """Sums of g and of g times the normalised x, over all but what `shape` has."""
    sums = [torch.empty(shape, dtype=kind, device=x.device) for _ in range(2)]
    call("norm_grads", (g, x, mean.expand(x.shape), inverse.expand(x.shape), *sums))
    return [s.reshape(weight_shape) for s in sums]


def layer_norm_back(grad, x, shape, mean, inverse, weight, bias, mask):
    _check(grad, x, weight)
    n = math.prod(shape)
    if not x.numel() or not n:
        return NotImplemented
    g, x = grad.contiguous().view(-1, n), x.contiguous()
    rows, mean, inverse = x.view(-1, n), _flat(mean), _flat(inverse)
    out = torch.empty_like(x) if mask[0] else None
    if mask[0]:
        call("layer_norm_back", (g, rows, mean, inverse, _flat(weight), out.view(-1, n)))
    by_weight = by_bias = None
    if mask[1] or mask[2]:
        kind = weight.dtype if weight is not None else x.dtype
        by_bias, by_weight = _weight_grads(g, rows, mean[:, None], inverse[:, None], (1, n), tuple(shape), kind)
    return out, by_weight if mask[1] else None, by_bias if mask[2] else None


def group_norm(x, weight, bias, samples, channels, places, groups, eps):
    _check(x, weight, bias)
    if not x.numel():
        return NotImplemented
    x, n = x.contiguous(), channels // groups * places
    out, mean, inverse = torch.empty_like(x), _float32((samples, groups), x.device), _float32((samples, groups), x.device)
    call("layer_norm", (x.view(-1, n), _flat(weight), _flat(bias), out.view(-1, n), mean, inverse), (eps, groups, places))
    return out, mean, inverse


def group_norm_back(grad, x, mean, inverse, weight, samples, channels, places, groups, mask):
    _check(grad, x, weight)
    if not x.numel():
        return NotImplemented
    g, x, n = grad.contiguous(), x.contiguous(), channels // groups * places
    out = torch.empty_like(x) if mask[0] else None
    if mask[0]:
        call("layer_norm_back", (g.view(-1, n), x.view(-1, n), _flat(mean), _flat(inverse), _flat(weight), out.view(-1, n)),
             (groups, places))
    by_weight = by_bias = None
    if mask[1] or mask[2]:
        shape = (samples, groups, channels // groups, places)
        statistics = [t.reshape(samples, groups, 1, 1).float() for t in (mean, inverse)]
        kind = weight.dtype if weight is not None else x.dtype
        by_bias, by_weight = _weight_grads(g.view(shape), x.view(shape), *statistics,
                                           (1, groups, channels // groups, 1), (channels,), kind)
    return out, by_weight if mask[1] else None, by_bias if mask[2] else None


# --- batch norm: statistics of a channel ---

def _of_channels(t, x):
    """A vector of the channels, broadcast over x."""
    return None if t is None else t.reshape([1, -1] + [1] * (x.dim() - 2)).expand(x.shape)


def _statistics(x, running_mean, running_var, training, momentum, eps):
    shape = [1, x.shape[1]] + [1] * (x.dim() - 2)
    mean, inverse = _float32(shape, x.device), _float32(shape, x.device)
    if training:
        running = [None if t is None else t.view(shape) for t in (running_mean, running_var)]
        call("batch_norm_stats", (x, mean, inverse, *running), (eps, momentum))
    else:
        mean.copy_(running_mean.view(shape))
        call("inverse_std", (running_var.contiguous().view(shape), inverse), (eps,))
    return mean.view(-1), inverse.view(-1)


def _batch_norm(x, weight, bias, running_mean, running_var, training, momentum, eps):
    _check(x, weight, bias, running_mean, running_var)
    if x.dim() < 2 or not x.numel():
        return NotImplemented
    if running_mean is not None and not (running_mean.is_contiguous() and running_var.is_contiguous()):
        raise Outside("running statistics that are not contiguous")
    mean, inverse = _statistics(x, running_mean, running_var, training, momentum, eps)
    out = torch.empty_like(x)
    call("batch_norm", (x, *(_of_channels(t, x) for t in (mean, inverse, weight, bias)), out))
    return out, mean, inverse


def batch_norm(x, weight, bias, running_mean, running_var, training, momentum, eps):
    made = _batch_norm(x, weight, bias, running_mean, running_var, training, momentum, eps)
    if made is NotImplemented or training:
        return made
    return made[0], made[1].new_empty(0), made[2].new_empty(0)


def batch_norm_plain(x, weight, bias, training, momentum, eps):
    return batch_norm(x, weight, bias, None, None, True, momentum, eps)


def cudnn_batch_norm(x, weight, bias, running_mean, running_var, training, factor, eps):
    made = batch_norm(x, weight, bias, running_mean, running_var, training, factor, eps)
    return made if made is NotImplemented else (*made, x.new_empty(0, dtype=torch.uint8))


def batch_norm_back(grad, x, weight, running_mean, running_var, mean, inverse, train, eps, mask):
    _check(grad, x, weight)
    if x.dim() < 2 or not x.numel():
        return NotImplemented
    if not train:
        mean, inverse = _statistics(x, running_mean, running_var, False, 0, eps)
    shape, channels = [1, x.shape[1]] + [1] * (x.dim() - 2), x.shape[1]
    stats = [_of_channels(t, x) for t in (mean, inverse)]
    sums = [_float32(shape, x.device) for _ in range(2)]
    call("norm_grads", (grad, x, *stats, *sums))
    out = torch.empty_like(x) if mask[0] else None
    if mask[0]:
        whole = [t.expand(x.shape) for t in sums] if train else [None, None]
        call("batch_norm_back", (grad, x, *stats, _of_channels(weight, x), *whole, out), (x.numel() // channels,))
    kind = weight.dtype if weight is not None else torch.float32
    by_bias, by_weight = (t.view(channels).to(kind) for t in sums)
    return out, by_weight if mask[1] else None, by_bias if mask[2] else None


def cudnn_batch_norm_back(x, grad, weight, running_mean, running_var, mean, inverse, eps, reserve):
    return batch_norm_back(grad, x, weight, running_mean, running_var, mean, inverse, True, eps, (True, True, True))


def batch_norm_update(x, weight, bias, running_mean, running_var, momentum, eps):
    return cudnn_batch_norm(x, weight, bias, running_mean, running_var, True, momentum, eps)


def batch_norm_update_back(grad, x, weight, running_mean, running_var, mean, inverse, update, eps, mask, reserve):
    return batch_norm_back(grad, x, weight, running_mean, running_var, mean, inverse, update, eps, mask)


_BATCH, _BATCH_BACK = "batch_norm_stats batch_norm inverse_std", "norm_grads batch_norm_back inverse_std"
KERNELS = {
    "native_layer_norm": ("layer_norm", layer_norm),
    "native_layer_norm_backward": ("layer_norm_back norm_grads", layer_norm_back),
    "native_group_norm": ("layer_norm", group_norm),
    "native_group_norm_backward": ("layer_norm_back norm_grads", group_norm_back),
    "native_batch_norm": (_BATCH, batch_norm), "_native_batch_norm_legit": (_BATCH, batch_norm),
    "_native_batch_norm_legit.no_stats": (_BATCH, batch_norm_plain), "cudnn_batch_norm": (_BATCH, cudnn_batch_norm),
    "_batch_norm_with_update": (_BATCH, batch_norm_update), "batch_norm_backward": (_BATCH_BACK, batch_norm_update_back),
    "native_batch_norm_backward": (_BATCH_BACK, batch_norm_back),
    "cudnn_batch_norm_backward": (_BATCH_BACK, cudnn_batch_norm_back),
}
