# linear models; penalties of one part; values and labels in any units: what is multiplied by
# powers of two gives the same model in other units, and what cannot be is refused
D=$ROOT/tests/data
train() { lockstep fm train "$@" -q; }
numbers() { # MODEL TENSOR
	python3 -c '
import json, struct, sys
data = open(sys.argv[1], "rb").read()
n = struct.unpack("<Q", data[:8])[0]
at = json.loads(data[8 : 8 + n]).get(sys.argv[2])
print(*struct.unpack("<%df" % ((at["data_offsets"][1] - at["data_offsets"][0]) // 4), data[8 + n + at["data_offsets"][0] : 8 + n + at["data_offsets"][1]]) if at else ["none"])' "$@"
}
echo "= linear"
train $D/small.svm --kind linear -o l --epochs 2 && numbers l factors
lockstep fm inspect l --json | grep -E '"(kind|factors)"'
lockstep fm inspect l $D/small.svm --top 2 | wc -l
lockstep fm export l --onnx l.onnx --no-verify | sed 's/digest.*//'
train $D/small.svm --kind linear --warm-start l -o l2 --epochs 1 && lockstep fm digest l2 | wc -l
train $D/small.svm -k 4 --warm-start l -o no
train $D/small.svm --kind linear -k 4 -o no
train $D/small.svm --kind linear --l2-factors 1 -o no
train $D/small.svm --l2-fields 1 -o no
echo "= penalties of one part: all of it is 0 with FTRL, after a warm start, too"
train $D/small.ffm --kind fwfm -k 4 --epochs 1 -o start
for part in linear factors fields bias; do
	train $D/small.ffm --kind fwfm -k 4 --optimizer ftrl --epochs 1 --warm-start start --l1-$part 1e6 -o m
	for t in bias linear factors field_weights; do numbers m $t | tr ' ' '\n' | awk -v t=$t '$1 != 0 { n++ } END { printf "%s %s ", t, n ? "-" : "0" }'; done; echo
done
echo "= units"
awk '{ $1 = 4096 * $1; for (i = 3; i <= NF; i++) { split($i, a, ":"); $i = a[1] ":" 1024 * a[2] } print }' $D/regression.svm >large.svm
for f in $D/regression.svm large.svm; do
	train $f --task regression --epochs 3 -o ${f##*/}.m --checkpoint ${f##*/}.c
	lockstep fm predict ${f##*/}.m $f >${f##*/}.out
done
paste regression.svm.out large.svm.out | awk '{ d = $2 - 4096 * $1; if (d < 0) d = -d; if (d > 0.001 * (d + 4096)) n++ } END { print NR, n + 0 }'
train large.svm --task regression --epochs 1 -o half --checkpoint c && train large.svm --task regression --epochs 3 -o half --checkpoint c --resume
cmp half large.svm.m && cmp c large.svm.c && echo resumed
# one of the training's units is digested as the model is
train large.svm --task regression --epochs 1 --warm-start c -o on && grep -ac "\"warm_start\":\"$(lockstep fm digest half | cut -d' ' -f1)\"" on
echo "= a start that is better than all epochs"
train $D/small.svm --valid $D/small.svm --epochs 20 --batch 64 -o good
train $D/small.svm --valid $D/small.svm --epochs 2 --warm-start good --lr 5 -o same --json | grep best_epoch
[ "$(lockstep fm digest same | cut -d' ' -f1)" = "$(lockstep fm digest good | cut -d' ' -f1)" ] && echo kept
