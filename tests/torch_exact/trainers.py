"""trainers.py [--device cpu|cuda] [lightning|transformers …]: an example of each framework's
Trainer under exact(), and the digest of the weights that come out.
"""
import argparse
import logging
import os
import tempfile
import warnings

import lockstep.torch
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset
from train import digest

logging.disable(logging.WARNING)
warnings.simplefilter("ignore")


def lightning(device):
    import lightning as L
    from models import MLP

    class Fit(L.LightningModule):
        def __init__(self):
            super().__init__()
            self.model = MLP()

        def training_step(self, batch, index):
            return F.mse_loss(self.model.stack(batch[0]), batch[1])

        def configure_optimizers(self):
            return torch.optim.AdamW(self.parameters(), lr=1e-3)

    L.seed_everything(3)
    fit, x = Fit(), torch.randn(128, 20)
    loader = DataLoader(TensorDataset(x, x[:, :3]), batch_size=16, shuffle=True, num_workers=2)
    L.Trainer(max_epochs=2, accelerator="gpu" if device == "cuda" else "cpu", devices=1, logger=False,
              enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
              gradient_clip_val=1.0).fit(fit, loader)
    return fit


def transformers(device):
    from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed
    set_seed(3)
    model = GPT2LMHeadModel(GPT2Config(n_layer=2, n_embd=32, n_head=2, vocab_size=101, n_positions=32))
    rows = [{"input_ids": row, "labels": row} for row in torch.randint(0, 101, (64, 32))]
    with tempfile.TemporaryDirectory() as folder:
        Trainer(model, TrainingArguments(folder, num_train_epochs=1, per_device_train_batch_size=8, report_to=[],
                                         use_cpu=device == "cpu", save_strategy="no", disable_tqdm=True, logging_steps=1000),
                train_dataset=rows).train()
    return model


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    p.add_argument("names", nargs="*", default=["lightning", "transformers"])
    o = p.parse_args()
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    lockstep.torch.exact()
    for name in o.names:
        print(name, digest({"lightning": lightning, "transformers": transformers}[name](o.device).parameters()))


if __name__ == "__main__":
    main()
