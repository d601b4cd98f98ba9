# No spec: the facts. CUDA 13's wheels under conda.
. "$ROOT/tests/fake/machine.sh"
machine h200
doctor -v
