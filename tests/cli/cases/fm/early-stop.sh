# stops when the metric gets worse and keeps the best epoch's model, which is that of a
# shorter training
D=$ROOT/tests/data
lockstep fm train $D/small.svm --valid $D/small-valid.svm -o m --lr 0.5 --epochs 30 --early-stop 2 --metric auc --json 2>/dev/null > r
best=$(python3 -c "import json; print(json.load(open('r'))['best_epoch'])")
run=$(python3 -c "import json; print(json.load(open('r'))['epochs'])")
[ "$run" = $((best + 2)) ] && echo "two epochs after the best"
lockstep fm train $D/small.svm -o n --lr 0.5 --epochs "$best" -q
cmp m n && echo same
