"""Each of aten's operations that has an exact kernel computes what it should: near to what
torch computes in float64, in plain, in-place and `out` forms, on odd shapes and strides.
Bits are checked elsewhere; here arguments could be in the wrong order.
"""
import sys

import lockstep.torch
import torch
import torch.nn.functional as F

torch.manual_seed(5)
faults, done = [], set()
X, Y, Z = torch.randn(6, 5, 4), torch.randn(6, 5, 4), torch.rand(6, 5, 4) + 0.5
T = X.transpose(0, 2)
LABELS, WEIGHT = torch.tensor([0, 3, 2, -100, 1, 3]), torch.rand(4) + 0.5
VEC = torch.rand(5) + 0.5
INDEX = torch.randint(0, 6, (6, 5, 4))
IMAGE, VOLUME, WINDOW, CUBE = torch.randn(2, 6, 9, 8), torch.randn(2, 4, 5, 6, 7), torch.randn(4, 6, 3, 2), torch.randn(4, 2, 2, 3, 2)
LAST = IMAGE.contiguous(memory_format=torch.channels_last)

UNARY = "sqrt rsqrt exp expm1 log log1p sin cos tanh erf sigmoid".split()
CALLS = {
    "mm": lambda t: t(X)[0] @ t(Y)[0].t(), "mm transposed": lambda t: t(T)[0] @ t(X)[:, 0],
    "addmm": lambda t: torch.addmm(t(Z)[0, :4, :4], t(X)[0].t(), t(Y)[0], beta=0.5, alpha=2.0),
    "addmm_": lambda t: t(Z)[0, :4, :4].clone().addmm_(t(X)[0].t(), t(Y)[0], beta=0.5),
    "linear": lambda t: F.linear(t(X), t(Y)[0], t(VEC)), "bmm": lambda t: torch.bmm(t(X), t(Y).transpose(1, 2)),
    "baddbmm": lambda t: torch.baddbmm(t(VEC), t(X), t(Y).transpose(1, 2), alpha=0.3),
    "mv": lambda t: t(X)[0].t() @ t(VEC), "dot": lambda t: t(VEC).dot(t(VEC)),
    "mm.out": lambda t: torch.mm(t(X)[0], t(Y)[0].t(), out=t(torch.empty(0))),
    "gelu": lambda t: F.gelu(t(X)), "gelu tanh": lambda t: F.gelu(t(X), approximate="tanh"), "silu": lambda t: F.silu(t(X)),
    "softplus": lambda t: F.softplus(t(X), 2.0), "elu": lambda t: F.elu(t(X), 0.7), "selu": lambda t: F.selu(t(X)),
    "leaky_relu": lambda t: F.leaky_relu(t(X), 0.1),
    "add alpha": lambda t: torch.add(t(X), t(Y), alpha=0.3), "sub_ alpha": lambda t: t(X).clone().sub_(t(Y), alpha=0.3),
    "rsub": lambda t: torch.rsub(t(X), t(Y), alpha=0.3), "div": lambda t: t(X) / 3.0, "div_": lambda t: t(X).clone().div_(3),
    "pow 3": lambda t: t(X) ** 3, "pow": lambda t: t(Z) ** t(Y), "2 **": lambda t: 2.0 ** t(X), "pow 2": lambda t: t(X) ** 2,
    "lerp": lambda t: torch.lerp(t(X), t(Y), 0.3), "lerp_": lambda t: t(X).clone().lerp_(t(Y), t(Z)),
    "addcmul": lambda t: torch.addcmul(t(X), t(Y), t(Z), value=0.3),
    "addcdiv_": lambda t: t(X).clone().addcdiv_(t(Y), t(Z), value=0.3), "broadcast": lambda t: torch.lerp(t(X), t(Y)[0, :, :1], 0.3),
    "sum": lambda t: t(X).sum(), "sum 0": lambda t: t(X).sum(0), "sum 1": lambda t: t(X).sum((0, 2), keepdim=True),
    "sum strides": lambda t: t(T).sum(1), "mean": lambda t: t(X).mean(-1), "mean all": lambda t: t(T).mean(),
    "var": lambda t: t(X).var(1), "std": lambda t: t(X).std((0, 1), correction=0), "var_mean": lambda t: torch.var_mean(t(X), 2)[1],
    "norm": lambda t: t(X).norm(), "norm 1": lambda t: torch.linalg.vector_norm(t(X), 1, 1),
    "norm inf": lambda t: torch.linalg.vector_norm(t(X), float("inf")),
    "foreach_norm": lambda t: torch.stack(torch._foreach_norm([t(X), t(Y)])),
    "softmax": lambda t: t(X).softmax(-1), "softmax 1": lambda t: t(T).softmax(1), "log_softmax": lambda t: t(X).log_softmax(0),
    "cumsum": lambda t: t(X).cumsum(1), "cumsum_": lambda t: t(T).clone().cumsum_(0), "logsumexp": lambda t: t(X).logsumexp(1),
    "layer_norm": lambda t: F.layer_norm(t(X), (5, 4), t(Y)[0], t(Z)[0]), "layer_norm plain": lambda t: F.layer_norm(t(T), (6,)),
    "group_norm": lambda t: F.group_norm(t(X).view(3, 2, 5, 4), 2, t(VEC)[:2], t(VEC)[1:3]),
    "group_norm 4": lambda t: F.group_norm(t(X).view(3, 4, 10), 2, t(WEIGHT), t(WEIGHT)),
    "batch_norm": lambda t: F.batch_norm(t(X), None, None, t(VEC), t(VEC), True),
    "batch_norm eval": lambda t: F.batch_norm(t(X), t(VEC), t(VEC), t(VEC), t(VEC), False),
    "rms_norm": lambda t: F.rms_norm(t(X), (4,), t(WEIGHT)),
    "cross_entropy": lambda t: F.cross_entropy(t(X)[:, 0], LABELS), "nll sum": lambda t: F.nll_loss(t(X)[:, 0], LABELS, t(WEIGHT).detach(), reduction="sum"),
    "nll mean": lambda t: F.nll_loss(t(X)[:, 0], LABELS, t(WEIGHT).detach()), "nll none": lambda t: F.nll_loss(t(X)[:, 0], LABELS, reduction="none"),
    "nll2d": lambda t: F.nll_loss(t(X).transpose(1, 2), INDEX[:, :, 0] % 4), "mse": lambda t: F.mse_loss(t(X), t(Y)),
    "mse sum": lambda t: F.mse_loss(t(X), t(Y), reduction="sum"), "smooth_l1": lambda t: F.smooth_l1_loss(t(X), t(Y), beta=0.5),
    "huber": lambda t: F.huber_loss(t(X), t(Y), delta=0.5), "bce": lambda t: F.binary_cross_entropy(t(X).sigmoid(), t(Z).detach() / 2),
    "log_sigmoid": lambda t: F.logsigmoid(t(X)), "bce logits": lambda t: F.binary_cross_entropy_with_logits(t(X), t(Z) / 2, t(Z).detach(), pos_weight=t(WEIGHT).detach()),
    "embedding": lambda t: F.embedding(INDEX, t(X)[:, 0], padding_idx=2), "index": lambda t: t(X)[LABELS.clamp(0), 1:3],
    "index 2": lambda t: t(X)[LABELS.clamp(0), LABELS.clamp(0) - 4], "mask": lambda t: t(X)[X > 0],
    "index_select": lambda t: t(X).index_select(1, INDEX[0, :, 0] % 5), "gather": lambda t: t(X).gather(0, INDEX),
    "index_add": lambda t: t(X).index_add(1, INDEX[0, :, 0] % 5, t(Y), alpha=2), "scatter_add": lambda t: t(X).scatter_add(0, INDEX, t(Y)),
    "conv1d": lambda t: F.conv1d(t(X), t(torch.ones(1)).expand(3, 5, 2), t(VEC)[:3], padding=1),
    "conv2d": lambda t: F.conv2d(t(IMAGE), t(WINDOW), t(WEIGHT), (2, 1), (1, 2), (1, 2)),
    "conv2d groups": lambda t: F.conv2d(t(IMAGE), t(WINDOW)[:, :3], None, 2, 1, 1, 2),
    "conv2d depth-wise": lambda t: F.conv2d(t(LAST), t(WINDOW).transpose(0, 1)[:, :1], None, 1, "same", 1, 6),
    "conv2d one sample": lambda t: F.conv2d(t(IMAGE)[0], t(WINDOW)),
    "conv3d": lambda t: F.conv3d(t(VOLUME), t(CUBE), t(WEIGHT), 2, 1, 1, 2),
    "conv transposed": lambda t: F.conv_transpose2d(t(IMAGE)[:, :4, :4, :3], t(WINDOW), t(Z)[:, 0, 0], (2, 3), 1, (1, 0), 1, (1, 2)),
    "conv transposed groups": lambda t: F.conv_transpose1d(t(X)[:, :4], t(Y)[:4, :3, :2], None, 2, groups=2),
    "conv expanded": lambda t: F.conv2d(t(IMAGE)[:1].expand(3, 6, 9, 8), t(WINDOW)).sum(),
    "avg_pool1d": lambda t: F.avg_pool1d(t(X), 3, 1, 1), "avg_pool2d": lambda t: F.avg_pool2d(t(IMAGE), 2),
    "avg_pool2d all": lambda t: F.avg_pool2d(t(LAST), (3, 4), (2, 3), (1, 2), True, False),
    "avg_pool2d even": lambda t: F.avg_pool2d(t(IMAGE)[:, :, :8], (4, 2)), "avg_pool2d divisor": lambda t: F.avg_pool2d(t(IMAGE), 3, 2, 1, True, True, 5),
    "avg_pool3d": lambda t: F.avg_pool3d(t(VOLUME), (2, 3, 2), 2, (1, 1, 0), True), "avg_pool one": lambda t: F.avg_pool2d(t(IMAGE)[0], 3, 2),
    "adaptive_avg_pool": lambda t: F.adaptive_avg_pool2d(t(IMAGE), (1, 1)), "adaptive_avg_pool 2": lambda t: F.adaptive_avg_pool2d(t(IMAGE), (3, 4)),
    "adaptive_avg_pool 3": lambda t: F.adaptive_avg_pool2d(t(LAST), (4, 5)), "adaptive_avg_pool3d": lambda t: F.adaptive_avg_pool3d(t(VOLUME), (2, 3, 7)),
    "adaptive_avg_pool1d": lambda t: F.adaptive_avg_pool1d(t(X), 3),
    "max_pool": lambda t: F.max_pool2d(t(IMAGE), 3, 2, 1), "max_pool 2": lambda t: F.max_pool2d(t(LAST), 2, ceil_mode=True),
    "max_pool 3": lambda t: F.max_pool2d(t(IMAGE), (3, 2), 1, (1, 0), (2, 1)), "max_pool1d": lambda t: F.max_pool1d(t(X), 2, 1),
    "max_pool3d": lambda t: F.max_pool3d(t(VOLUME), 2, 1), "adaptive_max_pool": lambda t: F.adaptive_max_pool2d(t(IMAGE), (4, 3)),
    "adaptive_max_pool3d": lambda t: F.adaptive_max_pool3d(t(VOLUME), 2),
    "nearest": lambda t: F.interpolate(t(IMAGE), scale_factor=2), "nearest 1": lambda t: F.interpolate(t(X), 7),
    "nearest 2": lambda t: F.interpolate(t(LAST), (5, 13), mode="nearest-exact"), "nearest 3": lambda t: F.interpolate(t(VOLUME), (7, 3, 9)),
    "linear": lambda t: F.interpolate(t(X), 9, mode="linear"), "bilinear": lambda t: F.interpolate(t(IMAGE), (7, 17), mode="bilinear"),
    "bilinear 2": lambda t: F.interpolate(t(LAST), scale_factor=(1.7, 0.6), mode="bilinear"),
    "bilinear align": lambda t: F.interpolate(t(IMAGE), (5, 11), mode="bilinear", align_corners=True),
    "trilinear": lambda t: F.interpolate(t(VOLUME), (3, 8, 7), mode="trilinear"), "bicubic": lambda t: F.interpolate(t(IMAGE), (7, 17), mode="bicubic"),
    "bicubic align": lambda t: F.interpolate(t(IMAGE), (12, 5), mode="bicubic", align_corners=True),
    "reflect": lambda t: F.pad(t(IMAGE), (2, 1, 0, 3), mode="reflect"), "replicate": lambda t: F.pad(t(VOLUME), (2, 1, 0, 3, 1, 1), mode="replicate"),
    "batch_norm 2d": lambda t: F.batch_norm(t(LAST), None, None, t(Z)[:, 0, 0], t(Z)[:, 1, 1], True),
    "attention": lambda t: F.scaled_dot_product_attention(t(X), t(Y), t(Z), is_causal=True),
    **{name: (lambda t, name=name: getattr(torch, name)(t(Z))) for name in UNARY},
    **{name + "_": (lambda t, name=name: getattr(t(Z).clone(), name + "_")()) for name in UNARY},
    **{name + ".out": (lambda t, name=name: getattr(torch, name)(t(Z), out=t(torch.empty(0)))) for name in UNARY},
}


