"""Small models in the style of programs that know nothing of Lockstep."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint


class Block(nn.Module):
    def __init__(self, width, heads, dropout, causal=True):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.drop = nn.Dropout(dropout)

    def attend(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.out(y.transpose(1, 2).reshape(batch, length, width))

    def forward(self, x):
        x = x + self.drop(self.attend(self.before(x)))
        return x + self.drop(self.down(F.gelu(self.up(self.after(x)))))


class GPT(nn.Module):
    def __init__(self, words=97, width=64, heads=4, layers=2, length=32, dropout=0.1, recompute=False):
        super().__init__()
        self.words, self.length, self.recompute = words, length, recompute
        self.token, self.place = nn.Embedding(words, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, heads, dropout) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)

    def forward(self, ids):
        x = self.token(ids) + self.place(torch.arange(ids.shape[1], device=ids.device))
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) if self.recompute and self.training else block(x)
        return self.head(self.norm(x))

    def batch(self, size, device):
        ids = torch.randint(0, self.words, (size, self.length + 1)).to(device)
        return ids[:, :-1], ids[:, 1:]

    def loss(self, ids, wanted):
        return F.cross_entropy(self(ids).reshape(-1, self.words), wanted.reshape(-1))


class MLP(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.stack = nn.Sequential(nn.Linear(20, width), nn.SiLU(), nn.RMSNorm(width), nn.Linear(width, width), nn.Tanh(),
                                   nn.Dropout(0.2), nn.Linear(width, 3))

    def batch(self, size, device):
        x = torch.randn(size, 20)
        return x.to(device), (x[:, :3] * 2 - 1).to(device)

    def loss(self, x, wanted):
        return F.mse_loss(self.stack(x), wanted)


def make(name, recompute=False):
    from vision import VISION
    if name in VISION:
        return VISION[name]()
    if name == "mlp":
        return MLP()
    if name == "small":
        return GPT(words=256, width=256, heads=8, layers=4, length=128, recompute=recompute)
    return GPT(recompute=recompute)
