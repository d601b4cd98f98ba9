"""Element-wise operations: each is one exact operation, in its plain, in-place and `out`
forms.
"""
import math
from numbers import Number

import torch
from lockstep.torch._call import FLOATS, TYPES, Outside, call, torchs

_made = {}  # (number, device) -> a tensor with it


def number_tensor(value, device):
    """One float32 on a device, kept: a program has few numbers of its own."""
    key = (value, device)
    t = _made.get(key)
    if t is None or math.isnan(value):
        if len(_made) > 4096:
            _made.clear()
        t = _made[key] = torch.full((), value, dtype=torch.float32, device=device)
    return t


def _device_of(tensors):
    found = None
    for t in tensors:
        if t.device.type != "cpu" or t.dim():
            if found is not None and t.device != found:
                raise Outside("tensors on two devices")
            found = t.device
    return found if found is not None else tensors[0].device


def _operand(value, device):
    if isinstance(value, Number):
        return number_tensor(float(value), device)
    if value.device != device:
        return value.to(device)
    return value


def _common_type(inputs):
    kind = inputs[0].dtype if len(inputs) == 1 or all(t.dtype == inputs[0].dtype for t in inputs) else \
        _promoted(inputs)
    if not kind.is_floating_point:
        kind = torch.get_default_dtype()
    if kind not in FLOATS:
        raise Outside(str(kind)[6:])
    return kind


def _promoted(inputs):
    kind = torch.result_type(inputs[0], inputs[1])
    for t in inputs[2:]:
        kind = torch.promote_types(kind, t.dtype) if t.dim() else torch.result_type(torch.empty(1, dtype=kind), t)
    return kind


def compute(name, values, numbers=(), out=None):
    """One exact operation of tensors (or numbers in their place), which are broadcast."""
    tensors = [v for v in values if not isinstance(v, Number)]
    for t in tensors:
        if t.layout is not torch.strided or t.device.type not in ("cpu", "cuda") or t.dtype not in TYPES:
            raise Outside("%s, %s on %s" % (str(t.dtype)[6:], str(t.layout)[6:], t.device.type))
    kind = _common_type(tensors)
    device = _device_of(tensors)
    first, shape = tensors[0], tensors[0].shape
    same = all(t.shape == shape for t in tensors)
    if not same:
        shape = torch.broadcast_shapes(*(t.shape for t in tensors))
    inputs = [_operand(v, device) for v in values]
    inputs = [t if t.shape == shape else t.expand(shape) for t in inputs]
    result = _result(out, first, shape, kind, device, same)
    if result.numel():
        call(name, (*inputs, result), numbers)
    return result if out is None or out is result else out.copy_(result)


def _result(out, first, shape, kind, device, same):
    if out is None:
        if same and first.device == device:
            return torch.empty_like(first, dtype=kind)
        return torch.empty(shape, dtype=kind, device=device)
    if out.dtype != kind or out.device != device:
        raise Outside("out has another type or device")
    if out.shape != shape:
        if out.numel():
            raise Outside("out has another shape")
        out.resize_(shape)
    return out


# --- one tensor ---

def _unary(word):
    def plain(x, out=None):
        return compute(word, (x,), (), out)

    def in_place(x):
        return compute(word, (x,), (), x)
    return plain, in_place


def gelu(x, approximate="none", out=None):
    return compute("gelu_tanh" if approximate == "tanh" else "gelu", (x,), (), out)


def gelu_(x, approximate="none"):
    return gelu(x, approximate, x)


def gelu_backward(grad, x, approximate="none", grad_input=None):
    return compute("gelu_tanh_backward" if approximate == "tanh" else "gelu_backward", (grad, x), (), grad_input)


def softplus(x, beta=1, threshold=20, out=None):
    return compute("softplus", (x,), (beta, threshold), out)


def softplus_backward(grad, x, beta, threshold, grad_input=None):
    return compute("softplus_backward", (grad, x), (beta, threshold), grad_input)


def log_sigmoid(x, output=None, buffer=None):
    """-softplus(-x): both signs are exact. Only torch's own gradient wants the buffer."""
    made = compute("softplus", (x.neg(),), (1, 20)).neg_()
    return (made if output is None else output.copy_(made)), x.new_empty(0)


def log_sigmoid_backward(grad, x, buffer, grad_input=None):
    made = compute("sigmoid", (x.neg(),)).mul_(grad)
    return made if grad_input is None else grad_input.copy_(made)


def elu(x, alpha=1, scale=1, input_scale=1, out=None):
    return compute("elu", (x,), (alpha, scale, input_scale), out)


def elu_(x, alpha=1, scale=1, input_scale=1):
    return elu(x, alpha, scale, input_scale, x)


def elu_backward(grad, alpha, scale, input_scale, is_result, x, grad_input=None):
    if is_result:
        raise Outside("the gradient from the result")
    return compute("elu_backward", (grad, x), (alpha, scale, input_scale), grad_input)


def _backward_of(word):
    def backward(grad, y, grad_input=None):
        return compute(word, (grad, y), (), grad_input)
    return backward


# --- two tensors and more ---

def _whole(*values):
    return not any(isinstance(v, float) or (isinstance(v, torch.Tensor) and (v.is_floating_point() or v.is_complex()))
                   for v in values)


def _add(word):
    def plain(a, b, alpha=1, out=None):
        """torch's own is one addition, unless alpha makes it two roundings or one."""
        if alpha == 1 or _whole(a, b, alpha):
            return NotImplemented
        return compute(word, (a, b), (alpha,), out)

    def in_place(a, b, alpha=1):
        return plain(a, b, alpha, a)
    return plain, in_place


