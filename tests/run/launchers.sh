# accelerate launch and a notebook run by nbconvert are reached; the kernel is a child of
# nbconvert and draws numbers of its own
py=$("$ROOT/tools/venv") || exit 77
bin=$(dirname "$py")
lockstep run -o a -- "$bin/accelerate" launch --cpu --num_processes 1 --num_machines 1 --mixed_precision no --dynamo_backend no \
	"$ROOT/tests/run/progs/undo.py" 2>notes
echo "status $?"
cat >book.ipynb <<'NB'
{"cells": [{"cell_type": "code", "execution_count": null, "id": "a", "metadata": {}, "outputs": [],
  "source": ["import numpy\n", "print('drawn', numpy.random.rand())"]}],
 "metadata": {"kernelspec": {"display_name": "p", "language": "python", "name": "python3"}}, "nbformat": 4, "nbformat_minor": 5}
NB
lockstep run -o b -- "$bin/jupyter" nbconvert --to notebook --execute --stdout book.ipynb 2>notes | grep -oE 'drawn [0-9.]+'
lockstep run -o c -- "$py" -c "import numpy; print('drawn', numpy.random.rand())"
"$py" - <<'PY'
import json
for d in "ab":
    h = json.load(open(d + "/run_manifest.json"))["hook"]
    print(d, h["held"], h["count"] >= 2, h["uncovered"])
PY
lockstep run -o d -- "$bin/jupyter" nbconvert --to notebook --execute --stdout book.ipynb 2>notes | grep -oE 'drawn [0-9.]+'
