# labels: once
# A hundred thousand packages: what is done per package is linear. The limit is
# processor time, fifty times what it takes.
ulimit -t 60
python3 - <<'PY'
import json
packages = {"package-%d" % i: "1.%d" % i for i in range(100000)}
for name in "old", "new":
    json.dump({"schema": 1, "name": name, "packages": packages}, open(name + ".json", "w"))
    packages["package-7"] = "2.0"
PY
lockstep spec diff old.json new.json; echo "status $?"
. "$ROOT/tests/fake/machine.sh"
machine kaggle
doctor --spec old.json --fail-on-mismatch >out; echo "status $?"
head -n 1 out
sed -n '/more/p' out
lockstep spec render old.json --requirements | grep -c ==
lockstep spec check old.json | tail -n 1
