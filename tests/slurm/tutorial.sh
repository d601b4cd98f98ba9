# labels: once
# The tutorial docs/guide-experiments.md on a real Slurm. The test cli.docs runs it on the
# local engine, and tutorial-torch.sh has its PyTorch program.
. "$ROOT/tests/slurm/begin"
. "$ROOT/tests/slurm/by-slurm"
tutorial fm
echo "status of compare and of variance: ${statuses[-10]} ${statuses[-1]}"
tail -n 1 "$SCRATCH/said"
