"""transformers' Trainer on a tiny GPT-2 with random weights: nothing is downloaded."""
import argparse
import importlib.util
import os

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

VOCABULARY, LENGTH = 64, 16


class Sequences(torch.utils.data.Dataset):
    """Arithmetic progressions modulo the vocabulary."""

    def __init__(self, n, generator):
        start, step = torch.randint(0, VOCABULARY, (2, n, 1), generator=generator)
        self.rows = (start + step * torch.arange(LENGTH)) % VOCABULARY

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return {"input_ids": self.rows[i], "labels": self.rows[i]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", default="runs/transformers")
    parser.add_argument("--device", choices=["auto", "cpu", "cuda"], default="auto")
    parser.add_argument("--seed", type=int, default=42)
    args = parser.parse_args()

    set_seed(args.seed)
    tensorboard = importlib.util.find_spec("tensorboard") is not None
    os.environ.setdefault("TENSORBOARD_LOGGING_DIR", os.path.join(args.out, "logs"))
    settings = TrainingArguments(
        args.out, seed=args.seed, num_train_epochs=2, per_device_train_batch_size=8, gradient_accumulation_steps=2,
        learning_rate=1e-3, lr_scheduler_type="cosine", warmup_steps=2, eval_strategy="epoch", save_strategy="epoch",
        logging_steps=1, load_best_model_at_end=True, disable_tqdm=True, use_cpu=args.device == "cpu",
        report_to=["tensorboard"] if tensorboard else "none")
    model = GPT2LMHeadModel(GPT2Config(vocab_size=VOCABULARY, n_positions=LENGTH, n_embd=32, n_layer=2, n_head=2,
                                       bos_token_id=0, eos_token_id=0))
    generator = torch.Generator().manual_seed(args.seed)
    trainer = Trainer(model, settings, train_dataset=Sequences(64, generator), eval_dataset=Sequences(16, generator))
    result = trainer.train()
    trainer.save_metrics("train", result.metrics)
    trainer.save_metrics("eval", trainer.evaluate())
    trainer.save_model()
    trainer.save_state()


if __name__ == "__main__":
    main()
