"""Operations that a GPU does in any order: index_add with float atomics, and the
gradient of bicubic interpolation."""
import os
import sys

import torch

torch.manual_seed(0)
kind, device = sys.argv[1], sys.argv[2]
if kind == "index_add":
    target = torch.zeros(7, device=device)
    rows = torch.arange(1 << 20, device=device) % 7
    added = torch.rand(1 << 20, device=device) * 1e3
    target.index_add_(0, rows, added)  # LINE index_add
else:
    x = torch.rand(2, 3, 64, 64, device=device, requires_grad=True)
    y = torch.nn.functional.interpolate(x, scale_factor=1.7, mode="bicubic")
    y.pow(2).sum().backward()  # LINE bicubic
    target = x.grad
torch.save({"target": target.cpu()}, os.environ["LOCKSTEP_OUT"] + "/target.pt")
