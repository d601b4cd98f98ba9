"""Autocast on the CPU takes the types that autocast on CUDA takes: torch has a shorter list
of operations there that stay in float32, so that a model would compute softmax in bfloat16
on one device and in float32 on the other.
"""
import torch

# As torch's notes on autocast list them for CUDA: arguments become float32
FLOAT32 = """acos asin cosh erfinv exp expm1 log log10 log1p log2 logsumexp pow.Scalar pow.Tensor_Scalar
    pow.Tensor_Tensor reciprocal rsqrt sinh softplus tan cosine_similarity group_norm kl_div l1_loss layer_norm
    native_layer_norm native_group_norm norm.Scalar norm.ScalarOpt_dim poisson_nll_loss renorm smooth_l1_loss""".split()
# … and these: the result is float32
RESULT_FLOAT32 = """cumprod cumsum log_softmax.int prod prod.dim_int softmax.int sum sum.dim_IntList
    linalg_vector_norm""".split()
# What is in float32 on the CPU alone: its parts are cast as on CUDA instead
PARTS = ["cross_entropy_loss"]
_HALF = (torch.bfloat16, torch.float16)
_state = {"library": None}


def _wider(value):
    if isinstance(value, torch.Tensor):
        return value.float() if value.dtype in _HALF and value.device.type == "cpu" else value
    if isinstance(value, (list, tuple)):
        return type(value)(_wider(v) for v in value)
    return value


def _below():
    return torch._C._ExcludeDispatchKeyGuard(torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastCPU))


def _float32(op):
    def kernel(*args, **kwargs):
        with _below():
            return op(*_wider(args), **{k: _wider(v) for k, v in kwargs.items()})
    return kernel


def _result_float32(op):
    dtype_at = next(i for i, a in enumerate(op._schema.arguments) if a.name == "dtype")

    def kernel(*args, **kwargs):
        given = args[dtype_at] if len(args) > dtype_at else kwargs.get("dtype")
        if given is None and args[0].dtype in _HALF and args[0].device.type == "cpu":
            args, kwargs = args[:dtype_at], {**kwargs, "dtype": torch.float32}
        with _below():
            return op(*args, **kwargs)
    return kernel


def register():
    made = _state["library"] = torch.library.Library("aten", "IMPL")
    for name in PARTS:
        made.impl(name, torch.library.fallthrough_kernel, "AutocastCPU")
    for names, policy in ((FLOAT32, _float32), (RESULT_FLOAT32, _result_float32)):
        for name in names:
            base, _, overload = name.partition(".")
            op = getattr(getattr(torch.ops.aten, base), overload or "default")
            made.impl(name, policy(op), "AutocastCPU")
