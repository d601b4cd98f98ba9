# what the program undoes is named with its line, or refused; an operation without a deterministic form raises or is recorded
py=$("$ROOT/tools/venv") || exit 77
prog=$ROOT/tests/run/progs/undo.py
lockstep run --strict -- "$py" "$prog" benchmark algorithms 2>&1
echo "status $?"
lockstep run --level 3 --hold -- "$py" "$prog" benchmark threads 2>&1
echo "status $?"
lockstep run -- "$py" "$prog" put 2>&1 | grep -oE '^(RuntimeError: .*implementation|lockstep: .*)'
lockstep manifest show artifacts | grep -E '^(result|held|no det)'
lockstep run --warn-only -- "$py" "$prog" put 2>/dev/null
echo "status $?"
lockstep manifest show artifacts | grep -E '^(result|held|no det)'
