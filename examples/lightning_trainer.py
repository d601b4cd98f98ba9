"""Lightning's Trainer: checkpoints of the best epochs, loggers, validation, a schedule.
"""
import argparse
import importlib.util

import lightning as L
import torch
from lightning.pytorch.callbacks import LearningRateMonitor, ModelCheckpoint
from lightning.pytorch.loggers import CSVLogger, TensorBoardLogger
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset


class Classifier(L.LightningModule):
    def __init__(self, width=32, lr=1e-2):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
                                 nn.Flatten(), nn.Linear(8 * 16, width), nn.ReLU(), nn.Dropout(0.2), nn.Linear(width, 4))

    def training_step(self, batch, _):
        x, y = batch
        loss = F.cross_entropy(self.net(x), y)
        self.log("train/loss", loss)
        return loss

    def validation_step(self, batch, _):
        x, y = batch
        logits = self.net(x)
        self.log("val_loss", F.cross_entropy(logits, y))
        self.log("val_accuracy", (logits.argmax(1) == y).float().mean())

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=self.hparams.lr)
        return [optimizer], [torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, self.trainer.max_epochs)]


def images(n):
    """Noise with a bright quarter, which is the class."""
    y = torch.randint(0, 4, (n,))
    x = torch.rand(n, 1, 8, 8)
    for i in range(n):
        top, left = divmod(int(y[i]), 2)
        x[i, 0, 4 * top:4 * top + 4, 4 * left:4 * left + 4] += 0.5
    return TensorDataset(x, y)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", default="runs/lightning")
    parser.add_argument("--device", choices=["auto", "cpu", "cuda"], default="auto")
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--epochs", type=int, default=3)
    args = parser.parse_args()

    L.seed_everything(args.seed, workers=True)
    train = DataLoader(images(128), batch_size=16, shuffle=True)
    val = DataLoader(images(64), batch_size=32)
    loggers = [CSVLogger(args.out)]
    if importlib.util.find_spec("tensorboard"):
        loggers.append(TensorBoardLogger(args.out))
    best = ModelCheckpoint(monitor="val_loss", save_top_k=2, save_last=True, filename="{epoch}-{val_loss:.4f}")
    trainer = L.Trainer(max_epochs=args.epochs, accelerator={"cuda": "gpu"}.get(args.device, args.device), devices=1,
                        default_root_dir=args.out, logger=loggers, callbacks=[best, LearningRateMonitor()],
                        log_every_n_steps=1, enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(Classifier(), train, val)


if __name__ == "__main__":
    main()
