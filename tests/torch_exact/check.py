"""check.py [--update]: what exact torch promises on one machine, by digests of small
trainings: threads, forms of optimizers and recomputing change no bit, a seed does; strict
mode, refusals and coverage. golden.txt has the digests that every machine must find.
"""
import pathlib
import sys
import threading
import types
import warnings

import lockstep.torch
import torch
from lockstep.torch import LockstepError, OutsideContract
from train import digest, state_of, train, weights_of

GOLDEN = pathlib.Path(__file__).with_name("golden.txt")
faults = []


def expect(what, truth):
    if not truth:
        faults.append(what)


def run(**given):
    o = {"model": "tiny", "optimizer": "adamw", "form": "plain", "device": "cpu", "steps": 4, "seed": 1,
         "samples": 8, "recompute": False, "bf16": False, **given}
    model, optimizer, losses = train(types.SimpleNamespace(**o))
    return "%s %s %s" % (digest(losses), digest(weights_of(model)), digest(state_of(optimizer)))


def trainings():
    found = {}
    for threads in (1, 2):
        torch.set_num_threads(threads)
        for model in ("tiny", "mlp"):
            made = run(model=model)
            expect("%s: 1 and 2 threads differ" % model, found.setdefault(model, made) == made)
    for model in ("resnet18-tiny", "resnet50-tiny", "vit-tiny"):
        torch.set_num_threads(1 + len(found) % 2)
        found[model] = run(model=model, optimizer="sgd", steps=2)
        expect("%s: another seed gives the same bits" % model,
               run(model=model, optimizer="sgd", steps=2, seed=2).split()[1] != found[model].split()[1])
    torch.set_num_threads(2)
    expect("resnet18-tiny: 1 and 2 threads differ", run(model="resnet18-tiny", optimizer="sgd", steps=2) == found["resnet18-tiny"])
    expect("another seed gives the same bits", run(seed=2).split()[1] != found["tiny"].split()[1])
    expect("recomputed activations give other bits", run(recompute=True) == found["tiny"])
    for optimizer in ("adamw", "adam", "sgd"):
        made = {form: run(model="mlp", optimizer=optimizer, form=form) for form in ("plain", "foreach", "fused")}
        found["mlp " + optimizer] = made["plain"]
        for form in made:
            expect("%s: %s and plain differ" % (optimizer, form), made[form] == made["plain"])
    found["tiny bf16"] = run(bf16=True)
    found["resnet18-tiny bf16"] = run(model="resnet18-tiny", optimizer="sgd", steps=2, bf16=True)
    covered = lockstep.torch.coverage()
    expect("outside: %s" % list(covered["outside"]), not covered["outside"])
    return found


def in_a_thread():
    x, made = torch.randn(7, 9), []
    t = threading.Thread(target=lambda: made.append(x @ x.t()))
    t.start()
    t.join()
    expect("a thread computes other bits", torch.equal(made[0], x @ x.t()))


def dropout():
    """The fused form, which torch takes on a GPU, has the bits of the composite."""
    for kind in (torch.float32, torch.bfloat16):
        x, made = torch.randn(50, 40, dtype=kind).t(), []
        for fused in (False, True):
            torch.manual_seed(4)
            leaf = x.clone().requires_grad_()
            y = torch.native_dropout(leaf, 0.3, True)[0] if fused else torch.nn.functional.dropout(leaf, 0.3)
            y.backward(x)
            made += [y.detach(), leaf.grad]
        expect("dropout of %s" % kind, torch.equal(made[0], made[2]) and torch.equal(made[1], made[3]))


def outside():
    """torch's own kernels still answer for what is not covered, and it is told."""
    a, b = torch.randn(5, 6, dtype=torch.float64), torch.randn(6, 7, dtype=torch.float64)
    expect("float64 products", torch.allclose(a @ b, torch.from_numpy(a.numpy() @ b.numpy())))
    expect("whole products", (torch.arange(6).view(2, 3) @ torch.arange(6).view(3, 2)).tolist() == [[10, 13], [28, 40]])
    expect("sparse products", torch.allclose(torch.sparse.mm(a.float().to_sparse(), b.float()), (a @ b).float(), atol=1e-5))
    torch.randn(4).cumprod(0)
    covered = lockstep.torch.coverage()["outside"]
    expect("told: %s" % list(covered), {"mm", "cumprod"} <= covered.keys())
    expect("the line: %s" % covered["cumprod"], covered["cumprod"]["where"].startswith(__file__))
    lockstep.torch.exact(strict=True)
    try:
        torch.randn(4).cumprod(0)
        faults.append("strict mode lets cumprod pass")
    except OutsideContract as fault:
        expect("the message: %s" % fault, "cumprod" in str(fault) and __file__ in str(fault))
    lockstep.torch.exact(strict=False)


def refused():
    try:
        torch.compile(torch.nn.Linear(2, 2))
        faults.append("torch.compile is not refused")
    except LockstepError:
        pass


def wrong_calls():
    """What torch refuses is refused, and not computed from other places."""
    f, one, x = torch.nn.functional, torch.ones(1), torch.randn(4, 3)
    at = lambda *places: tuple(torch.tensor([n]) for n in places)
    calls = {"sum": lambda: x.sum(7), "sum twice": lambda: x.sum((0, -2)), "mean": lambda: x.mean(-3), "var": lambda: x.var(2),
             "norm": lambda: torch.linalg.vector_norm(x, dim=5), "rms_norm": lambda: f.rms_norm(x, (2,)),
             "index_add": lambda: x.clone().index_add_(0, *at(-1), x[:1]),
             "its source": lambda: x.clone().index_add_(0, *at(1), x[:1].t()),
             "its dimension": lambda: torch.zeros(3).index_add_(4, *at(1), one),
             "scatter_add": lambda: torch.zeros(3).scatter_add_(0, *at(-1), one),
             "index_put": lambda: x.clone().index_put_(at(0, 5), one, accumulate=True),
             "its negative": lambda: x.clone().index_put_(at(1, -4), one, accumulate=True),
             "weight of classes": lambda: f.cross_entropy(x, torch.zeros(4, dtype=torch.long), weight=torch.ones(2)),
             "chances": lambda: f.binary_cross_entropy(torch.tensor([2.0]), one)}
    for name, call in calls.items():
        try:
            faults.append("%s is not refused: %s" % (name, call()))
        except (RuntimeError, IndexError):
            pass
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # CSR is in beta
        expect("products of CSR", torch.allclose(x.to_sparse_csr() @ x.t(), x @ x.t(), atol=1e-5))


def main():
    lockstep.torch.exact(tell=False)
    found = trainings()
    in_a_thread()
    dropout()
    outside()
    refused()
    wrong_calls()
    text = "".join("%s: %s\n" % item for item in sorted(found.items()))
    if "--update" in sys.argv:
        GOLDEN.write_text(text)
    expect("golden.txt has other digests:\n" + text, GOLDEN.exists() and GOLDEN.read_text() == text)
    print("%d trainings, %d faults" % (len(found), len(faults)))
    for fault in faults:
        print(fault)
    return bool(faults)


sys.exit(main())
