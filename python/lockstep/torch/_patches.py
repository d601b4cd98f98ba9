"""What is set or replaced above the operations: switches of torch, and functions that
choose another operation on another device.
"""
import os
import sys

import torch
import torch.nn.functional as F
from lockstep import LockstepError
from lockstep.torch._call import FLOATS


def _no_compiler(*args, **kwargs):
    raise LockstepError("torch.compile makes kernels of its own, which are not exact: leave it out, or run without exact")


def _refuse_compile(*args, **kwargs):
    """Libraries decorate functions that nobody may ever call; then calling is refused."""
    if "-packages" + os.sep in sys._getframe(1).f_code.co_filename:
        return _no_compiler
    return _no_compiler()


_torchs_rms_norm = getattr(F, "rms_norm", None)


def rms_norm(x, normalized_shape, weight=None, eps=None):
    """As torch composes it on the CPU; newer ones have a fused operation on a GPU."""
    shape = tuple(normalized_shape)
    if not shape or tuple(x.shape[-len(shape):]) != shape or (weight is not None and tuple(weight.shape) != shape):
        return _torchs_rms_norm(x, normalized_shape, weight, eps)  # which refuses them
    dims = tuple(range(-len(normalized_shape), 0))
    eps = torch.finfo(x.dtype).eps if eps is None else eps
    wide = x.float() if x.dtype in (torch.bfloat16, torch.float16) else x
    y = (wide * torch.rsqrt(wide.pow(2).mean(dims, keepdim=True) + eps)).type_as(x)
    return y if weight is None else y * weight


def _one_launch(original, decoupled):
    """The foreach form of Adam by the operation of its fused form, which has the same bits
    and reads and writes everything once."""
    def step(params, grads, m, v, top, steps, grad_scale, found_inf, *, amsgrad, beta1, beta2, lr, weight_decay, eps,
             maximize, capturable, differentiable, has_complex, **more):
        plain = not (capturable or differentiable or has_complex or grad_scale is not None or found_inf is not None)
        if not plain or not params or any(isinstance(n, torch.Tensor) for n in (lr, beta1, beta2)) or \
                not all(p.is_cuda and p.dtype in FLOATS and s.device.type == "cpu" for p, s in zip(params, steps)):
            return original(params, grads, m, v, top, steps, grad_scale, found_inf, amsgrad=amsgrad, beta1=beta1, beta2=beta2,
                            lr=lr, weight_decay=weight_decay, eps=eps, maximize=maximize, capturable=capturable,
                            differentiable=differentiable, has_complex=has_complex, **more)
        torch._foreach_add_(steps, 1.0)
        fused = torch._fused_adamw_ if more.get("decoupled_weight_decay", decoupled) else torch._fused_adam_
        fused(params, grads, m, v, top, steps, lr=lr, beta1=beta1, beta2=beta2, weight_decay=weight_decay, eps=eps,
              amsgrad=amsgrad, maximize=maximize)
    return step


def _optimizers():
    for word, decoupled in (("adam", False), ("adamw", True)):
        module, name = sys.modules["torch.optim." + word], "_multi_tensor_" + word
        if hasattr(module, name):
            setattr(module, name, _one_launch(getattr(module, name), decoupled))


def apply():
    """Attention by products and softmax, which are exact; no fused layers; no compiler."""
    for part in ("flash", "mem_efficient", "cudnn"):
        switch = getattr(torch.backends.cuda, "enable_%s_sdp" % part, None)
        if switch:
            switch(False)
    torch.backends.cuda.enable_math_sdp(True)
    torch.backends.mha.set_fastpath_enabled(False)
    torch.compile = _refuse_compile
    _optimizers()
    if hasattr(F, "rms_norm"):
        F.rms_norm = rms_norm
