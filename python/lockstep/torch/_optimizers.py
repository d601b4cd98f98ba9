"""What optimizers call: aten's _foreach operations, a tensor at a time, and the fused steps.
All three forms of an optimizer give the same bits.
"""
from numbers import Number

import torch
from lockstep import LockstepError
from lockstep.torch import _elementwise as E
from lockstep.torch._call import FLOATS, Outside, call

# numbers of the operations sgd and adam, "flags"
_MAXIMIZE, _NESTEROV, _FIRST, _DECOUPLED = 1, 2, 4, 8


def _each(lists, one):
    """one(*items) for every place of the lists; a list may be a number that all take."""
    n = next(len(v) for v in lists if isinstance(v, (list, tuple)))
    made = []
    for i in range(n):
        try:
            made.append(one(*(v[i] if isinstance(v, (list, tuple)) else v for v in lists)))
        except Outside as reason:
            if i:  # the first ones are written: torch cannot do it from the beginning
                raise LockstepError("tensor %d of a list: %s" % (i, reason)) from None
            raise
    return made


def _floats(tensors):
    return all(t.is_floating_point() for t in tensors)


def _unary(word):
    def plain(tensors):
        return _each((tensors,), lambda t: E.compute(word, (t,)))

    def in_place(tensors):
        _each((tensors,), lambda t: E.compute(word, (t,), (), t))
    return plain, in_place


def _scaled(word):
    """_foreach_add.List and its like: torch's own where alpha is 1."""
    def plain(a, b, alpha=1):
        if alpha == 1 or not _floats(a):
            return NotImplemented
        return _each((a, b), lambda x, y: E.compute(word, (x, y), (alpha,)))

    def in_place(a, b, alpha=1):
        if alpha == 1 or not _floats(a):
            return NotImplemented
        return _each((a, b), lambda x, y: E.compute(word, (x, y), (alpha,), x)) and None
    return plain, in_place


def _divide(x, by, out):
    if not isinstance(by, Number):
        return E.compute("div", (x, by), (), out)
    return E.compute("div_number", (x,), (by,), out)


def divide(a, by):
    return _each((a, by), lambda x, y: _divide(x, y, None))


def divide_(a, by):
    _each((a, by), lambda x, y: _divide(x, y, x))


def lerp(a, b, weight):
    return _each((a, b, weight), lambda x, y, w: E.compute("lerp", (x, y), (w,)))


def lerp_(a, b, weight):
    _each((a, b, weight), lambda x, y, w: E.compute("lerp", (x, y), (w,), x))


def lerp_list(a, b, weights):
    return _each((a, b, weights), lambda x, y, w: E.compute("lerp_tensor", (x, y, w)))


def lerp_list_(a, b, weights):
    _each((a, b, weights), lambda x, y, w: E.compute("lerp_tensor", (x, y, w), (), x))


def _with_value(word):
    def values(value):
        return value.tolist() if isinstance(value, torch.Tensor) else value

    def plain(a, b, c, value=1):
        return _each((a, b, c, values(value)), lambda x, y, z, v: E.compute(word, (x, y, z), (v,)))

    def in_place(a, b, c, value=1):
        _each((a, b, c, values(value)), lambda x, y, z, v: E.compute(word, (x, y, z), (v,), x))
    return plain, in_place


def power_scalar(a, exponent):
    return _each((a, exponent), E.pow_number)


def power_scalar_(a, exponent):
    _each((a, exponent), E.pow_number_)


# --- the fused steps ---

def _check(*lists):
    for tensors in lists:
        for t in tensors:
            if t.dtype not in FLOATS:
                raise Outside("a parameter of " + str(t.dtype)[6:])


def _adam(decoupled):
    def step(params, grads, m, v, top, steps, *, lr, beta1, beta2, weight_decay, eps, amsgrad, maximize,
             grad_scale=None, found_inf=None):
        if grad_scale is not None or found_inf is not None:
            raise Outside("a fused step with a scaler of gradients")
        _check(params, grads, m, v)
        lr = lr.item() if isinstance(lr, torch.Tensor) else lr
        flags = (_DECOUPLED if decoupled else 0) | (_MAXIMIZE if maximize else 0)
        word = "adam_max" if amsgrad else "adam"
        for i, p in enumerate(params):
            state = (m[i], v[i], top[i]) if amsgrad else (m[i], v[i])
            tensors, count = (p, grads[i], *state, p, *state), steps[i]
            if count.device == p.device:
                call(word, (*tensors, count), (lr, beta1, beta2, eps, weight_decay, 0, flags))
            else:  # on the CPU: a number, which needs no copy
                call(word, tensors, (lr, beta1, beta2, eps, weight_decay, count.item(), flags))
    return step


def fused_sgd(params, grads, buffers, *, weight_decay, momentum, lr, dampening, nesterov, maximize, is_first_step,
              grad_scale=None, found_inf=None):
    if grad_scale is not None or found_inf is not None:
        raise Outside("a fused step with a scaler of gradients")
    _check(params, grads, buffers)
    lr = lr.item() if isinstance(lr, torch.Tensor) else lr
    flags = (_NESTEROV if nesterov else 0) | (_MAXIMIZE if maximize else 0) | (_FIRST if is_first_step else 0)
    for i, p in enumerate(params):
        if momentum:
            call("sgd_momentum", (p, grads[i], buffers[i], p, buffers[i]), (lr, weight_decay, flags, momentum, dampening))
        else:
            call("sgd", (p, grads[i], p), (lr, weight_decay, flags))


def _kernels():
    table = {}

    def two(name, overload, word, plain, in_place):
        table["_foreach_" + name + overload] = (word, plain)
        table["_foreach_" + name + "_" + overload] = (word, in_place)
    for word in "sqrt rsqrt exp expm1 log log1p sin cos tanh erf sigmoid".split():
        two(word, "", word, *_unary(word))
    for word in ("add", "sub"):
        two(word, ".List", word, *_scaled(word))
    for overload in (".Scalar", ".ScalarList", ".Tensor"):
        two("div", overload, "div div_number", divide, divide_)
    two("lerp", ".Scalar", "lerp", lerp, lerp_)
    two("lerp", ".ScalarList", "lerp", lerp, lerp_)
    two("lerp", ".List", "lerp_tensor", lerp_list, lerp_list_)
    for word in ("addcmul", "addcdiv"):
        for overload in (".Scalar", ".ScalarList", ".Tensor"):
            two(word, overload, word, *_with_value(word))
    for overload in (".Scalar", ".ScalarList"):
        two("pow", overload, "pow_number mul", power_scalar, power_scalar_)
    for overload in ("", ".tensor_lr"):
        table["_fused_adam_" + overload] = ("adam adam_max", _adam(False))
        table["_fused_adamw_" + overload] = ("adam adam_max", _adam(True))
        table["_fused_sgd_" + overload] = ("sgd sgd_momentum", fused_sgd)
    return table


KERNELS = _kernels()
