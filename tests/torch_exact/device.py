"""device.py [--quick] [--vision]: for a machine with a GPU: trains on the CPU and on the GPU in one
process, and compares losses, weights and optimizer state with ==. Says of each training how
many tensors differ, and ends with status 1 if any does, or if anything stayed outside.
--vision: residual networks and a vision transformer whose last block is trained.
"""
import sys
import time
import types

import lockstep.torch
import torch
from train import digest, state_of, train, weights_of

TRAININGS = [
    {"model": "tiny", "steps": 100}, {"model": "mlp", "steps": 100}, {"model": "small", "steps": 20},
    {"model": "tiny", "steps": 20, "bf16": True}, {"model": "tiny", "steps": 20, "recompute": True},
    {"model": "mlp", "steps": 20, "optimizer": "adam", "form": "foreach"},
    {"model": "mlp", "steps": 20, "optimizer": "sgd", "form": "foreach"},
    {"model": "mlp", "steps": 20, "optimizer": "sgd", "form": "fused"},
    {"model": "tiny", "steps": 20, "form": "foreach"}, {"model": "tiny", "steps": 20, "form": "fused"},
]
VISION = [
    {"model": "resnet18-tiny", "steps": 20, "optimizer": "sgd", "samples": 32},
    {"model": "resnet50-tiny", "steps": 10}, {"model": "vit", "steps": 10, "samples": 8},
    {"model": "resnet18-tiny", "steps": 10, "bf16": True}, {"model": "resnet18", "steps": 5, "samples": 64},
]


def run(device, **given):
    o = {"optimizer": "adamw", "form": "plain", "seed": 1, "samples": 8, "recompute": False, "bf16": False, "device": device, **given}
    begin = time.perf_counter()
    model, optimizer, losses = train(types.SimpleNamespace(**o))
    tensors = [t.detach().cpu() for t in losses + weights_of(model) + state_of(optimizer)]
    return tensors, time.perf_counter() - begin


def main():
    lockstep.torch.exact(tell=False)
    bad = 0
    for given in VISION if "--vision" in sys.argv else TRAININGS[:3] if "--quick" in sys.argv else TRAININGS:
        (a, seconds_a), (b, seconds_b) = run("cpu", **given), run("cuda", **given)
        differ = sum(not torch.equal(x, y) for x, y in zip(a, b))
        bad += differ
        first = next((n for n, (x, y) in enumerate(zip(a, b)) if not torch.equal(x, y)), None)
        print("%s: %d of %d tensors differ%s; %s; cpu %.1f s, cuda %.1f s" % (
            given, differ, len(a), "" if first is None else ", the first is %d" % first, digest(b), seconds_a, seconds_b))
        sys.stdout.flush()
    covered = lockstep.torch.coverage()
    print(lockstep.torch._counts.sentence(covered), covered["outside"])
    return bool(bad or covered["outside"])


sys.exit(main())
