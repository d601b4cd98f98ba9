# The answer fits a screen, in width too; -v has the rest.
. "$ROOT/tests/fake/machine.sh"
machine t4
for columns in 80 140; do
	variables+=(COLUMNS=$columns)
	doctor --cuda --spec kaggle-2025-09 >short
	doctor -v --cuda --spec kaggle-2025-09 >long
	python3 - $columns short long <<'PY'
import sys

columns = int(sys.argv[1])
for name in sys.argv[2:]:
    lines = open(name, encoding="utf-8").read().splitlines()
    # a path is not broken, however long it is
    words = [len(line) for line in lines if max(map(len, line.split()), default=0) < columns - 16]
    print(columns, name, "fits" if max(words) <= columns else max(words), "one screen" if len(lines) <= 40 else "longer",
          "verdict first" if lines[0].startswith("mismatch") else lines[0])
PY
done
variables+=(COLUMNS=80)
doctor --cuda --spec kaggle-2025-09
