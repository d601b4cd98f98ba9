# two runs that agree, and one that does not
mkdir -p run1 run2 other
python3 "$ROOT/tests/tensor/make.py" checkpoint run1/last.ckpt
python3 "$ROOT/tests/tensor/make.py" checkpoint run2/last.ckpt
python3 "$ROOT/tests/tensor/make.py" checkpoint other/last.ckpt epoch=8 weight=0.50000006
