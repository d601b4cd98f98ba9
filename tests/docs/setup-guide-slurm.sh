# a cluster with the partitions of the page, and a program that trains for a moment
export LC_ALL=C
mkdir slurm
eval "$("$ROOT/tests/slurm/cluster" start "$PWD/slurm" gpus 2>cluster.log)"
trap '"$ROOT/tests/slurm/cluster" stop "$PWD/slurm"' EXIT
cat >train.py <<'END'
import argparse
a = argparse.ArgumentParser()
a.add_argument("--seed", type=int)
a.add_argument("--out")
a.add_argument("--resume-from")
a = a.parse_args()
with open(a.out + "/metrics.csv", "w") as f:
    f.write("step,loss\n1,0.9\n2,0.%d\n" % a.seed)
END
