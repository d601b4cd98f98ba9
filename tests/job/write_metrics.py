"""write_metrics.py FOLDER: what real libraries write, each into a folder of its own:
torch's SummaryWriter (scalars of every form among histograms, texts and images, and a
second file after a resume), Lightning's CSVLogger by hand, and a Trainer with CSVLogger
and TensorBoardLogger."""
import math
import os
import sys
import warnings

warnings.filterwarnings("ignore")
import lightning
import torch
from lightning.pytorch.demos.boring_classes import BoringModel
from lightning.pytorch.loggers import CSVLogger, TensorBoardLogger
from torch.utils.tensorboard import SummaryWriter

out = sys.argv[1]
lightning.seed_everything(1)


def writer():
    with SummaryWriter(f"{out}/tb") as w:
        for i in range(1, 301):
            w.add_scalar("train/loss", 1 / i, i)
            w.add_scalar("lr", 0.1 * 0.99 ** i, i, new_style=True)
            w.add_scalar("double", 1 / i, i, new_style=True, double_precision=True)
        for i, v in enumerate([0.5, math.nan, math.inf, -math.inf, 1e-45]):  # SQLite has no -0.0
            w.add_scalar("odd", v, i * 2**31)
        w.add_scalar("without a step", 3)
        w.add_scalars("pair", {"a": 1.0, "b": 2.0}, 7)
        w.add_histogram("weights", torch.arange(100.0), 1)
        w.add_text("note", "no *number*", 1)
        w.add_image("picture", torch.zeros(3, 4, 4), 1)
        w.add_pr_curve("pr", torch.tensor([0, 1, 1]), torch.tensor([0.1, 0.8, 0.6]), 1)
        w.add_hparams({"lr": 0.1, "opt": "sgd"}, {"hparam/f1": 0.75}, run_name="hparams")
    with SummaryWriter(f"{out}/tb", purge_step=300, filename_suffix=".resumed") as w:
        w.add_scalar("train/loss", 0.25, 300)
        w.add_scalar("train/loss", 0.125, 301)


def by_hand():
    log = CSVLogger(f"{out}/csv", name="", version="")
    for i in range(20):
        log.log_metrics({"train_loss": torch.tensor(1 / (i + 1)), "lr": 0.1 * 0.9 ** i}, step=i)
        if i % 5 == 4:  # a new column rewrites the file
            log.log_metrics({"val_loss": math.nan if i == 9 else i / 3, f"late_{i}": i}, step=i)
        log.save()


class Model(BoringModel):
    def training_step(self, batch, i):
        loss = self.step(batch)
        self.log("train_loss", loss)
        return {"loss": loss}

    def validation_step(self, batch, i):
        self.log("val_loss", self.step(batch))


def trainer():
    trainer = lightning.Trainer(max_epochs=2, limit_train_batches=6, limit_val_batches=2, log_every_n_steps=2,
                                accelerator="cpu", devices=1, enable_progress_bar=False, enable_model_summary=False,
                                enable_checkpointing=False, num_sanity_val_steps=0, default_root_dir=out,
                                logger=[CSVLogger(f"{out}/fit"), TensorBoardLogger(f"{out}/fit")])
    trainer.fit(Model())


writer()
by_hand()
trainer()
assert os.listdir(out)
