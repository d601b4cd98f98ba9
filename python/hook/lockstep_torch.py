"""Applies the policy to PyTorch right after its import, reads it back, and watches the
switches afterwards.

A script (or a framework: Lightning's Trainer does it by default) that turns a switch
back is not stopped, it is named: setting, value, and the line that did it. With "hold"
the change is refused as well.
"""
import os
import sys
import warnings

import lockstep_hook as hook
import lockstep_switches as switches


def _watch_fp32(torch, want, hold):
    real = getattr(torch._C, "_set_fp32_precision_setter", None)
    if real is None:
        return
    skip = (os.path.dirname(torch.__file__) + os.sep,)

    def switch(backend, operation, value):
        setting = switches.FP32.get((backend, operation))
        wanted = want.get(setting)
        strict = ("none", "ieee")
        if wanted is not None and value != wanted and not (value in strict and wanted in strict):
            try:
                hook.note_undone(setting, value, hook.frames(skip))
            except OSError:
                pass
            if hold:
                return wanted
        return real(backend, operation, value)
    torch._C._set_fp32_precision_setter = switch


# switch in torch._C -> the setting it is; its first argument is the value
_SWITCHES = {
    "_set_cudnn_benchmark": "torch.backends.cudnn.benchmark",
    "_set_cudnn_deterministic": "torch.backends.cudnn.deterministic",
    "_set_cudnn_allow_tf32": "torch.backends.cudnn.allow_tf32",
    "_set_cublas_allow_tf32": "torch.backends.cuda.matmul.allow_tf32",
    "_set_float32_matmul_precision": "torch.float32_matmul_precision",
    "_set_deterministic_algorithms": "torch.deterministic_algorithms",
    "_set_deterministic_fill_uninitialized_memory": "torch.utils.deterministic.fill_uninitialized_memory",
    "_set_cublas_allow_bf16_reduced_precision_reduction": "torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction",
    "_set_cublas_allow_fp16_reduced_precision_reduction": "torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction",
    "_set_cublas_allow_fp16_accumulation": "torch.backends.cuda.matmul.allow_fp16_accumulation",
    "set_num_threads": "torch.num_threads",
}


def _watched(torch, setting, real, wanted, hold):
    skip = (os.path.dirname(torch.__file__) + os.sep,)

    def switch(value, *args, **kwargs):
        changed = [(setting, value)] if value != wanted else []
        # Its other argument is a setting, too
        if setting == "torch.deterministic_algorithms" and value:
            mild = bool(kwargs.get("warn_only", False))
            if mild != hook._wanted["torch.deterministic_warn_only"]:
                changed.append(("torch.deterministic_warn_only", mild))
        for what, found in changed:
            try:
                hook.note_undone(what, found, hook.frames(skip))
            except OSError:
                pass
        if changed and hold:
            return None
        return real(value, *args, **kwargs)
    return switch


def _watch(torch, want, policy):
    for name, setting in _SWITCHES.items():
        real = getattr(torch._C, name, None)
        if real is None or setting not in want:
            continue
        switch = _watched(torch, setting, real, want[setting], policy["hold"])
        setattr(torch._C, name, switch)
        if getattr(torch, name, None) is real:
            setattr(torch, name, switch)
        for module in (torch.backends.cudnn, getattr(torch.utils, "deterministic", None)):
            for prop in vars(type(module)).values():
                if getattr(prop, "setter", None) is real:
                    prop.setter = switch


def _record_warnings():
    """With warn_only an operation without a deterministic form warns; the warning's name
    and place are kept."""
    real, seen = warnings._showwarnmsg, set()
    warnings.filterwarnings("always", message=".*does not have a deterministic implementation")

    def show(msg):
        text = str(msg.message)
        if "deterministic implementation" in text and text not in seen:
            seen.add(text)
            torch_dir = os.path.dirname(sys.modules["torch"].__file__) + os.sep
            hook.note_nondeterministic(text, raised=False, stack=hook.frames((torch_dir, warnings.__file__)))
        real(msg)
    warnings._showwarnmsg = show


def _at_exit(torch):
    more, cuda = {}, torch.cuda
    if cuda.is_initialized() and not cuda._is_in_bad_fork():
        more["gpus"] = [{"index": i, "name": cuda.get_device_name(i),
                         "uuid": str(getattr(cuda.get_device_properties(i), "uuid", "")) or None,
                         "peak_allocated_bytes": cuda.max_memory_allocated(i),
                         "peak_reserved_bytes": cuda.max_memory_reserved(i)} for i in range(cuda.device_count())]
    return more


def apply(torch, policy):
    seed = None
    if policy["level"] >= 2:
        seed = switches.seed_torch(torch, policy["seed"])
        if seed != policy["seed"]:
            hook.die("torch: seeded with %d but the seed reads %d" % (policy["seed"], seed))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newer versions warn that allow_tf32 has a successor
        want = switches.set_torch(torch, policy)
        now = switches.read_torch(torch)
    hook.module_loaded("torch", torch.__version__, {k: (v, now.get(k)) for k, v in want.items()},
                       lambda: switches.read_torch_again(torch, want), seed=seed, cuda=torch.version.cuda, settings=now)
    if policy["level"] >= 2:
        hook._part("lockstep_random").on_torch(torch)
    _watch(torch, want, policy)
    _watch_fp32(torch, want, policy["hold"])
    if policy["warn_only"]:
        _record_warnings()
    hook.at_exit.append(lambda: _at_exit(torch))
