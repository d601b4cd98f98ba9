"""train.py [--model tiny|small|mlp|resnet18|vit] …: trains and prints the SHA-256 of
losses, weights and optimizer state. It may be run as it is, or made exact by `lockstep run
--exact`, or by --exact here.
"""
import argparse
import hashlib
import sys

import torch
from models import make

OPTIMIZERS = {
    "adamw": lambda p, **form: torch.optim.AdamW(p, lr=1e-3, weight_decay=0.1, **form),
    "adam": lambda p, **form: torch.optim.Adam(p, lr=1e-3, weight_decay=0.01, **form),
    "sgd": lambda p, **form: torch.optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=1e-3, **form),
}
FORMS = {"plain": {"foreach": False, "fused": False}, "foreach": {"foreach": True}, "fused": {"fused": True}}


def digest(tensors):
    h = hashlib.sha256()
    for t in tensors:
        h.update(t.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy().tobytes())
    return h.hexdigest()[:16]


def weights_of(model):
    """Parameters and buffers: the statistics of batch norm are some."""
    return list(model.parameters()) + [b.float() for b in model.buffers()]


def state_of(optimizer):
    return [v.float() for s in optimizer.state.values() for _, v in sorted(s.items()) if isinstance(v, torch.Tensor)]


def train(o):
    torch.manual_seed(o.seed)
    model = make(o.model, o.recompute).to(o.device)
    optimizer = OPTIMIZERS[o.optimizer]([p for p in model.parameters() if p.requires_grad], **FORMS[o.form])
    losses = []
    for _ in range(o.steps):
        batch = model.batch(o.samples, o.device)
        with torch.autocast(o.device, torch.bfloat16, enabled=o.bf16):
            loss = model.loss(*batch)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.detach().float())
    return model, optimizer, losses


def options():
    p = argparse.ArgumentParser()
    p.add_argument("--model", default="tiny")
    p.add_argument("--optimizer", default="adamw", choices=OPTIMIZERS)
    p.add_argument("--form", default="plain", choices=FORMS)
    p.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    p.add_argument("--steps", type=int, default=5)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--samples", type=int, default=8, help="of a batch")
    p.add_argument("--threads", type=int)
    p.add_argument("--recompute", action="store_true", help="checkpoint the activations")
    p.add_argument("--bf16", action="store_true", help="autocast")
    p.add_argument("--exact", choices=["on", "strict"])
    p.add_argument("--save")
    return p.parse_args()


def main():
    o = options()
    if o.threads:
        torch.set_num_threads(o.threads)
    if o.exact:
        import lockstep.torch
        lockstep.torch.exact(strict=o.exact == "strict")
    model, optimizer, losses = train(o)
    print("losses %s weights %s optimizer %s" % (digest(losses), digest(weights_of(model)), digest(state_of(optimizer))))
    print("first %.6f last %.6f" % (losses[0], losses[-1]), file=sys.stderr)
    if o.save:
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "losses": losses}, o.save)


if __name__ == "__main__":
    main()
