"""Lightning's Trainer, told to be fast: it turns two switches of the policy back. [cpu|gpu]"""
import os
import sys
import warnings

warnings.filterwarnings("ignore")
try:
    import lightning as L
except ImportError:
    import pytorch_lightning as L
import torch
from torch.utils.data import DataLoader, TensorDataset


class Fit(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Dropout(0.1), torch.nn.Linear(16, 1))

    def training_step(self, batch, _):
        x, y = batch
        return torch.nn.functional.mse_loss(self.net(x), y)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-2)


data = TensorDataset(torch.randn(64, 8), torch.randn(64, 1))
trainer = L.Trainer(max_epochs=2, accelerator=sys.argv[1] if len(sys.argv) > 1 else "cpu", devices=1, logger=False, enable_progress_bar=False, accumulate_grad_batches=2,
                    enable_model_summary=False, deterministic=False, benchmark=True, enable_checkpointing=False)
model = Fit()
trainer.fit(model, DataLoader(data, batch_size=8, shuffle=True))
torch.save({"net": model.state_dict(), "step": trainer.global_step}, os.environ["LOCKSTEP_OUT"] + "/fit.pt")
