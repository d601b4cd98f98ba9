# labels: slow
# a PEX, which replaces its interpreter by an isolated one, and a frozen program: the
# policy reaches neither, and it is said
py=$("$ROOT/tools/venv") || exit 77
cat >app.py <<'PY'
import sys
import time

time.sleep(0.5)
print("isolated", sys.flags.isolated)
PY
bin=$(dirname "$py")
export PEX_ROOT=$SCRATCH/pex
"$bin/pex" -o app.pex --exe app.py >log 2>&1 || { cat log >&2; exit 1; }
"$py" -m PyInstaller --log-level ERROR --distpath dist --workpath build --specpath . --name app app.py >log 2>&1 || { cat log >&2; exit 1; }
for program in ./app.pex dist/app/app; do
	lockstep run -- "$program" 2>notes
	echo "status $?"
	grep -o 'the policy did not reach' notes | uniq
	lockstep manifest show artifacts | grep -o '^held *[a-zA-Z]*'
done
