"""Training steps from micro-batches: what N ranks with accumulation compute, in one
process.

Each step takes the same samples however they are divided into batch x ranks x accum, so
the metrics agree; the order in which gradients are added differs, and so may the last
bits.
"""
import argparse
import json
import os

import torch
from torch import nn


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", default="runs/micro_batches")
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--batch", type=int, default=48, help="samples of a rank and micro-batch")
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--accum", type=int, default=1)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--warmup", type=int, default=25)
    args = parser.parse_args()

    data = torch.Generator().manual_seed(0)  # the same data for every seed
    x = torch.randn(4800, 16, generator=data)
    y = x.sum(1, keepdim=True).sin()
    torch.set_num_threads(1)  # the matrices are too small to share
    torch.manual_seed(args.seed)
    model = nn.Sequential(nn.Linear(16, 64), nn.Tanh(), nn.Linear(64, 1))
    velocity = [torch.zeros_like(p) for p in model.parameters()]
    micro_batches = args.ranks * args.accum
    os.makedirs(args.out, exist_ok=True)
    with open(os.path.join(args.out, "metrics.jsonl"), "w") as log:
        for step in range(1, args.steps + 1):
            chosen = torch.randint(len(x), (args.batch * micro_batches,))
            model.zero_grad()
            for part in chosen.split(args.batch):
                (nn.functional.mse_loss(model(x[part]), y[part]) / micro_batches).backward()
            with torch.no_grad():
                # SGD with momentum; torch.optim imports more than this training computes
                lr = 0.1 * min(1, step / max(1, args.warmup))
                for p, v in zip(model.parameters(), velocity):
                    p -= lr * v.mul_(0.9).add_(p.grad)
            if step % 25 == 0 or step == args.steps:
                with torch.no_grad():
                    loss = nn.functional.mse_loss(model(x), y).item()
                print(f"step {step}: loss {loss:.6f}")
                log.write(json.dumps({"step": step, "valid_loss": loss}) + "\n")
    torch.save(model.state_dict(), os.path.join(args.out, "model.pt"))


if __name__ == "__main__":
    main()
