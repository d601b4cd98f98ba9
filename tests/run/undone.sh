# what the program undoes is named with its line, or refused; an operation without a
# deterministic form raises or is recorded
py=$("$ROOT/tools/venv") || exit 77
prog=$ROOT/tests/run/progs/undo.py
lockstep run --strict -- "$py" "$prog" benchmark algorithms 2>&1
echo "status $?"
lockstep run --level 3 --hold -- "$py" "$prog" benchmark threads 2>&1
echo "status $?"
# the milder form of the switch, a variable, and an optimizer without a hash, which only
# loses its account
cat >mild.py <<'PY'
import os

import torch


class Odd(torch.optim.SGD):
    def __eq__(self, other):
        return False


Odd([torch.zeros(1, requires_grad=True)], lr=1).step()
torch.use_deterministic_algorithms(True, warn_only=True)
torch.set_deterministic_debug_mode("warn")
torch.backends.cuda.matmul.allow_fp16_accumulation = True
os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":0:0"
os.environ.pop("PYTHONHASHSEED")
print(torch.is_deterministic_algorithms_warn_only_enabled(), torch.backends.cuda.matmul.allow_fp16_accumulation,
      os.environ["CUBLAS_WORKSPACE_CONFIG"], os.environ.get("PYTHONHASHSEED"))
PY
lockstep run -- "$py" mild.py 2>&1 | sed "s|$PWD|.|g"
lockstep run --hold -- "$py" mild.py 2>/dev/null
lockstep run -- "$py" "$prog" put 2>&1 | grep -oE '^(RuntimeError: .*implementation|lockstep: .*)'
lockstep manifest show artifacts | grep -E '^(result|held|no det)'
lockstep run --warn-only -- "$py" "$prog" put 2>/dev/null
echo "status $?"
lockstep manifest show artifacts | grep -E '^(result|held|no det)'
# verify refuses to call identical what ran under other settings
lockstep verify --strict -- "$py" "$prog" benchmark {out} 2>/dev/null
echo "status $?"
