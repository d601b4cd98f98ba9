"""bench/torch_step.py gpt2|vit|resnet18|resnet50 [--exact] [--device cpu|cuda] [--steps N]
[--batch N]: the time of a training step, forward, backward, clipping and AdamW, in float32
without TF32, and the memory that it took. GPT-2 small by torch's own layers (12 layers, 768
wide, vocabulary of 50,304, sequences of 1024), a ViT-B/16 (images of 224), or a residual
network on 128 images of 32. One JSON line.
"""
import argparse
import json
import os
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "torch_exact"))
from models import GPT, Block  # noqa: E402
from vision import VISION  # noqa: E402


class ViT(nn.Module):
    def __init__(self, width=768, heads=12, layers=12, patch=16, classes=1000, side=224):
        super().__init__()
        self.patch, self.cut = patch, nn.Linear(3 * patch * patch, width)
        self.place = nn.Parameter(torch.zeros(1, (side // patch) ** 2, width))
        self.blocks = nn.ModuleList(Block(width, heads, 0.0) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, classes)

    def forward(self, images):
        n, c, h, w = images.shape
        p = self.patch
        x = images.reshape(n, c, h // p, p, w // p, p).permute(0, 2, 4, 1, 3, 5).reshape(n, -1, c * p * p)
        x = self.cut(x) + self.place
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x).mean(1))

    def loss(self, images, wanted):
        return F.cross_entropy(self(images), wanted)


def gpt2():
    return GPT(words=50304, width=768, heads=12, layers=12, length=1024, dropout=0.0)


def batch_of(name, model, n, device):
    if name != "vit":
        return model.batch(n, device)
    return torch.randn(n, 3, 224, 224).to(device), torch.randint(0, 1000, (n,)).to(device)


# by name: how it is made, and the samples of a batch
MODELS = {"gpt2": (gpt2, 4), "vit": (ViT, 64), "resnet18": (VISION["resnet18"], 128), "resnet50": (VISION["resnet50"], 128)}


def options():
    p = argparse.ArgumentParser()
    p.add_argument("model", choices=list(MODELS))
    p.add_argument("--exact", action="store_true")
    p.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    p.add_argument("--steps", type=int, default=10)
    p.add_argument("--batch", type=int)
    return p.parse_args()


def main():
    o = options()
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    if o.exact:
        import lockstep.torch
        lockstep.torch.exact()
    torch.manual_seed(1)
    make, samples = MODELS[o.model]
    model = make().to(o.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    batch = batch_of(o.model, model, o.batch or samples, o.device)

    def step():
        loss = model.loss(*batch)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss

    wait = torch.cuda.synchronize if o.device == "cuda" else lambda: None
    for _ in range(3):
        loss = step()
    wait()
    times = []
    for _ in range(o.steps):
        begin = time.perf_counter()
        loss = step()
        wait()
        times.append(time.perf_counter() - begin)
    print(json.dumps({"model": o.model, "exact": o.exact, "device": o.device, "torch": torch.__version__,
                      "ms": round(1e3 * sorted(times)[len(times) // 2], 2), "loss": loss.item(),
                      "peak_GiB": round(torch.cuda.max_memory_allocated() / 2 ** 30, 2) if o.device == "cuda" else None}))


if __name__ == "__main__":
    main()
