# labels: slow
# The tutorial docs/guide-experiments.md on the local engine, with PyTorch. Its other
# program runs in cli.docs, and both on Slurm in tests/slurm.
py=$("$ROOT/tools/venv") || exit 77
PATH=$(dirname "$py"):$PATH
. "$ROOT/tests/docs/tutorial"
tutorial torch
