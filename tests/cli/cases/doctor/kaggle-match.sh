# The machine of the spec: the gate passes, and the report has the run manifest's env
# block.
. "$ROOT/tests/fake/machine.sh"
machine kaggle
doctor --cuda --spec kaggle-2025-09 --fail-on-mismatch --emit-json r.json || exit
python3 "$ROOT/tests/cli/report_ok.py" r.json
