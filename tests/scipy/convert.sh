# What scipy and numpy write today reads like the text it was made from.
set -e
python=$("$ROOT/tools/venv")
mkdir npz
"$python" "$ROOT/tests/data/make-npz" npz
d=$ROOT/tests/data
lockstep fm convert "$d/small-valid.svm" -o a.lsd >/dev/null
lockstep fm convert npz/small-valid.npz --labels npz/small-valid-labels.npy -o b.lsd >/dev/null
cmp a.lsd b.lsd
lockstep fm convert "$d/regression.svm" -o c.lsd >/dev/null
lockstep fm convert npz/wide.npz --labels npz/wide-labels.npy --weights npz/wide-weights.npy -o d.lsd >/dev/null
cmp c.lsd d.lsd
echo same
