# The driver was upgraded and the machine not rebooted.
. "$ROOT/tests/fake/machine.sh"
machine code18
doctor --spec kaggle-2025-09 --fail-on-mismatch
