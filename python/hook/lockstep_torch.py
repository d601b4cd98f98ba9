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

def _tf32(policy):
    return policy["precision"] == "tf32"


def _matmul_precision(policy):
    return "high" if _tf32(policy) else "highest"


def _set_all(torch, policy):
    """Sets what the level asks for and returns {setting: (wanted, read back)}."""
    want = {}
    cudnn, matmul = torch.backends.cudnn, torch.backends.cuda.matmul
    if policy["level"] >= 1:
        torch.set_float32_matmul_precision(_matmul_precision(policy))
        matmul.allow_tf32 = cudnn.allow_tf32 = _tf32(policy)
        want.update({"torch.float32_matmul_precision": _matmul_precision(policy),
                     "torch.backends.cuda.matmul.allow_tf32": _tf32(policy),
                     "torch.backends.cudnn.allow_tf32": _tf32(policy)})
        _set_autocast(torch, policy, want)
        _set_fp32(torch, policy, want)
    if policy["level"] >= 2:
        # what torch.use_deterministic_algorithms does, without its import of
        # torch._inductor (a second and more)
        torch._C._set_deterministic_algorithms(True, warn_only=policy["warn_only"])
        if "torch._inductor.config" in sys.modules:
            set_inductor(sys.modules["torch._inductor.config"])
        cudnn.deterministic, cudnn.benchmark = True, False
        want.update({"torch.deterministic_algorithms": True, "torch.deterministic_warn_only": policy["warn_only"],
                     "torch.backends.cudnn.deterministic": True, "torch.backends.cudnn.benchmark": False})
        matmul.allow_bf16_reduced_precision_reduction = matmul.allow_fp16_reduced_precision_reduction = False
        want.update({"torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction": False,
                     "torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction": False})
        if hasattr(torch._C, "_set_cublas_allow_fp16_accumulation"):
            matmul.allow_fp16_accumulation = False
            want["torch.backends.cuda.matmul.allow_fp16_accumulation"] = False
        deterministic = getattr(torch.utils, "deterministic", None)
        if deterministic is not None:
            deterministic.fill_uninitialized_memory = policy["fill"]
            want["torch.utils.deterministic.fill_uninitialized_memory"] = policy["fill"]
    if policy["level"] >= 3:
        torch.set_num_threads(policy["threads"])
        torch.set_num_interop_threads(1)
        want.update({"torch.num_threads": policy["threads"], "torch.num_interop_threads": 1})
    return want


def set_inductor(config):
    """The part of torch.use_deterministic_algorithms that torch's compiler has, from 2.9
    on."""
    if hasattr(config, "deterministic"):
        config.deterministic = True


def _set_autocast(torch, policy, want):
    """bf16 and fp16 name the dtype of autocast regions that do not say one; float32
    outside them stays strict."""
    dtype = {"bf16": "bfloat16", "fp16": "float16"}.get(policy["precision"])
    if dtype is None or not hasattr(torch, "set_autocast_dtype"):
        return
    for device in ("cpu", "cuda"):
        torch.set_autocast_dtype(device, getattr(torch, dtype))
        want["torch.autocast_dtype." + device] = dtype


