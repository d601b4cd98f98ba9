. "$ROOT/tests/fake/machine.sh"
machine p100
doctor --spec kaggle-2025-09 --fail-on-mismatch
