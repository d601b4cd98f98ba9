# what --resume takes from files is that training's own: the best epoch's model, the
# metric, the start, every byte of the checkpoint
D=$ROOT/tests/data
valid="--valid $D/small-valid.svm --metric accuracy --early-stop 0 --batch 128 --l2 0"
plain="--epochs 1 --batch 128 --l2 0" # whatever the defaults are
train() { lockstep fm train $D/small.svm $plain "$@" -q; echo "status $?"; }
lockstep fm train $D/small.svm $plain -o start -q && lockstep fm train $D/small.svm $plain -o other --seed 7 -q
# the best epoch is not the last: its model is in the file from there on
train $valid -o m --checkpoint c --lr 2 --epochs 4 --json | grep -c '"best_epoch": 2,'
cp m best && cp c kept
echo "= the file is another model, of other options; gone; or of this training, but not the best epoch's"
cp other m; train $valid -o m --checkpoint c --lr 2 --epochs 5 --resume
rm m; train $valid -o m --checkpoint c --lr 2 --epochs 5 --resume
lockstep fm train $D/small.svm $plain --lr 2 --epochs 1 -o m -q; train $valid -o m --checkpoint c --lr 2 --epochs 5 --resume
echo "= as it was"
cp kept c && cp best m && train $valid -o m --checkpoint c --lr 2 --epochs 5 --resume && cmp m best
echo "= another metric, another start"
train --valid $D/small-valid.svm --metric auc --early-stop 0 --batch 128 --l2 0 -o m --checkpoint c --lr 2 --epochs 6 --resume
train -o w --checkpoint cw --warm-start start
train -o w --checkpoint cw --warm-start other --epochs 2 --resume
train -o w --checkpoint cw --warm-start start --epochs 2 --resume
echo "= a flipped bit of a state, of the position"
python3 - <<'P'
data = bytearray(open("kept", "rb").read())
bad = bytearray(data)
bad[-100] ^= 1
open("bit", "wb").write(bad)
open("place", "wb").write(data.replace(b'\\"step\\": ', b'\\"step\\":1', 1))
P
cp best m; train $valid -o m --checkpoint bit --lr 2 --epochs 5 --resume
train $valid -o m --checkpoint place --lr 2 --epochs 5 --resume
cmp m best
echo "= a checkpoint that there is no room for"
lockstep fm train $D/small.svm $plain -o x --checkpoint cx -q
{ (ulimit -f 1 && exec lockstep fm train $D/small.svm $plain --epochs 2 -o x --checkpoint cx -q --resume); echo "status $?"; } 2>&1 | cat
lockstep fm train $D/small.svm $plain --epochs 2 -o x --checkpoint cx -q --resume && lockstep fm train $D/small.svm $plain --epochs 2 -o y -q && cmp x y && echo same
