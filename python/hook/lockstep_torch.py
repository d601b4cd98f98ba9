"""Applies the policy to PyTorch right after its import, reads it back, and watches the switches afterwards.

A script (or a framework: Lightning's Trainer does it by default) that turns a switch back is not stopped, it is named:
setting, value, and the line that did it. With "hold" the change is refused as well.
"""
import os
import sys
import warnings

import lockstep_hook as hook

_loaders = []
_factors = {}


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
    if policy["level"] >= 2:
        torch.use_deterministic_algorithms(True, warn_only=policy["warn_only"])
        cudnn.deterministic, cudnn.benchmark = True, False
        want.update({"torch.deterministic_algorithms": True, "torch.deterministic_warn_only": policy["warn_only"],
                     "torch.backends.cudnn.deterministic": True, "torch.backends.cudnn.benchmark": False})
        matmul.allow_bf16_reduced_precision_reduction = matmul.allow_fp16_reduced_precision_reduction = False
        want.update({"torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction": False,
                     "torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction": False})
        deterministic = getattr(torch.utils, "deterministic", None)
        if deterministic is not None:
            deterministic.fill_uninitialized_memory = policy["fill"]
            want["torch.utils.deterministic.fill_uninitialized_memory"] = policy["fill"]
    if policy["level"] >= 3:
        torch.set_num_threads(policy["threads"])
        torch.set_num_interop_threads(1)
        want.update({"torch.num_threads": policy["threads"], "torch.num_interop_threads": 1})
    return want


def _set_autocast(torch, policy, want):
    """bf16 and fp16 name the dtype of autocast regions that do not say one; float32 outside them stays strict."""
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
    if hasattr(torch.utils, "deterministic"):
        put("torch.utils.deterministic.fill_uninitialized_memory",
            lambda: torch.utils.deterministic.fill_uninitialized_memory)
    put("torch.num_threads", torch.get_num_threads)
    put("torch.num_interop_threads", torch.get_num_interop_threads)
    if hasattr(torch, "get_autocast_dtype"):
        for device in ("cpu", "cuda"):
            put("torch.autocast_dtype." + device, lambda d=device: str(torch.get_autocast_dtype(d)).split(".")[-1])
    put("torch.initial_seed", torch.initial_seed)
    return now


# switch in torch._C -> the setting it is; its first argument is the value
_SWITCHES = {
    "_set_cudnn_benchmark": "torch.backends.cudnn.benchmark",
    "_set_cudnn_deterministic": "torch.backends.cudnn.deterministic",
    "_set_cudnn_allow_tf32": "torch.backends.cudnn.allow_tf32",
    "_set_cublas_allow_tf32": "torch.backends.cuda.matmul.allow_tf32",
    "_set_float32_matmul_precision": "torch.float32_matmul_precision",
    "_set_deterministic_algorithms": "torch.deterministic_algorithms",
    "_set_deterministic_fill_uninitialized_memory": "torch.utils.deterministic.fill_uninitialized_memory",
    "set_num_threads": "torch.num_threads",
}


def _watched(torch, setting, real, wanted, hold):
    skip = (os.path.dirname(torch.__file__) + os.sep,)

    def switch(value, *args, **kwargs):
        if value != wanted:
            try:
                hook.note_undone(setting, value, hook.frames(skip))
            except OSError:
                pass
            if hold:
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
    """With warn_only an operation without a deterministic form warns; the warning's name and place are kept."""
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
    more = {}
    if _loaders:
        more["loaders"] = _loaders[:16]
        more["batch"] = dict(_factors)
    cuda = torch.cuda
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
                       lambda: _read(torch), seed=seed, cuda=torch.version.cuda, settings=now)
    _watch(torch, want, policy)
    if policy["warn_only"]:
        _record_warnings()
    hook.at_exit.append(lambda: _at_exit(torch))


def watch_dataloader(module):
    """Batch size and workers, as the program makes its loaders: the global batch is their business, not ours."""
    real = module.DataLoader.__init__

    def init(self, *args, **kwargs):
        real(self, *args, **kwargs)
        if len(_loaders) < 16:
            sampler = type(getattr(self, "sampler", None)).__name__
            _loaders.append({"batch_size": getattr(self, "batch_size", None), "num_workers": self.num_workers,
                             "sampler": sampler, "where": hook.user_frame(hook.frames())})
    init.__wrapped__, init.__doc__ = real, real.__doc__
    module.DataLoader.__init__ = init


def watch_trainer(module):
    real = module.Trainer.__init__

    def init(self, *args, **kwargs):
        real(self, *args, **kwargs)
        _factors["accumulate"] = getattr(self, "accumulate_grad_batches", 1)
        _factors["world_size"] = getattr(self, "world_size", 1)
    init.__wrapped__, init.__doc__ = real, real.__doc__
    module.Trainer.__init__ = init


def watch_accelerator(module):
    real = module.Accelerator.__init__

    def init(self, *args, **kwargs):
        real(self, *args, **kwargs)
        _factors["accumulate"] = getattr(self, "gradient_accumulation_steps", 1)
        _factors["world_size"] = getattr(self, "num_processes", 1)
    init.__wrapped__, init.__doc__ = real, real.__doc__
    module.Accelerator.__init__ = init
