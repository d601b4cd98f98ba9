# The answer fits a screen of 24 lines with the prompt, and is as wide as the terminal;
# -v has the rest. On a PyPI torch, a notebook, a service on the CPU, a GPU machine that
# drifted; with a spec of thousands of packages, and with a symptom.
. "$ROOT/tests/fake/machine.sh"
fits() { # COLUMNS FILE
	python3 - "$1" "$2" <<'PY'
import sys

columns = int(sys.argv[1])
lines = open(sys.argv[2], encoding="utf-8").read().splitlines()
# a path is not broken, however long it is
words = [len(line) for line in lines if max(map(len, line.split()), default=0) < columns - 16]
print("", "fits" if max(words) <= columns else max(words), "one screen" if len(lines) < 24 else len(lines), lines[0].split()[0], sep=" ")
PY
}
show() { # NAME OPTION…
	local columns
	for columns in 80 140; do
		variables+=(COLUMNS=$columns)
		doctor "${@:2}" >short
		echo "$1, $columns columns:$(fits $columns short)"
		doctor -v "${@:2}" >long
		[ "$(fits $columns long | cut -d' ' -f2)" = fits ] || echo "-v is wider"
	done
}
machine t4
show drifted --cuda --spec kaggle-2025-09
variables+=(COLUMNS=80)
doctor --cuda --spec kaggle-2025-09
show symptom --symptom slow-training
machine kaggle
show notebook --cuda --spec kaggle-2025-09
rm -r "$root"/usr/local/lib/python3.10/dist-packages/nvidia_cudnn*
dist /usr/local/lib/python3.10/dist-packages nvidia_cudnn_cu12 8.8.0.1
show pypi --deep --spec kaggle-2025-09
base debian 12 2.36
python /usr/local/bin/python3.10 3.10.9
ln -s python3.10 "$root/usr/local/bin/python3"
variables=(PATH=/usr/local/bin:/usr/bin)
show service --spec gpu-inference-2024-11
python3 -c 'import json; print(json.dumps({"schema": 1, "name": "many", "packages": {"some-long-name-%d" % i: "1.0" for i in range(3000)}}))' >many.json
show many --spec many.json
