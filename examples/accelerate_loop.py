"""accelerate: a loop of one's own with accumulation, a schedule, and states to resume
from."""
import argparse
import importlib.util
import os

import torch
from accelerate import Accelerator
from accelerate.utils import ProjectConfiguration, set_seed
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", default="runs/accelerate")
    parser.add_argument("--device", choices=["auto", "cpu", "cuda"], default="auto")
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--epochs", type=int, default=2)
    args = parser.parse_args()

    set_seed(args.seed)
    tracker = "tensorboard" if importlib.util.find_spec("tensorboard") else None
    accelerator = Accelerator(cpu=args.device == "cpu", gradient_accumulation_steps=2, log_with=tracker,
                              project_config=ProjectConfiguration(args.out, logging_dir=os.path.join(args.out, "logs")))
    accelerator.init_trackers("regression", config={"epochs": args.epochs, "seed": args.seed})
    x = torch.randn(64, 8)
    data = TensorDataset(x, x.square().sum(1, keepdim=True))
    model = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Dropout(0.1), nn.Linear(32, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, end_factor=0.1, total_iters=16)
    loader = DataLoader(data, batch_size=8, shuffle=True)
    model, optimizer, loader, schedule = accelerator.prepare(model, optimizer, loader, schedule)
    for epoch in range(args.epochs):
        for x, y in loader:
            with accelerator.accumulate(model):
                loss = nn.functional.mse_loss(model(x), y)
                accelerator.backward(loss)
                optimizer.step()
                schedule.step()
                optimizer.zero_grad()
        accelerator.log({"loss": loss.item()}, step=epoch)
        accelerator.print(f"epoch {epoch}: loss {loss.item():.4f}")
        accelerator.save_state(os.path.join(args.out, f"epoch_{epoch}"))
    accelerator.end_training()


if __name__ == "__main__":
    main()
