. "$ROOT/tests/fake/machine.sh"
machine mig
doctor --json >r.json || exit
python3 "$ROOT/tests/cli/report_ok.py" r.json
doctor -v | sed -n '/^GPUs/,/^$/p; /gpu-mig/,/slices/p'
