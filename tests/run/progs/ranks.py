"""Two gloo ranks with DistributedDataParallel, on one device; rank 0 writes. [DEVICE]"""
import os
import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank, device = dist.get_rank(), sys.argv[1] if len(sys.argv) > 1 else "cpu"
net = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.Tanh(), torch.nn.Linear(32, 4)).to(device)
model = DistributedDataParallel(net)
opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for step in range(5):
    x = torch.randn(8, 16, device=device) + rank
    loss = model(x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
if rank == 0:
    torch.save(model.module.state_dict(), os.environ["LOCKSTEP_OUT"] + "/model.pt")
dist.destroy_process_group()
