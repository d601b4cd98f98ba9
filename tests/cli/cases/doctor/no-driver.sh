# Everything matches but the driver, which is not there: cannot tell, 3.
. "$ROOT/tests/fake/machine.sh"
machine nodriver
doctor --cuda --spec kaggle-2025-09 --fail-on-mismatch
