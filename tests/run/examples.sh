# labels: slow
# Each example as examples/README.md has it: identical without any --ignore, and another
# seed differs
py=$("$ROOT/tools/venv") || exit 77
PATH="$(dirname "$py"):$PATH"
grep -E '^lockstep verify' "$ROOT/examples/README.md" | grep -v -e keras -e 'per-node gpu' >commands
[ "$(wc -l <commands)" = 6 ] || echo "6 examples expected"
cd "$ROOT" || exit
while read -r line; do
	echo "$line"
	bash -c "${line/verify/verify -o $SCRATCH/v}" </dev/null 2>"$SCRATCH/err" >"$SCRATCH/verdict"
	echo "status $?"
	sed '/\.html$/d; s/: .*with seed.*differs: .*/: and with another seed it differs/' "$SCRATCH/verdict"
done <"$SCRATCH/work/commands"
