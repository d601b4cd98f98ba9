"""transformers' Trainer on a tiny GPT-2: checkpoints, evaluation, TensorBoard, the final model. [cpu|cuda]"""
import os
import sys

os.environ["HF_HUB_OFFLINE"] = "1"
import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments


class Tokens(torch.utils.data.Dataset):
    def __init__(self, n):
        self.rows = torch.randint(0, 64, (n, 12))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return {"input_ids": self.rows[i], "labels": self.rows[i]}


out = os.environ["LOCKSTEP_OUT"]
os.environ.setdefault("TENSORBOARD_LOGGING_DIR", out + "/logs")
args = TrainingArguments(out, per_device_train_batch_size=4, num_train_epochs=2, save_strategy="epoch", eval_strategy="epoch",
                         logging_steps=1, report_to=["tensorboard"], disable_tqdm=True,
                         use_cpu=(sys.argv[1:] or ["cpu"]) == ["cpu"])
trainer = Trainer(GPT2LMHeadModel(GPT2Config(vocab_size=64, n_positions=16, n_embd=32, n_layer=2, n_head=2)), args,
                  train_dataset=Tokens(16), eval_dataset=Tokens(8))
result = trainer.train()
trainer.save_metrics("train", result.metrics)
trainer.save_model()
trainer.save_state()
