# srun on a real Slurm of two nodes: the policy reaches tasks that other daemons start,
# ranks are told, statuses come back
eval "$("$ROOT/tests/slurm/cluster" start "$SCRATCH/slurm" 2>cluster.log)" || { cat cluster.log >&2; exit 1; }
trap '"$ROOT/tests/slurm/cluster" stop "$SCRATCH/slurm"' EXIT
[ -n "${SLURM_CONF:-}" ] || { cat cluster.log >&2; exit 1; }
cat >task.py <<'PY'
import os, random
with open(os.environ["LOCKSTEP_OUT"] + "/rank" + os.environ["SLURM_PROCID"], "w") as f:
    f.write("%s %r %s\n" % (os.environ["SLURMD_NODENAME"], random.random(), hash("text")))
PY
lockstep run -o a -- srun -N 2 -n 2 python3 task.py
echo "status $?"
cat a/rank0 a/rank1
python3 - <<'PY'
import json
m = json.load(open("a/run_manifest.json"))
tasks = m["hook"]["interpreters"]
print(sorted((i["rank"], i["world_size"], i["exited"]) for i in tasks), m["hook"]["held"], [o["path"] for o in m["outputs"]])
PY
lockstep verify --control seed -- srun -N 2 -n 2 python3 task.py 2>/dev/null | grep -v verify.html
lockstep run -o b -- srun -n 1 python3 -c 'raise SystemExit(7)' 2>/dev/null
echo "status $?"
lockstep run -o c -- srun -n 1 python3 -I task.py
echo "status $?"
# a task that takes the policy off is not covered up by the launcher's status
lockstep run -o d -- srun -n 1 --export=NONE "$(python3 -c 'import sys; print(sys.executable)')" -c 'print("ran")'
echo "status $?"
