"""Random numbers: on every device a function of torch's generator on the CPU.

Each call draws 64 bits from that generator, whose state torch.manual_seed sets and
get_rng_state, checkpointing and loader workers save and restore. They are the key of
Philox, counted by element. Whole numbers are drawn on the CPU by torch itself, which
computes them in integers, and are copied to the device.
"""
import ctypes

import torch
from lockstep.torch._call import FLOATS, Outside, call

_CPU = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)


def _check(out, generator):
    if generator is not None and generator.device.type != "cpu":
        raise Outside("a generator on " + str(generator.device))
    if out.dtype not in FLOATS:
        raise Outside("random numbers of " + str(out.dtype)[6:])


def _key(generator):
    """The numbers seed_low, seed_high, call, first of a random operation."""
    word = torch.empty((), dtype=torch.int64)
    torch.ops.aten.random_.default.redispatch(_CPU, word, generator=generator)
    bits = word.item()
    return bits & 0xffffffff, bits >> 32, 0, 0


def _fill(word, out, numbers, generator):
    _check(out, generator)
    key = _key(generator)
    if out.numel():
        call(word, (out,), (*numbers, *key))
    return out


def uniform_(out, low=0.0, high=1.0, generator=None):
    return _fill("rand", out, (low, high), generator)


def normal_(out, mean=0.0, std=1.0, generator=None):
    if std < 0:
        return NotImplemented  # torch says what is wrong
    return _fill("randn", out, (mean, std), generator)


def bernoulli_(out, p=0.5, generator=None):
    if not 0 <= p <= 1:
        return NotImplemented
    if out.dtype not in FLOATS:
        drawn = torch.empty(out.shape, dtype=torch.float32, device=out.device)
        return out.copy_(_fill("bernoulli", drawn, (p,), generator))
    return _fill("bernoulli", out, (p,), generator)


def bernoulli_tensor_(out, p, generator=None):
    _check(p, generator)
    drawn = torch.empty(out.shape, dtype=torch.float32, device=out.device)
    key = _key(generator)
    if out.numel():
        call("bernoulli_tensor", (p.to(out.device).expand(out.shape), drawn), key)
    return out.copy_(drawn)


def bernoulli_out(p, generator=None, out=None):
    return bernoulli_tensor_(out.resize_(p.shape), p, generator)


# --- whole numbers ---

def _drawn_on_cpu(draw, out, generator):
    if out.device.type == "cpu":
        return NotImplemented
    if generator is not None and generator.device.type != "cpu":
        raise Outside("a generator on " + str(generator.device))
    return out.copy_(draw(torch.empty(out.shape, dtype=out.dtype)))


def random_(out, generator=None):
    return _drawn_on_cpu(lambda t: t.random_(generator=generator), out, generator)


def random_to(out, to, generator=None):
    return _drawn_on_cpu(lambda t: t.random_(to, generator=generator), out, generator)


def random_from(out, low, to=None, generator=None):
    return _drawn_on_cpu(lambda t: t.random_(low, to, generator=generator), out, generator)


def randperm(n, generator=None, out=None):
    out.resize_(n)
    return _drawn_on_cpu(lambda t: torch.randperm(n, generator=generator, dtype=t.dtype), out, generator)


# --- dropout: the bits of torch's composite on the CPU, noise / (1 - p) times the input ---

def _rest(p):
    """1 - p as float32, of which backward is only told 1 / (1 - p)."""
    rest = ctypes.c_float(1 - p).value
    if ctypes.c_float(1 / (1 / (1 - p))).value != rest:
        raise Outside("a dropout of %r" % p)
    return rest


def native_dropout(x, p, train=None):
    if train is False or p == 0:
        return x.clone(), torch.ones_like(x, dtype=torch.bool)
    if x.dtype not in FLOATS:
        raise Outside("dropout of " + str(x.dtype)[6:])
    if p == 1:
        return torch.zeros_like(x), torch.zeros_like(x, dtype=torch.bool)
    rest = _rest(p)
    noise = _fill("bernoulli", torch.empty_like(x), (1 - p,), None)
    mask = noise.bool()
    if x.numel():
        call("div_number", (noise, noise), (rest,))
    return noise.mul_(x), mask


def native_dropout_backward(grad, mask, scale):
    if grad.dtype not in FLOATS:
        raise Outside("dropout of " + str(grad.dtype)[6:])
    if scale == 0 or not grad.numel():
        return torch.zeros_like(grad)
    noise = torch.empty(mask.shape, dtype=grad.dtype, device=mask.device)
    call("copy", (mask, noise))
    call("div_number", (noise, noise), (ctypes.c_float(1 / scale).value,))
    return noise.mul_(grad)


KERNELS = {
    "uniform_": ("rand", uniform_), "normal_": ("randn", normal_),
    "bernoulli_.float": ("bernoulli", bernoulli_), "bernoulli_.Tensor": ("bernoulli_tensor", bernoulli_tensor_),
    "bernoulli.out": ("bernoulli_tensor", bernoulli_out),
    "random_": ("", random_), "random_.to": ("", random_to), "random_.from": ("", random_from),
    "randperm.generator_out": ("", randperm),
    "native_dropout": ("bernoulli div_number", native_dropout),
    "native_dropout_backward": ("copy div_number", native_dropout_backward),
}
