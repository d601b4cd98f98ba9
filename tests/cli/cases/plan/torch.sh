# labels: once
# PyTorch's own DistributedSampler and DataLoader do what the plan says: samples of a rank, repeated
# samples, micro-batches, steps; and every step sees the same samples on any number of ranks.
# torchrun takes the line that the plan prints.
py=$("$ROOT/tools/venv") || exit 77
PATH="$(dirname "$py"):$PATH"
cat >check.py <<'PY'
import json, random, subprocess
import torch
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def epoch(samples, o, drop):
    """Per rank its micro-batches, as lists of sample numbers."""
    data = TensorDataset(torch.arange(samples))
    out = []
    for rank in range(o["gpus"]):
        sampler = DistributedSampler(data, num_replicas=o["gpus"], rank=rank, seed=7)
        sampler.set_epoch(3)
        out.append([b[0].tolist() for b in DataLoader(data, o["batch_per_gpu"], sampler=sampler, drop_last=drop)])
    return out


def steps(ranks, accum):
    """The samples of each optimizer step, sorted."""
    batches = [sum(b, []) for b in zip(*ranks)]
    return [sorted(sum(batches[i:i + accum], [])) for i in range(0, len(batches), accum)]


dice = random.Random(1)
for n in range(25):
    batch, gpus, accum, to, samples = (dice.randint(1, m) for m in (12, 6, 3, 6, 400))
    drop = dice.random() < .3
    command = ["lockstep", "plan", "--from", f"L40S:{gpus}", "--to", f"H200:{to}", "--batch", str(batch), "--accum", str(accum),
               "--samples", str(samples), "--json"] + ["--drop-last"] * drop
    p = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=False).stdout)
    base = steps(epoch(samples, p["baseline"], drop), accum)
    for o in [p["baseline"]] + p["options"][:3]:
        ranks = epoch(samples, o, drop)
        got = steps(ranks, o["accumulation"])
        assert {len(r) for r in ranks} == {o["micro_batches"]}, (command, o)
        assert len(got) == o["steps_per_epoch"], (command, o)
        if not drop:
            assert sum(map(len, got)) - samples == o["padding"], (command, o)
            assert sum(map(len, ranks[0])) == o["samples_per_rank"]
        if ranks[0]:
            assert len(ranks[0][-1]) == o["last_micro_batch"]
        if o["same_global_batch"]:
            full = samples // o["global_batch"]
            assert got[:full] == base[:full], (command, o)
print("25 plans are PyTorch's")
PY
python3 check.py || exit 1
# in one write: torchrun's ranks share the pipe
echo 'import os; e = os.environ; os.write(1, ("rank %(RANK)s of %(WORLD_SIZE)s %(PER_GPU_BATCH)s\n" % e).encode())' >train.py
line=$(lockstep plan --from L40S:4 --to H200:2 --batch 48 --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["launch"]["torchrun"])')
eval "$line" 2>log | sort || { cat log >&2; exit 1; }
lockstep plan --from L40S:4 --to H200:2 --batch 48 --samples 1000 --epochs 2 --precision bf16 --tf32 on --yaml >plan.yaml
python3 -c '
import yaml
e = yaml.safe_load(open("plan.yaml"))["experiment"]
assert e["total_steps"] == 12 and e["tf32_enabled"] is True and e["learning_rate"] is None
assert e["target"] == {"gpu": "H200", "num_gpus": 2, "per_gpu_batch": 96, "grad_accum": 1}, e'
