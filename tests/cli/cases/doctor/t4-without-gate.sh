# The same machine: without --fail-on-mismatch doctor looked, and that is a 0.
. "$ROOT/tests/fake/machine.sh"
machine t4
doctor --cuda --spec kaggle-2025-09 >out
echo "status $?"
head -n 1 out
