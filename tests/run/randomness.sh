# Generators without a seed: other numbers in each worker, rank and child, the same ones
# in each run; and what is told of them
py=$("$ROOT/tools/venv") || exit 77
cat >draw.py <<'PY'
import multiprocessing as mp
import os
import random
import sys

import numpy
import torch
from torch.utils.data import DataLoader, Dataset


class Noise(Dataset):
    def __len__(self):
        return 32

    def __getitem__(self, i):
        return float(numpy.random.default_rng().random())


def work(q):
    q.put(random.random())


if __name__ == "__main__":
    with open(os.environ["LOCKSTEP_OUT"] + "/draws", "w") as f:
        for workers in (2, 4):
            drawn = [x for _ in range(2) for batch in DataLoader(Noise(), batch_size=8, num_workers=workers) for x in batch.tolist()]
            print(workers, "workers:", len(drawn), "draws,", len(set(drawn)), "different")
            print(drawn, file=f)
        for method in ("fork", "spawn", "forkserver"):
            drawn, q = [], mp.get_context(method).Queue()
            for n in range(2):
                p = mp.get_context(method).Process(target=work, args=(q,))
                p.start()
                drawn.append(q.get())
                p.join()
            print(method, len(set(drawn)), "different")
            print(drawn, file=f)
PY
told() { "$py" -c 'import json, sys; h = json.load(open(sys.argv[1] + "/run_manifest.json"))["hook"]; print(h["shared_streams"])' "$1"; }
lockstep run -o a -- "$py" draw.py && lockstep run -o b -- "$py" draw.py >/dev/null && cmp a/draws b/draws && told a
lockstep run -o c --same-streams -- "$py" draw.py && told c
lockstep manifest show c | grep -c 'drew the same random numbers'
# children that are started without subprocess have numbers of their own, too
cat >start.py <<'PY'
import os
import subprocess
import sys

draw = "import random, numpy; print(random.random(), numpy.random.default_rng().random())"
for n in (1, 2):
    os.system('%s -c "%s"' % (sys.executable, draw))
    os.waitpid(os.posix_spawn(sys.executable, [sys.executable, "-c", draw], os.environ), 0)
    subprocess.run([sys.executable, "-c", draw], close_fds=False)
PY
lockstep run -o s -- "$py" start.py >s1 && lockstep run -o s -- "$py" start.py >s2 && cmp s1 s2 && tr ' ' '\n' <s1 | sort -u | wc -l && told s
# two ranks, which have torch's seed in common, as without Lockstep
cat >rank.py <<'PY'
import os
import random

import numpy
import torch

text = "%r %r %r" % (random.random(), numpy.random.rand(), numpy.random.default_rng().random())
open("%s/rank%s" % (os.environ["LOCKSTEP_OUT"], os.environ["RANK"]), "w").write(text)
torch.rand(1)
PY
lockstep run -o d -- "$(dirname "$py")/torchrun" --standalone --nproc-per-node 2 rank.py 2>/dev/null && told d
cat d/rank0 d/rank1 | tr ' ' '\n' | sort | uniq -d | wc -l
# what the program seeds itself
cat >seeded.py <<'PY'
import random

import numpy
import torch

random.seed(11)
numpy.random.seed(12)
torch.manual_seed(13)
numpy.random.default_rng(14)
PY
lockstep run -o e -- "$py" seeded.py
lockstep manifest show e | sed -n '/^seeded/,/13/p'