def run(call, kind):
    """The result and the gradients of all inputs, computed in this type."""
    leaves = {}

    def take(x):
        leaf = leaves.setdefault(id(x), x.detach().to(kind))
        if x.numel() and not leaf.requires_grad:
            leaf.requires_grad_(True)
        return leaf
    try:
        result = call(take)
    except RuntimeError as fault:
        if "out=" not in str(fault) and "running" not in str(fault):
            raise
        result = call(lambda x: x.detach().to(kind))
    if result.requires_grad:
        g = (torch.arange(result.numel()) * 0.01 + 0.5).view(result.shape).to(kind)
        grads = torch.autograd.grad(result, [x for x in leaves.values() if x.requires_grad], g, allow_unused=True)
    else:
        grads = []
    return [result.detach()] + [g for g in grads if g is not None]


wide_results = {label: run(call, torch.float64) for label, call in CALLS.items()}
lockstep.torch.exact(tell=False)
for label, call in CALLS.items():
    wide = wide_results[label]
    try:
        exact = run(call, torch.float32)
    except Exception as fault:  # pylint: disable=broad-except
        faults.append("%s: %s: %s" % (label, type(fault).__name__, fault))
        continue
    for n, (a, b) in enumerate(zip(exact, wide)):
        if a.shape != b.shape or not torch.allclose(a.double(), b, rtol=2e-5, atol=1e-5):
            faults.append("%s: %s is off by %g" % (label, "result" if n == 0 else "gradient %d" % n,
                                                   (a.double() - b).abs().max() if a.shape == b.shape else -1))
covered = lockstep.torch.coverage()
outside = {n: e["reason"] for n, e in covered["outside"].items() }
print("%d calls of %d kinds, %d faults" % (len(CALLS), covered["exact_kinds"], len(faults)))
for line in faults:
    print(line)
for name, reason in outside.items():
    print("outside:", name, reason)
sys.exit(bool(faults or outside))
