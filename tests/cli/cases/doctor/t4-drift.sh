# Another torch, an old driver, one GPU instead of two, and that one throttles.
. "$ROOT/tests/fake/machine.sh"
machine t4
doctor --cuda --spec kaggle-2025-09 --fail-on-mismatch
