# exp harvest reads what the real libraries write: torch's SummaryWriter, Lightning's
# CSVLogger, and a Lightning Trainer with two loggers. Expected are the values that
# TensorBoard's own reader and Python's csv find in the same files, all of them and bit by
# bit.
set -u
py=$("$ROOT/tools/venv") || exit 77
lockstep exp init >/dev/null
lockstep exp new real -- "$py" "$ROOT/tests/job/write_metrics.py" '{out}' >/dev/null
lockstep exp submit real
lockstep worker --once --gpus none 2>worker || { cat worker; lockstep exp logs real; }
lockstep exp harvest real
lockstep exp harvest real
lockstep exp export --curves points.json
"$py" "$ROOT/tests/job/compare_metrics.py" points.json runs/real/attempt-1/out
lockstep exp list --columns train/loss,train/loss:max,version_0/val_loss:min,odd:max | head -n 1
