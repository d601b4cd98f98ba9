"""Lightning's Trainer as its users have it: checkpoints with the best three, a TensorBoard and a CSV logger, all below the
output folder. [cpu|gpu]"""
import os
import sys
import warnings

warnings.filterwarnings("ignore")
import lightning as L
import torch
from lightning.pytorch.callbacks import ModelCheckpoint
from lightning.pytorch.loggers import CSVLogger, TensorBoardLogger
from torch.utils.data import DataLoader, TensorDataset


class Fit(L.LightningModule):
    def __init__(self, width=16):
        super().__init__()
        self.save_hyperparameters()
        self.net = torch.nn.Sequential(torch.nn.Linear(8, width), torch.nn.ReLU(), torch.nn.Dropout(0.1), torch.nn.Linear(width, 1))

    def training_step(self, batch, _):
        x, y = batch
        loss = torch.nn.functional.mse_loss(self.net(x), y)
        self.log("loss", loss)
        return loss

    def validation_step(self, batch, _):
        x, y = batch
        self.log("val", torch.nn.functional.mse_loss(self.net(x), y))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-2)


out = os.environ["LOCKSTEP_OUT"]
data = TensorDataset(torch.randn(64, 8), torch.randn(64, 1))
best = ModelCheckpoint(monitor="val", save_top_k=3, filename="{epoch}-{val:.4f}", save_last=True)
trainer = L.Trainer(max_epochs=3, accelerator=sys.argv[1] if len(sys.argv) > 1 else "cpu", devices=1, callbacks=[best],
                    logger=[TensorBoardLogger(out), CSVLogger(out)], enable_progress_bar=False, enable_model_summary=False,
                    log_every_n_steps=1)
trainer.fit(Fit(), DataLoader(data, batch_size=8, shuffle=True), DataLoader(data, batch_size=32))
