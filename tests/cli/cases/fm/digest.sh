# labels: isa
# the digest that a training prints is that of the file it leaves: of the last epoch, of
# the best one, of one before a resume
D=$ROOT/tests/data
try() { # NAME OPTION…
	name=$1; shift
	got=$(lockstep fm train $D/small.svm -o m -q --json "$@" | python3 -c 'import json, sys; r = json.load(sys.stdin); print(r["digest"], r.get("best_epoch"), r["epochs"])')
	want=$(lockstep fm digest m | cut -d" " -f1)
	[ "${got%% *}" = "$want" ] && echo "$name: the file's, best and last epoch ${got#* }" || echo "$name: $got, the file has $want"
}
for n in 1 2; do
	try "$n threads" --threads $n --epochs 2
	try "$n threads, valid" --threads $n --epochs 1 --valid $D/small-valid.svm
	try "$n threads, best before the last" --threads $n --epochs 5 --lr 2 --batch 128 --l2 0 --metric accuracy --valid $D/small-valid.svm --early-stop 3 --checkpoint c
	try "$n threads, best before a resume" --threads $n --epochs 6 --lr 2 --batch 128 --l2 0 --metric accuracy --valid $D/small-valid.svm --early-stop 5 --checkpoint c --resume
done
