"""The callbacks in the Trainers of Lightning and of transformers: the same seed gives the
same digests, another one gives others; a line of digests is that of the files; the manifest
is finished and names the checkpoints.
"""
import logging
import os
import pickle
import sys
import tempfile
import warnings

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

import lockstep

logging.disable(logging.WARNING)
warnings.simplefilter("ignore")
os.environ.update(HF_HUB_OFFLINE="1", LOCKSTEP_OUT="elsewhere")


def recorded(out, checkpoints):
    """The lines, once manifest and digests are as they must be."""
    manifest = lockstep.read_manifest(out).json
    assert manifest["state"] == "finished" and manifest["result"]["status"] == 0 and manifest["policy"]["seed"] == 5
    outputs = {o["path"]: o for o in manifest["outputs"]}
    lines = lockstep.callbacks.read_digests(out)
    assert len(lines) == checkpoints and "checkpoint_digests.jsonl" in outputs
    assert sorted({line["step"] for line in lines}) == [line["step"] for line in lines]
    return lines, outputs


def lightning(seed, out, broken=False, processes=1):
    import lightning as L
    from lightning.pytorch.callbacks import ModelCheckpoint

    class Fit(L.LightningModule):
        def __init__(self):
            super().__init__()
            self.model = torch.nn.Linear(6, 2)

        def training_step(self, batch, index):
            if broken:
                raise RuntimeError("broken")
            return F.mse_loss(self.model(batch[0]), batch[1])

        def configure_optimizers(self):
            return torch.optim.AdamW(self.parameters(), lr=1e-2)

    torch.manual_seed(seed)
    fit, x = Fit(), torch.randn(32, 6)
    loader = DataLoader(TensorDataset(x, x[:, :2]), batch_size=8, shuffle=True)
    callbacks = [lockstep.callbacks.LightningCallback(out if processes == 1 else None), ModelCheckpoint(out, save_top_k=-1)]
    assert pickle.loads(pickle.dumps(callbacks[0])).out == callbacks[0].out
    trainer = L.Trainer(max_epochs=2, accelerator="cpu", logger=False, callbacks=callbacks, enable_progress_bar=False,
                        enable_model_summary=False, devices=processes, strategy="auto" if processes == 1 else "ddp_fork",
                        default_root_dir=out)
    trainer.fit(fit, loader)
    lines, outputs = recorded(out, 2)
    for line in lines:
        name = "epoch=%d-step=%d.ckpt" % (line["epoch"], line["step"])
        assert name in outputs
        saved = torch.load(os.path.join(out, name), weights_only=False)
        assert lockstep.digest(saved["state_dict"]) == line["weights"]
        assert lockstep.digest(saved["optimizer_states"]) == line["optimizers"]
    return lines


def transformers(seed, out):
    from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed
    set_seed(seed)
    model = GPT2LMHeadModel(GPT2Config(n_layer=1, n_embd=16, n_head=2, vocab_size=31, n_positions=8))
    rows = [{"input_ids": row, "labels": row} for row in torch.randint(0, 31, (16, 8))]
    Trainer(model, TrainingArguments(out, num_train_epochs=2, per_device_train_batch_size=8, report_to=[], use_cpu=True, seed=seed,
                                     save_strategy="epoch", disable_tqdm=True, logging_steps=1000),
            train_dataset=rows, callbacks=[lockstep.callbacks.TransformersCallback()]).train()
    lines, outputs = recorded(out, 2)
    for line in lines:
        assert {"model.safetensors", "optimizer.pt"} == line["files"].keys()
        for name, hexed in line["files"].items():
            path = "checkpoint-%d/%s" % (line["step"], name)
            assert path in outputs and lockstep.digest_file(os.path.join(out, path)) == hexed
    assert lines[-1]["weights"] == lockstep.digest(model)
    return lines


def main():
    os.chdir(tempfile.mkdtemp())
    assert not {"lightning", "transformers"} & sys.modules.keys(), "imported before it is asked for"
    lockstep.enforce(5, "high", late="warn")
    for train in (lightning, transformers):
        name = train.__name__
        one, same, other = train(5, name + "1"), train(5, name + "2"), train(6, name + "3")
        assert one == same, name
        assert all(x[k] != y[k] for x, y in zip(one, other) for k in ("weights", "files", "optimizers") if k in x)
    # by the first process, in the folder of the trainer
    assert len(lightning(5, "ddp", processes=2)) == 2
    # what cannot be digested does not end a training
    told = lockstep.callbacks._digests(weights={"w": torch.eye(2).to_sparse()}, optimizers=[{"step": 1}])
    assert told["weights"] is None and "sparse" in told["unknown"]["weights"] and told["optimizers"] is None and len(told["unknown"]) == 1
    assert "No such file" in lockstep.callbacks._tensor_files("none")["unknown"]["files"]
    with open("transformers1/model.bin", "wb") as f:
        f.write(b"torn")
    torn = lockstep.callbacks._tensor_files("transformers1")
    assert torn["files"] == {} and torn["unknown"].keys() == {"model.bin"}, torn
    try:
        lightning(5, "c", broken=True)
    except RuntimeError:
        assert lockstep.read_manifest("c").json["result"]["status"] == 1
    else:
        raise AssertionError("not broken")
    os.makedirs("d")
    os.environ["LOCKSTEP_OUT"] = os.path.abspath("d")  # lockstep run writes it there
    try:
        lightning(5, "d")
    except FileNotFoundError as fault:
        assert "run_manifest.json" in str(fault) and os.path.exists("d/checkpoint_digests.jsonl")
    else:
        raise AssertionError("the manifest of lockstep run was overwritten")
    print("the callbacks of both frameworks record digests and manifests")


main()
