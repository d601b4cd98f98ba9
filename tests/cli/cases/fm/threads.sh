# as many threads as processors that the process may use (taskset, Slurm), unless
# --threads says otherwise
cpu=$(taskset -pc $$ | sed 's/.*: //; s/[-,].*//')
taskset -c $cpu lockstep fm train $ROOT/tests/data/small.svm -o m -q --device cpu --json | grep -o 'cpu, 1 thread,'
taskset -c $cpu lockstep fm train $ROOT/tests/data/small.svm -o m -q --device cpu --json --threads 3 | grep -o 'cpu, 3 threads,'
