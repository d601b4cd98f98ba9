"""What is set or replaced above the operations: switches of torch, and functions that
choose another operation on another device.
"""
import os
import sys

import torch
import torch.nn.functional as F
from lockstep import LockstepError


def _no_compiler(*args, **kwargs):
    raise LockstepError("torch.compile makes kernels of its own, which are not exact: leave it out, or run without exact")


def _refuse_compile(*args, **kwargs):
    """Libraries decorate functions that nobody may ever call; then calling is refused."""
    if "-packages" + os.sep in sys._getframe(1).f_code.co_filename:
        return _no_compiler
    return _no_compiler()


def rms_norm(x, normalized_shape, weight=None, eps=None):
    """As torch composes it on the CPU; newer ones have a fused operation on a GPU."""
    dims = tuple(range(-len(normalized_shape), 0))
    eps = torch.finfo(x.dtype).eps if eps is None else eps
    wide = x.float() if x.dtype in (torch.bfloat16, torch.float16) else x
    y = (wide * torch.rsqrt(wide.pow(2).mean(dims, keepdim=True) + eps)).type_as(x)
    return y if weight is None else y * weight


def apply():
    """Attention by products and softmax, which are exact; no fused layers; no compiler."""
    for part in ("flash", "mem_efficient", "cudnn"):
        switch = getattr(torch.backends.cuda, "enable_%s_sdp" % part, None)
        if switch:
            switch(False)
    torch.backends.cuda.enable_math_sdp(True)
    torch.backends.mha.set_fastpath_enabled(False)
    torch.compile = _refuse_compile
    if hasattr(F, "rms_norm"):
        F.rms_norm = rms_norm