def rsub(a, b, alpha=1):
    if alpha == 1 or _whole(a, b, alpha):
        return NotImplemented
    return compute("sub", (b, a), (alpha,))


def _div_float64(a, b, out):
    """On a GPU the number becomes a tensor there: then torch divides."""
    if out is not None or not a.is_cuda or (isinstance(b, torch.Tensor) and b.is_cuda):
        return NotImplemented
    return torchs(torch.ops.aten.div.Tensor, a, torch.as_tensor(b, dtype=a.dtype).to(a.device))


def div(a, b, out=None):
    """By a tensor torch's own is right; a GPU multiplies by a number's reciprocal."""
    if isinstance(a, torch.Tensor) and a.dtype is torch.float64:
        return _div_float64(a, b, out)
    if isinstance(a, torch.Tensor) and not _whole(a) and isinstance(b, Number):
        return compute("div_number", (a,), (b,), out)
    if isinstance(b, torch.Tensor) and b.dim() == 0 and b.device.type == "cpu" and not _whole(a):
        return compute("div", (a, b), (), out)
    return NotImplemented


def div_(a, b):
    return div(a, b, a)


def div_mode(a, b, rounding_mode=None, out=None):
    if rounding_mode is None:
        return div(a, b, out)
    if _whole(a, b):
        return NotImplemented
    raise Outside("a rounded division")


def div_mode_(a, b, rounding_mode=None):
    return div_mode(a, b, rounding_mode, a)


def pow_number(x, exponent, out=None):
    if _whole(x, exponent):
        return NotImplemented
    if exponent == 2:
        return compute("mul", (x, x), (), out)
    return compute("pow_number", (x,), (exponent,), out)


def pow_number_(x, exponent):
    return pow_number(x, exponent, x)


def number_pow(base, x, out=None):
    if _whole(base, x):
        return NotImplemented
    return compute("number_pow", (x,), (base,), out)


def power(a, b, out=None):
    if _whole(a, b):
        return NotImplemented
    if isinstance(b, Number):
        return pow_number(a, b, out)
    return number_pow(a, b, out) if isinstance(a, Number) else compute("pow", (a, b), (), out)


def power_(a, b):
    return power(a, b, a)


def lerp_scalar(a, b, weight, out=None):
    return compute("lerp", (a, b), (weight,), out)


def lerp_scalar_(a, b, weight):
    return compute("lerp", (a, b), (weight,), a)


def lerp_tensor(a, b, weight, out=None):
    return compute("lerp_tensor", (a, b, weight), (), out)


def lerp_tensor_(a, b, weight):
    return compute("lerp_tensor", (a, b, weight), (), a)


def _with_value(word):
    def plain(a, b, c, value=1, out=None):
        if _whole(a, b, c, value):
            return NotImplemented
        return compute(word, (a, b, c), (value,), out)

    def in_place(a, b, c, value=1):
        return plain(a, b, c, value, a)
    return plain, in_place


_UNARY = "sqrt rsqrt exp expm1 log log1p sin cos tanh erf sigmoid silu".split()
_BACKWARD = "tanh_backward sigmoid_backward silu_backward".split()


def _three(name, word, plain, in_place, table):
    """aten's three forms of an operation."""
    table[name] = table[_out_of(name)] = (word, plain)
    if in_place:
        base, dot, overload = name.partition(".")
        table[base + "_" + dot + overload] = (word, in_place)


def _out_of(name):
    return {"lerp.Scalar": "lerp.Scalar_out", "lerp.Tensor": "lerp.Tensor_out", "div.Tensor_mode": "div.out_mode",
            "pow.Tensor_Scalar": "pow.Tensor_Scalar_out", "pow.Tensor_Tensor": "pow.Tensor_Tensor_out",
            "pow.Scalar": "pow.Scalar_out"}.get(name, name.split(".")[0] + ".out")


def _kernels():
    table = {}
    for word in _UNARY:
        _three(word, word, *_unary(word), table)
    for word in _BACKWARD:
        table[word] = table[word + ".grad_input"] = (word, _backward_of(word))
    for name, backward in (("gelu_backward", gelu_backward), ("softplus_backward", softplus_backward),
                           ("elu_backward", elu_backward)):
        table[name] = table[name + ".grad_input"] = (name, backward)
    _three("gelu", "gelu gelu_tanh", gelu, gelu_, table)
    _three("softplus", "softplus", softplus, None, table)
    table["log_sigmoid_forward"] = ("softplus", log_sigmoid)
    table["log_sigmoid_backward"] = table["log_sigmoid_backward.grad_input"] = ("sigmoid", log_sigmoid_backward)
    _three("elu", "elu", elu, elu_, table)
    for word in ("add", "sub"):
        _three(word + ".Tensor", word, *_add(word), table)
    table["rsub.Tensor"] = ("sub", rsub)
    _three("div.Tensor", "div div_number", div, div_, table)
    _three("div.Tensor_mode", "div div_number", div_mode, div_mode_, table)
    _three("lerp.Scalar", "lerp", lerp_scalar, lerp_scalar_, table)
    _three("lerp.Tensor", "lerp_tensor", lerp_tensor, lerp_tensor_, table)
    for word in ("addcmul", "addcdiv"):
        _three(word, word, *_with_value(word), table)
    _three("pow.Tensor_Scalar", "pow_number mul", pow_number, None, table)
    _three("pow.Tensor_Tensor", "pow pow_number", power, None, table)
    _three("pow.Scalar", "number_pow", number_pow, None, table)
    table["pow_.Scalar"], table["pow_.Tensor"] = ("pow_number mul", pow_number_), ("pow pow_number", power_)
    return table


KERNELS = _kernels()