def _read(torch):
    now, cudnn, matmul = {}, torch.backends.cudnn, torch.backends.cuda.matmul

    def put(name, get):
        try:
            now[name] = get()
        except Exception as fault:  # pylint: disable=broad-except
            now[name] = "unreadable: %s" % fault
    put("torch.float32_matmul_precision", torch.get_float32_matmul_precision)
    put("torch.backends.cuda.matmul.allow_tf32", lambda: matmul.allow_tf32)
    put("torch.backends.cudnn.allow_tf32", lambda: cudnn.allow_tf32)
    put("torch.deterministic_algorithms", torch.are_deterministic_algorithms_enabled)
    put("torch.deterministic_warn_only", torch.is_deterministic_algorithms_warn_only_enabled)
    put("torch.backends.cudnn.deterministic", lambda: cudnn.deterministic)
    put("torch.backends.cudnn.benchmark", lambda: cudnn.benchmark)
    for dtype in ("bf16", "fp16"):
        key = "allow_%s_reduced_precision_reduction" % dtype
        put("torch.backends.cuda.matmul." + key, lambda key=key: getattr(matmul, key))
    if hasattr(torch._C, "_set_cublas_allow_fp16_accumulation"):
        put("torch.backends.cuda.matmul.allow_fp16_accumulation", lambda: matmul.allow_fp16_accumulation)
    if hasattr(torch.utils, "deterministic"):
        put("torch.utils.deterministic.fill_uninitialized_memory",
            lambda: torch.utils.deterministic.fill_uninitialized_memory)
    put("torch.num_threads", torch.get_num_threads)
    put("torch.num_interop_threads", torch.get_num_interop_threads)
    if hasattr(torch, "get_autocast_dtype"):
        for device in ("cpu", "cuda"):
            put("torch.autocast_dtype." + device, lambda d=device: str(torch.get_autocast_dtype(d)).split(".")[-1])
    put("torch.initial_seed", torch.initial_seed)
    now.update(_read_fp32(torch))
    return now


# torch 2.9 and newer: precision of float32 products by (backend, operation); "none" takes
# that of the row above it
_FP32 = {
    ("generic", "all"): "torch.backends.fp32_precision",
    ("cuda", "all"): "torch.backends.cudnn.fp32_precision",
    ("cuda", "matmul"): "torch.backends.cuda.matmul.fp32_precision",
    ("cuda", "conv"): "torch.backends.cudnn.conv.fp32_precision",
    ("cuda", "rnn"): "torch.backends.cudnn.rnn.fp32_precision",
    ("mkldnn", "all"): "torch.backends.mkldnn.fp32_precision",
    ("mkldnn", "matmul"): "torch.backends.mkldnn.matmul.fp32_precision",
    ("mkldnn", "conv"): "torch.backends.mkldnn.conv.fp32_precision",
    ("mkldnn", "rnn"): "torch.backends.mkldnn.rnn.fp32_precision",
}


def _read_fp32(torch):
    get = getattr(torch._C, "_get_fp32_precision_getter", None)
    found = {}
    for place, setting in _FP32.items() if get else ():
        try:
            found[setting] = get(*place)
        except Exception:  # pylint: disable=broad-except
            pass  # a release that does not have this one
    return found


def _read_again(torch, want):
    """As at the beginning. "none" and "ieee" are both float32, so a change of one into
    the other undoes nothing."""
    now = _read(torch)
    for setting in _FP32.values():
        if {now.get(setting), want.get(setting)} == {"none", "ieee"}:
            now[setting] = want[setting]
    return now


def _set_fp32(torch, policy, want):
    """The older switches were set before, and these follow them; one that still allows
    less than float32 is set."""
    allowed = ("none", "ieee") + (("tf32",) if _tf32(policy) else ())
    for place, setting in _FP32.items():
        found = _read_fp32(torch).get(setting)
        if found is not None and found not in allowed:
            torch._C._set_fp32_precision_setter(*place, "ieee")
    want.update(_read_fp32(torch))


def _watch_fp32(torch, want, hold):
    real = getattr(torch._C, "_set_fp32_precision_setter", None)
    if real is None:
        return
    skip = (os.path.dirname(torch.__file__) + os.sep,)

    def switch(backend, operation, value):
        setting = _FP32.get((backend, operation))
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
        torch.manual_seed(policy["seed"])
        seed = torch.initial_seed()
        if seed != policy["seed"]:
            hook.die("torch: seeded with %d but the seed reads %d" % (policy["seed"], seed))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newer versions warn that allow_tf32 has a successor
        want = _set_all(torch, policy)
        now = _read(torch)
    hook.module_loaded("torch", torch.__version__, {k: (v, now.get(k)) for k, v in want.items()},
                       lambda: _read_again(torch, want), seed=seed, cuda=torch.version.cuda, settings=now)
    if policy["level"] >= 2:
        hook._part("lockstep_random").on_torch(torch)
    _watch(torch, want, policy)
    _watch_fp32(torch, want, policy["hold"])
    if policy["warn_only"]:
        _record_warnings()
    hook.at_exit.append(lambda: _at_exit(torch))
