# labels: slow
# The tutorial docs/guide-experiments.md on a real Slurm, with PyTorch.
. "$ROOT/tests/slurm/begin"
py=$("$ROOT/tools/venv") || exit 77
PATH=$(dirname "$py"):$PATH
. "$ROOT/tests/slurm/by-slurm"
tutorial torch
