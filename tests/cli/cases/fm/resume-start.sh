# a model that is trained on in its place goes on after a kill; a checkpoint beyond
# --epochs is refused
D=$ROOT/tests/data
args=($D/small.svm --valid $D/small-valid.svm --batch 64 --early-stop 0)
lockstep fm train $D/small-valid.svm --batch 64 -o start -q
lockstep fm train "${args[@]}" --warm-start start --epochs 4 -o whole -q
cp start m
lockstep fm train "${args[@]}" --warm-start m --epochs 2 -o m --checkpoint c -q
cmp -s m start || echo "another model is there now"
lockstep fm train "${args[@]}" --warm-start m --epochs 4 -o m --checkpoint c --resume -q; echo "status $?"
cmp m whole && echo same
echo "= another start, in its place"
lockstep fm train $D/small.svm --batch 64 -o other -q
cp start n
lockstep fm train "${args[@]}" --warm-start n --epochs 1 -o n --checkpoint d -q
cp other n
lockstep fm train "${args[@]}" --warm-start n --epochs 2 -o n --checkpoint d --resume -q; echo "status $?"
lockstep fm train "${args[@]}" --warm-start other --epochs 2 -o n -q
lockstep fm train "${args[@]}" --warm-start n --epochs 2 -o n --checkpoint d --resume -q; echo "status $?"
lockstep fm train "${args[@]}" --warm-start none --epochs 2 -o n -q; echo "status $?"
echo "= fewer epochs"
lockstep fm train $D/small.svm --batch 64 --epochs 3 -o three --checkpoint e --checkpoint-every 5 -q
lockstep fm train $D/small.svm --batch 64 --epochs 1 -o one --checkpoint e --resume -q; echo "status $?"
lockstep fm train $D/small.svm --batch 64 --epochs 3 -o again --checkpoint e --resume -q && cmp again three && echo same
ls one 2>/dev/null
echo "= a checkpoint does not take the place of something else"
echo precious >notes
lockstep fm train $D/small.svm -o x --checkpoint notes -q; echo "status $?"
lockstep fm train $D/small.svm -o x --checkpoint three -q; echo "status $?"
cat notes
lockstep fm train $D/small.svm -o x --checkpoint e -q && : >empty && lockstep fm train $D/small.svm -o x --checkpoint empty -q && echo "in place of a checkpoint, or of nothing"
