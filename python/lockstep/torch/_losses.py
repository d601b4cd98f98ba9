"""Losses and their gradients. reduction: 0 none, 1 mean, 2 sum, as aten has it."""
import torch
from lockstep.torch._call import FLOATS, Outside, call, torchs
from lockstep.torch._reductions import reduce

_MEAN = 1


# --- negative log-likelihood: a number is picked for each sample, and they are summed ---

def _picked(x, target, weight, ignored):
    """(classes where they count, their weight, their negative number), for each sample."""
    valid = target != ignored
    at = torch.where(valid, target, 0).unsqueeze(1)
    w = valid.to(x.dtype) if weight is None else \
        torch.where(valid, weight.to(x.dtype)[at.squeeze(1)], torch.zeros((), dtype=x.dtype, device=x.device))
    return at, valid, w


def nll_loss(x, target, weight, reduction, ignored):
    if x.dtype not in FLOATS:
        raise Outside(str(x.dtype)[6:])
    if weight is not None and weight.shape != x.shape[-1:]:
        return NotImplemented  # torch says what is wrong
    if x.dim() == 1:
        x, target = x.unsqueeze(0), target.reshape(1)
        loss, total = nll_loss(x, target, weight, reduction, ignored)
        return loss.reshape(()), total
    if not target.numel():
        return NotImplemented
    at, valid, w = _picked(x, target, weight, ignored)
    value = x.gather(1, at).squeeze(1).neg().mul_(w)
    value = torch.where(valid, value, torch.zeros((), dtype=x.dtype, device=x.device))
    if not reduction:
        return value, torch.zeros((), dtype=x.dtype, device=x.device)
    if reduction == _MEAN:
        made = [torch.empty([1] * value.dim(), dtype=x.dtype, device=x.device) for _ in range(2)]
        call("ratio_of_sums", (value, w, *made))
        return made[0].reshape(()), made[1].reshape(())
    return reduce("sum", value, None, False, None), reduce("sum", w, None, False, None)


def nll_loss_back(grad, x, target, weight, reduction, ignored, total):
    if x.dtype not in FLOATS:
        raise Outside(str(x.dtype)[6:])
    if x.dim() == 1:
        return nll_loss_back(grad.reshape(1) if not reduction else grad, x.unsqueeze(0), target.reshape(1), weight, reduction,
                             ignored, total).squeeze(0)
    at, valid, w = _picked(x, target, weight, ignored)
    slope = grad / total if reduction == _MEAN else grad
    value = torch.where(valid, w.mul(slope).neg(), torch.zeros((), dtype=x.dtype, device=x.device))
    out = torch.zeros_like(x, memory_format=torch.contiguous_format)
    return torchs(torch.ops.aten.scatter_.src, out, 1, at, value.unsqueeze(1))


# --- losses of pairs ---

def _divisor(x, reduction):
    return x.numel() if reduction == _MEAN else 1


def _same(*tensors):
    kind = tensors[0].dtype
    if any(t is not None and t.dtype not in FLOATS for t in tensors):
        raise Outside(str(kind)[6:])
    shape = torch.broadcast_shapes(*(t.shape for t in tensors if t is not None))
    return [None if t is None else t.expand(shape) for t in tensors]


def _loss(word, tensors, reduction, numbers=()):
    tensors = _same(*tensors)
    x = tensors[0]
    if not reduction:
        raise Outside("a loss that is not reduced")
    if not x.numel():
        return NotImplemented
    out = torch.empty([1] * x.dim(), dtype=x.dtype, device=x.device)
    call(word, (*tensors, out), (_divisor(x, reduction), *numbers))
    return out.reshape(())


def _back(word, grad, tensors, reduction, numbers=(), out=None):
    x, y, *more = _same(*tensors)
    if not x.numel():
        return NotImplemented
    made = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    call(word, (x, y, grad.expand(x.shape), *more, made), (_divisor(x, reduction), *numbers))
    return made if out is None else out.resize_(made.shape).copy_(made)


def mse_loss(x, y, reduction=1, out=None):
    if not reduction:
        return NotImplemented  # a difference, and its square
    made = _loss("mse_loss", (x, y), reduction)
    return made if out is None or made is NotImplemented else out.resize_(()).copy_(made)


def mse_loss_back(grad, x, y, reduction, grad_input=None):
    return _back("mse_loss_back", grad, (x, y), reduction, (), grad_input)


def smooth_l1_loss(x, y, reduction=1, beta=1.0):
    return _loss("smooth_l1_loss", (x, y), reduction, (beta,))


def smooth_l1_loss_back(grad, x, y, reduction, beta, grad_input=None):
    return _back("smooth_l1_loss_back", grad, (x, y), reduction, (beta,), grad_input)


def huber_loss(x, y, reduction=1, delta=1.0):
    return _loss("huber_loss", (x, y), reduction, (delta,))


def huber_loss_back(grad, x, y, reduction, delta, grad_input=None):
    return _back("huber_loss_back", grad, (x, y), reduction, (delta,), grad_input)


def bce(x, y, weight=None, reduction=1):
    if type(x) is torch.Tensor and x.is_cpu and not bool(((x >= 0) & (x <= 1)).all()):
        return NotImplemented  # torch refuses them
    return _loss("bce", (x, y, weight), reduction)


def bce_back(grad, x, y, weight=None, reduction=1):
    return _back("bce_back", grad, (x, y, weight), reduction)


def bce_with_logits(x, y, weight=None, pos_weight=None, reduction=1):
    return _loss("bce_with_logits", (x, y, weight, pos_weight), reduction)


KERNELS = {
    "nll_loss_forward": ("ratio_of_sums sum", nll_loss), "nll_loss2d_forward": ("ratio_of_sums sum", nll_loss),
    "nll_loss_backward": ("ratio_of_sums", nll_loss_back), "nll_loss2d_backward": ("ratio_of_sums", nll_loss_back),
    "mse_loss": ("mse_loss", mse_loss), "mse_loss.out": ("mse_loss", mse_loss),
    "mse_loss_backward": ("mse_loss_back", mse_loss_back), "mse_loss_backward.grad_input": ("mse_loss_back", mse_loss_back),
    "smooth_l1_loss": ("smooth_l1_loss", smooth_l1_loss),
    "smooth_l1_loss_backward": ("smooth_l1_loss_back", smooth_l1_loss_back),
    "smooth_l1_loss_backward.grad_input": ("smooth_l1_loss_back", smooth_l1_loss_back),
    "huber_loss": ("huber_loss", huber_loss), "huber_loss_backward": ("huber_loss_back", huber_loss_back),
    "huber_loss_backward.out": ("huber_loss_back", huber_loss_back),
    "binary_cross_entropy": ("bce", bce), "binary_cross_entropy_backward": ("bce_back", bce_back),
    "binary_cross_entropy_with_logits": ("bce_with_logits", bce_with_logits),
}
