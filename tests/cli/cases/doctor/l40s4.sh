# Four GPUs, no Python at all: --cuda demands a torch.
. "$ROOT/tests/fake/machine.sh"
machine l40s4
doctor --cuda --fail-on-mismatch
