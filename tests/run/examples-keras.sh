# labels: slow
# The example of Keras: models, weights and log are identical without any --ignore, and
# another seed differs
py=$("$ROOT/tools/venv" keras) || exit 77
PATH="$(dirname "$py"):$PATH"
line=$(grep -E '^lockstep verify.*keras' "$ROOT/examples/README.md")
cd "$ROOT" || exit
bash -c "${line/verify/verify -o $SCRATCH/v}" 2>"$SCRATCH/err" >"$SCRATCH/verdict" || cat "$SCRATCH/err"
echo "status $?"
sed '/\.html$/d; s/: .*with seed.*differs: .*/: and with another seed it differs/' "$SCRATCH/verdict"
