"""A small CNN with augmentation, dropout and a DataLoader of 4 workers; writes a
checkpoint. No seeds, no switches."""
import os
import random
import sys

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Pictures(Dataset):
    def __len__(self):
        return 32

    def __getitem__(self, i):
        x = np.random.default_rng(i).standard_normal((3, 12, 12)).astype(np.float32)
        if random.random() < 0.5:
            x = x[:, :, ::-1].copy()
        return torch.from_numpy(x) + 0.1 * torch.randn(3, 12, 12), i % 4


def main():
    device = sys.argv[1] if len(sys.argv) > 1 else "cpu"
    workers = int(sys.argv[2]) if len(sys.argv) > 2 else 4
    noise = np.random.default_rng().standard_normal()  # a generator without a seed
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Dropout(0.2), nn.Flatten(),
                          nn.Linear(8 * 10 * 10, 4)).to(device)
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3 * (1 + 0.01 * float(noise)))
    loader = DataLoader(Pictures(), batch_size=8, shuffle=True, num_workers=workers)
    for epoch in range(2):
        for x, y in loader:
            opt.zero_grad()
            loss = nn.functional.cross_entropy(model(x.to(device)), y.to(device))
            loss.backward()
            opt.step()
    torch.save({"model": model.state_dict(), "optimizer": opt.state_dict(), "loss": loss.item(), "epoch": epoch},
               os.path.join(os.environ["LOCKSTEP_OUT"], "last.pt"))


if __name__ == "__main__":
    main()
