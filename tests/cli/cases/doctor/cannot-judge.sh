# What nobody judged is not green: a CUDA newer than the tables, tables without rows, a
# Python that ends in an answer which is not the probe's.
. "$ROOT/tests/fake/machine.sh"
gate() { doctor "$@" --fail-on-mismatch >out 2>&1; echo "status $?"; }
echo '== a CUDA that the table does not have, and a driver of an older major version'
site=/opt/conda/lib/python3.12/site-packages
base debian 12 2.36
driver 580.65.06 13000
gpu 'NVIDIA H200' 9.0 143771 700 mig=0
python /opt/conda/bin/python3.12 3.12.11
ln -s python3.12 "$root/opt/conda/bin/python"
mkdir -p "$root/opt/conda/conda-meta"
torch $site 3.9.0+cu151 15.1 9.99.0.50
variables=(PATH=/opt/conda/bin:/usr/bin)
echo '{"schema": 1, "name": "pin", "torch": "3.9.0+cu151"}' >pin.json
gate --spec pin.json
grep -A3 driver-too-old out
echo '== code for a GPU in a torch that the table does not have'
arch() { # CAPABILITY
	base debian 12 2.36
	driver 580.65.06 13000
	gpu 'some GPU' "$1" 16384 250
	python /opt/conda/bin/python3.12 3.12.11
	ln -s python3.12 "$root/opt/conda/bin/python"
	mkdir -p "$root/opt/conda/conda-meta"
	torch $site 2.99.0+cu130 13.0 9.99.0.50
	echo "$1: $(gate --cuda)"
	grep -A3 arch-unknown out
}
arch 6.0
arch 9.0
echo '== tables that judge nothing'
mkdir mine
echo '{"about": "x", "date": "2026-11-19", "rows": []}' >mine/cuda-driver.json
gate --cuda --tables mine
cat out
echo '== --deep: the last line is not the answer, or says nothing of torch'
export PYTHONDONTWRITEBYTECODE=1
python3 -m venv --without-pip env || exit
echo '{"schema": 1, "name": "pin", "python": ">=3"}' >pin.json
deep() {
	lockstep doctor --python env/bin/python3 --deep --spec pin.json --fail-on-mismatch --json >out
	echo "status $?"
	python3 -c 'import json
for f in json.load(open("out"))["findings"]:
    if f["id"].startswith("deep-"): print(f["outcome"], f["id"], f["found"].replace("\n", " ")[:60])'
}
# not sitecustomize, which Debian's own Python has already
later=$(echo env/lib/python3*/site-packages)/later.py
echo 'import later' >"${later%.py}.pth"
echo 'import atexit; atexit.register(print, "{}")' >"$later"
deep
echo "import atexit; atexit.register(print, '{\"python\": \"3.0\"}')" >"$later"
deep
