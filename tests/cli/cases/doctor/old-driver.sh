# A library without the newer functions: what it cannot say is unknown or comes from
# libcuda.
. "$ROOT/tests/fake/machine.sh"
machine old
doctor --cuda -v
echo "status $?"
