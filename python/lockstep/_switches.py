"""What a level of determinism sets in PyTorch, JAX and TensorFlow, and what they read
afterwards. Both `lockstep.enforce` and the hook of `lockstep run` work by this file; the
environment variables of a level are in src/run/policy.c.

A policy is a dict: level, seed, precision, warn_only, fill, threads. Nothing is imported
here that a program has not imported itself.
"""
import sys
from typing import Any, Dict, Tuple

Policy = Dict[str, Any]
Settings = Dict[str, Any]


def _tf32(policy: Policy) -> bool:
    return bool(policy["precision"] == "tf32")


def _matmul_precision(policy: Policy) -> str:
    return "high" if _tf32(policy) else "highest"


def set_torch(torch: Any, policy: Policy) -> Settings:
    """Sets what the level asks for and returns {setting: wanted value}."""
    want: Settings = {}
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
        if torch.get_num_interop_threads() != 1:
            try:
                torch.set_num_interop_threads(1)
            except RuntimeError:
                pass  # too late, after the first parallel work: what is read back tells
        want.update({"torch.num_threads": policy["threads"], "torch.num_interop_threads": 1})
    return want


def set_inductor(config: Any) -> None:
    """The part of torch.use_deterministic_algorithms that torch's compiler has, from 2.9
    on."""
    if hasattr(config, "deterministic"):
        config.deterministic = True


def _set_autocast(torch: Any, policy: Policy, want: Settings) -> None:
    """bf16 and fp16 name the dtype of autocast regions that do not say one; float32
    outside them stays strict."""
    dtype = {"bf16": "bfloat16", "fp16": "float16"}.get(policy["precision"])
    if dtype is None or not hasattr(torch, "set_autocast_dtype"):
        return
    for device in ("cpu", "cuda"):
        torch.set_autocast_dtype(device, getattr(torch, dtype))
        want["torch.autocast_dtype." + device] = dtype


def read_torch(torch: Any) -> Settings:
    now: Settings = {}
    cudnn, matmul = torch.backends.cudnn, torch.backends.cuda.matmul

    def put(name: str, get: Any) -> None:
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
FP32 = {
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


def _read_fp32(torch: Any) -> Settings:
    get: Any = getattr(torch._C, "_get_fp32_precision_getter", None)
    found: Settings = {}
    for place, setting in FP32.items() if get else ():
        try:
            found[setting] = get(*place)
        except Exception:  # pylint: disable=broad-except
            pass  # a release that does not have this one
    return found


def read_torch_again(torch: Any, want: Settings) -> Settings:
    """As at the beginning. "none" and "ieee" are both float32, so a change of one into
    the other undoes nothing."""
    now = read_torch(torch)
    for setting in FP32.values():
        if {now.get(setting), want.get(setting)} == {"none", "ieee"}:
            now[setting] = want[setting]
    return now


def _set_fp32(torch: Any, policy: Policy, want: Settings) -> None:
    """The older switches were set before, and these follow them; one that still allows
    less than float32 is set."""
    allowed = ("none", "ieee") + (("tf32",) if _tf32(policy) else ())
    for place, setting in FP32.items():
        found = _read_fp32(torch).get(setting)
        if found is not None and found not in allowed:
            torch._C._set_fp32_precision_setter(*place, "ieee")
    want.update(_read_fp32(torch))


def seed_torch(torch: Any, seed: int) -> int:
    """All generators of the process, those of the GPUs too. Returns what torch reads."""
    torch.manual_seed(seed)
    return int(torch.initial_seed())


def set_jax(jax: Any, policy: Policy) -> Dict[str, Tuple[Any, Any]]:
    """{setting: (wanted, read back)}"""
    if policy["level"] < 1 or policy["precision"] not in ("fp32", "tf32"):
        return {}
    want = "highest" if policy["precision"] == "fp32" else "tensorfloat32"
    jax.config.update("jax_default_matmul_precision", want)
    return {"jax.default_matmul_precision": (want, jax.config.jax_default_matmul_precision)}


def set_tensorflow(tensorflow: Any, policy: Policy) -> Dict[str, Tuple[Any, Any]]:
    """{setting: (wanted, read back)}; from level 2 on it is seeded as well."""
    applied = {}
    experimental = tensorflow.config.experimental
    if policy["level"] >= 1:
        want = policy["precision"] == "tf32"
        experimental.enable_tensor_float_32_execution(want)
        applied["tensorflow.tensor_float_32"] = (want, experimental.tensor_float_32_execution_enabled())
    if policy["level"] >= 2:
        tensorflow.random.set_seed(policy["seed"])
        experimental.enable_op_determinism()
    if policy["level"] >= 3:
        tensorflow.config.threading.set_intra_op_parallelism_threads(policy["threads"])
        tensorflow.config.threading.set_inter_op_parallelism_threads(1)
    return applied
