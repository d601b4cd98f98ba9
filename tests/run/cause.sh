# manifest diff names the cause: source outside of git, packages, environment,
# accumulation, schedule, optimizer, own seeds
py=$("$ROOT/tools/venv") || exit 77
mkdir -p project/parts site-packages/fakelib site-packages/fakelib-1.0.dist-info
echo 'from . import net' >project/parts/__init__.py
echo 'WIDTH = 4' >project/parts/net.py
echo 'lr: 1' >project/config.yaml
echo >site-packages/fakelib/__init__.py
cat >project/fit.py <<'PY'
import random
import sys

import fakelib
import torch
from parts import net
from torch.utils.data import DataLoader, TensorDataset

every, decay, horizon, seed = int(sys.argv[2]), 0.01, 10, 3
random.seed(seed)
model = torch.nn.Linear(net.WIDTH, 1)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=decay)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=horizon)
data = DataLoader(TensorDataset(torch.randn(64, 4)), batch_size=8, shuffle=True)
for n, (x,) in enumerate(data):
    model(x).sum().backward()
    if every and (n + 1) % every == 0:
        optimizer.step()
        optimizer.zero_grad()
        scheduler.step()
assert not [k for o in (optimizer, scheduler) for k in list(o.state_dict()) + list(vars(o)) if "lockstep" in k]
PY
export PYTHONPATH=$PWD/site-packages
run() { lockstep run -o "$@"; }
causes() { lockstep manifest diff "$1" "$2" --json | "$py" -c 'import json, sys
for d in json.load(sys.stdin)["differences"]:
    if d["weight"] != "does not change bits" and d["what"].split(".")[0] not in ("outputs", "git"):
        # the command begins with where this machine has its interpreter
        values = ["..."] * 2 if d["what"] == "command" else [d["a"], d["b"]]
        print("  %s: %s: %.12s -> %.12s" % (d["weight"], d["what"], *values))'; }
run a -- "$py" project/fit.py project/config.yaml 2 && run b -- "$py" project/fit.py project/config.yaml 2
echo same; causes a b
lockstep manifest show a | grep -E '^(global|optimizer|scheduler)'
edit() { sed -i "$2" "$1"; }
try() { echo "$1"; run b -- "$py" project/fit.py project/config.yaml "${2:-2}"; causes a b; }
edit project/parts/net.py 's/$/  # wider/'; try "a module, untracked"
edit project/parts/net.py 's/  # wider//'
edit project/config.yaml 's/1/2/'; try "a configuration"; edit project/config.yaml 's/2/1/'
mv site-packages/fakelib-1.0.dist-info site-packages/fakelib-1.1.dist-info; try "a package"
mv site-packages/fakelib-1.1.dist-info site-packages/fakelib-1.0.dist-info
export DROPOUT=0.5 API_TOKEN=secret; try "a variable"; unset DROPOUT API_TOKEN
grep -c '"secret"' b/run_manifest.json
edit project/fit.py 's/0.01, 10, 3/0.1, 20, 4/'; try "optimizer, schedule, seed"; edit project/fit.py 's/0.1, 20, 4/0.01, 10, 3/'
try "accumulation" 4
# nothing is known of a training that never steps
try "no step" 0
lockstep manifest show b | grep '^global'
