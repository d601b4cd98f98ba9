"""Residual networks and vision transformers as programs define them, on random images."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from models import Block


class Residual(nn.Module):
    """Two 3 × 3 convolutions, or 1 × 1, 3 × 3 and 1 × 1 with a bottleneck, and a shortcut."""

    def __init__(self, channels, width, stride, bottleneck):
        super().__init__()
        out = width * 4 if bottleneck else width
        sizes = [(channels, width, 1, 1), (width, width, 3, stride), (width, out, 1, 1)] if bottleneck else \
            [(channels, width, 3, stride), (width, width, 3, 1)]
        self.convs = nn.ModuleList(nn.Conv2d(a, b, k, s, k // 2, bias=False) for a, b, k, s in sizes)
        self.norms = nn.ModuleList(nn.BatchNorm2d(b) for _, b, _, _ in sizes)
        self.shortcut = nn.Identity() if stride == 1 and channels == out else \
            nn.Sequential(nn.Conv2d(channels, out, 1, stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, x):
        y = x
        for n, (conv, norm) in enumerate(zip(self.convs, self.norms)):
            y = norm(conv(y))
            if n + 1 < len(self.convs):
                y = F.relu(y)
        return F.relu(y + self.shortcut(x))


class Images(nn.Module):
    def batch(self, size, device):
        return torch.randn(size, 3, self.side, self.side).to(device), torch.randint(0, self.classes, (size,)).to(device)

    def loss(self, images, wanted):
        return F.cross_entropy(self(images), wanted)


class ResNet(Images):
    """stem: "small" for images of CIFAR's size, "large" with a stride and a pool."""

    def __init__(self, blocks, bottleneck, width=64, side=32, stem="small", classes=10):
        super().__init__()
        self.side, self.classes, channels, layers = side, classes, width, []
        self.stem = nn.Sequential(nn.Conv2d(3, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU()) \
            if stem == "small" else nn.Sequential(nn.Conv2d(3, width, 7, 2, 3, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
                                                  nn.MaxPool2d(3, 2, 1))
        for stage, number in enumerate(blocks):
            for n in range(number):
                layers.append(Residual(channels, width << stage, 2 if stage and not n else 1, bottleneck))
                channels = (width << stage) * (4 if bottleneck else 1)
        self.layers, self.head = nn.Sequential(*layers), nn.Linear(channels, classes)

    def forward(self, x):
        return self.head(torch.flatten(F.adaptive_avg_pool2d(self.layers(self.stem(x)), 1), 1))


class ViT(Images):
    """Patches by a convolution, a class token, and only the last block and the head trained."""

    def __init__(self, side=224, patch=14, width=384, heads=6, layers=12, classes=10, dropout=0.1):
        super().__init__()
        self.side, self.classes = side, classes
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.token = nn.Parameter(torch.randn(1, 1, width) * 0.02)
        self.place = nn.Parameter(torch.randn(1, (side // patch) ** 2 + 1, width) * 0.02)
        self.blocks = nn.ModuleList(Block(width, heads, dropout, causal=False) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, classes)
        self.requires_grad_(False)
        for part in (self.blocks[-1], self.norm, self.head):
            part.requires_grad_(True)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1) + self.place
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x)[:, 0])


VISION = {
    "resnet18": lambda: ResNet([2, 2, 2, 2], False), "resnet50": lambda: ResNet([3, 4, 6, 3], True),
    "resnet18-tiny": lambda: ResNet([2, 2, 2, 2], False, width=8, side=16),
    "resnet50-tiny": lambda: ResNet([3, 4, 6, 3], True, width=4, side=24, stem="large"),
    "vit": ViT, "vit-tiny": lambda: ViT(side=28, patch=7, width=48, heads=3, layers=3),
}
