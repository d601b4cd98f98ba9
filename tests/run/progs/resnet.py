"""A ResNet-like fit: DEVICE STEPS TIMES [benchmark]. Prints the seconds of so many steps
so many times, without import and warm-up."""
import os
import sys
import time

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, c_in, c_out, stride):
        super().__init__()
        self.a = nn.Conv2d(c_in, c_out, 3, stride, 1, bias=False)
        self.b = nn.Conv2d(c_out, c_out, 3, 1, 1, bias=False)
        self.s = nn.Conv2d(c_in, c_out, 1, stride, bias=False)
        self.na, self.nb = nn.BatchNorm2d(c_out), nn.BatchNorm2d(c_out)

    def forward(self, x):
        y = torch.relu(self.na(self.a(x)))
        return torch.relu(self.nb(self.b(y)) + self.s(x))


device, steps, times = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
if "benchmark" in sys.argv:
    torch.backends.cudnn.benchmark = True
blocks = [Block(64, 64, 1), Block(64, 128, 2), Block(128, 256, 2), Block(256, 512, 2)]
model = nn.Sequential(nn.Conv2d(3, 64, 7, 2, 3), *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10)).to(device)
opt = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
x, y = torch.randn(32, 3, 64, 64, device=device), torch.randint(0, 10, (32,), device=device)


def step():
    opt.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    opt.step()


def wait():
    if device != "cpu":
        torch.cuda.synchronize()


for _ in range(5):
    step()
for _ in range(times):
    wait()
    begin = time.perf_counter()
    for _ in range(steps):
        step()
    wait()
    print("seconds %.4f" % (time.perf_counter() - begin))
torch.save(model.state_dict(), os.environ["LOCKSTEP_OUT"] + "/model.pt")
