"""A transformer encoder on random tokens; writes its parameters and its losses."""
import os
import sys

import torch
from torch import nn

device = sys.argv[1] if len(sys.argv) > 1 else "cpu"
layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.1, batch_first=True)
model = nn.ModuleDict({"embed": nn.Embedding(50, 32), "body": nn.TransformerEncoder(layer, 2),
                       "head": nn.Linear(32, 50)}).to(device)
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
losses = []
for step in range(6):
    tokens = torch.randint(0, 50, (4, 16), device=device)
    out = model["head"](model["body"](model["embed"](tokens)))
    loss = nn.functional.cross_entropy(out[:, :-1].reshape(-1, 50), tokens[:, 1:].reshape(-1))
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    losses.append(loss.item())
out = os.environ["LOCKSTEP_OUT"]
torch.save(model.state_dict(), out + "/model.pt")
torch.save(torch.tensor(losses), out + "/losses.pt")
