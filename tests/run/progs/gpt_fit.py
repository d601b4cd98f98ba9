"""In the manner of nanoGPT: one file, settings as globals, `out_dir` and a run's name with the time of day in the checkpoint,
a log of its own. [DEVICE]"""
import logging
import math
import os
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

out_dir = os.environ["LOCKSTEP_OUT"]
wandb_run_name = "mini-gpt-" + str(time.time())
device = sys.argv[1] if len(sys.argv) > 1 else "cpu"
block, width, heads, layers, vocab = 16, 32, 2, 2, 50
max_iters, learning_rate, dropout = 8, 1e-3, 0.1
config = {k: v for k, v in globals().items() if not k.startswith("_") and isinstance(v, (int, float, bool, str))}
torch.manual_seed(int(os.environ["LOCKSTEP_SEED"]))
logging.basicConfig(filename=out_dir + "/train.log", level=logging.INFO, format="%(asctime)s [%(process)d] %(message)s")


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width), nn.Dropout(dropout))

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (y.view(b, t, heads, c // heads).transpose(1, 2) for y in self.qkv(self.one(x)).split(width, 2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=dropout if self.training else 0.0)
        x = x + self.out(y.transpose(1, 2).reshape(b, t, c))
        return x + self.mlp(self.two(x))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.place = nn.Embedding(vocab, width), nn.Embedding(block, width)
        self.body = nn.Sequential(*[Block() for _ in range(layers)], nn.LayerNorm(width))
        self.head = nn.Linear(width, vocab, bias=False)
        self.embed.weight = self.head.weight

    def forward(self, x, y):
        h = self.body(self.embed(x) + self.place(torch.arange(x.shape[1], device=x.device)))
        return F.cross_entropy(self.head(h).view(-1, vocab), y.view(-1))


data = torch.randint(0, vocab, (500,))
model = GPT().to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate, weight_decay=0.1)
best_val_loss = math.inf
for iter_num in range(max_iters):
    at = torch.randint(len(data) - block - 1, (4,))
    x = torch.stack([data[i:i + block] for i in at]).to(device)
    y = torch.stack([data[i + 1:i + 1 + block] for i in at]).to(device)
    loss = model(x, y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    best_val_loss = min(best_val_loss, loss.item())
    logging.info("iter %d: loss %.4f", iter_num, loss.item())
torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "iter_num": iter_num,
            "best_val_loss": best_val_loss, "config": config}, os.path.join(out_dir, "ckpt.pt"))
