"""In the manner of nanoGPT: one file, settings as globals that --name=value changes, the
characters of a text, a checkpoint with its configuration."""
import ast
import math
import os
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

out_dir = "runs/nanogpt"
wandb_run_name = "mini-gpt-" + str(time.time())
device = "cuda" if torch.cuda.is_available() else "cpu"
seed = 1337
eval_interval, eval_iters = 10, 4
max_iters, warmup_iters, batch_size = 30, 5, 8
learning_rate, min_lr, weight_decay, grad_clip = 3e-3, 3e-4, 0.1, 1.0
block_size, n_layer, n_head, n_embd, dropout = 32, 2, 2, 32, 0.1

config_keys = [k for k, v in globals().items() if not k.startswith("_") and isinstance(v, (int, float, bool, str))]
for arg in sys.argv[1:]:
    key, value = arg.removeprefix("--").split("=", 1)
    if key not in config_keys:
        sys.exit(f"unknown setting: {key}")
    globals()[key] = ast.literal_eval(value) if not isinstance(globals()[key], str) else value
config = {k: globals()[k] for k in config_keys}

with open(__file__, encoding="utf-8") as file:
    text = file.read()
characters = sorted(set(text))
data = torch.tensor([characters.index(c) for c in text])
split = int(0.9 * len(data))
halves = {"train": data[:split], "val": data[split:]}


class SelfAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.proj = nn.Linear(n_embd, 3 * n_embd), nn.Linear(n_embd, n_embd)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (y.view(b, t, n_head, c // n_head).transpose(1, 2) for y in self.qkv(x).split(c, 2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=dropout if self.training else 0.0)
        return self.proj(y.transpose(1, 2).reshape(b, t, c))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1, self.attn, self.ln_2 = nn.LayerNorm(n_embd), SelfAttention(), nn.LayerNorm(n_embd)
        self.mlp = nn.Sequential(nn.Linear(n_embd, 4 * n_embd), nn.GELU(), nn.Linear(4 * n_embd, n_embd),
                                 nn.Dropout(dropout))

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(len(characters), n_embd), nn.Embedding(block_size, n_embd)
        self.h = nn.Sequential(*[Block() for _ in range(n_layer)], nn.LayerNorm(n_embd))
        self.lm_head = nn.Linear(n_embd, len(characters), bias=False)
        self.wte.weight = self.lm_head.weight

    def forward(self, x, y):
        h = self.h(self.wte(x) + self.wpe(torch.arange(x.shape[1], device=x.device)))
        return F.cross_entropy(self.lm_head(h).flatten(0, 1), y.flatten())


def get_batch(half):
    at = torch.randint(len(halves[half]) - block_size, (batch_size,))
    x = torch.stack([halves[half][i:i + block_size] for i in at])
    y = torch.stack([halves[half][i + 1:i + 1 + block_size] for i in at])
    return x.to(device), y.to(device)


def get_lr(it):
    if it < warmup_iters:
        return learning_rate * (it + 1) / warmup_iters
    ratio = (it - warmup_iters) / max(1, max_iters - warmup_iters)
    return min_lr + 0.5 * (1 + math.cos(math.pi * ratio)) * (learning_rate - min_lr)


@torch.no_grad()
def estimate_loss():
    model.eval()
    losses = {half: torch.stack([model(*get_batch(half)) for _ in range(eval_iters)]).mean().item() for half in halves}
    model.train()
    return losses


os.makedirs(out_dir, exist_ok=True)
torch.manual_seed(seed)
model = GPT().to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate, betas=(0.9, 0.95), weight_decay=weight_decay)
best_val_loss = math.inf
t0 = time.time()
for iter_num in range(max_iters + 1):
    for group in optimizer.param_groups:
        group["lr"] = get_lr(iter_num)
    if iter_num % eval_interval == 0:
        losses = estimate_loss()
        print(f"step {iter_num}: train loss {losses['train']:.4f}, val loss {losses['val']:.4f}")
        best_val_loss = min(best_val_loss, losses["val"])
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "iter_num": iter_num,
                    "best_val_loss": best_val_loss, "config": config}, os.path.join(out_dir, "ckpt.pt"))
    loss = model(*get_batch("train"))
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), grad_clip)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    t0, dt = time.time(), time.time() - t0
    print(f"iter {iter_num}: loss {loss.item():.4f}, time {dt * 1000:.2f}ms")
