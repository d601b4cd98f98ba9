"""accelerate's loop: prepare, a scheduler, save_state with its random states, a tracker. [cpu|cuda]"""
import os
import sys

import torch
from accelerate import Accelerator
from accelerate.utils import ProjectConfiguration
from torch.utils.data import DataLoader, TensorDataset

out = os.environ["LOCKSTEP_OUT"]
accelerator = Accelerator(cpu=(sys.argv[1:] or ["cpu"]) == ["cpu"], log_with="tensorboard", gradient_accumulation_steps=2,
                          project_config=ProjectConfiguration(out, logging_dir=out + "/logs"))
accelerator.init_trackers("fit", config={"lr": 0.01, "width": 16})
net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Dropout(0.1), torch.nn.Linear(16, 1))
optimizer = torch.optim.AdamW(net.parameters(), lr=0.01)
loader = DataLoader(TensorDataset(torch.randn(32, 8), torch.randn(32, 1)), batch_size=4, shuffle=True)
schedule = torch.optim.lr_scheduler.LinearLR(optimizer, total_iters=8)
net, optimizer, loader, schedule = accelerator.prepare(net, optimizer, loader, schedule)
for epoch in range(2):
    for step, (x, y) in enumerate(loader):
        with accelerator.accumulate(net):
            loss = torch.nn.functional.mse_loss(net(x), y)
            accelerator.backward(loss)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
    accelerator.log({"loss": loss.item()}, step=epoch)
    accelerator.save_state(os.path.join(out, "epoch_%d" % epoch))
accelerator.end_training()
