# a warm start takes all of a model over: without states, two epochs are one and one more
plain="--epochs 1 --batch 1024 --l2 0" # whatever the defaults are
D=$ROOT/tests/data
digest() { lockstep fm digest "$1" | cut -d' ' -f1; }
twice() { # DATA OPTION…
	local sgd=("$@" --optimizer sgd --shuffle none -q)
	lockstep fm train $plain "${sgd[@]}" --epochs 2 -o two && lockstep fm train $plain "${sgd[@]}" --epochs 1 -o one
	lockstep fm train $plain "${sgd[@]}" --epochs 1 --warm-start one -o more
	[ "$(digest more)" = "$(digest two)" ] && [ "$(digest more)" != "$(digest one)" ] && echo "$*" | sed 's/.*--kind/--kind/'
}
for kind in fm ffm fwfm; do
	twice $D/small.ffm --kind $kind
	twice $D/multiclass.ffm --kind $kind --task multiclass
done
grep -ac "\"warm_start\":\"$(digest one)\"" more
echo "= FTRL computes parameters from its states, which start from the model's"
lockstep fm train $plain $D/small.svm --optimizer ftrl --batch 64 --epochs 3 -o ftrl -q
lockstep fm train $plain $D/small.svm --optimizer ftrl --batch 64 --epochs 1 --warm-start ftrl -o still -q --lr 1e-6
for m in ftrl still; do lockstep fm eval $m $D/small-valid.svm | head -1; done
echo "= features that the model has not keep their start"
printf '1 0:1 1:1\n0 1:1 2:1\n' >few.svm
printf '1 0:1 1:1\n0 1:1 2:1\n1 3:1 9:1\n' >more.svm
lockstep fm train $plain few.svm -o few -q
lockstep fm train $plain more.svm --lr 1e-30 -o fresh -q
lockstep fm train $plain more.svm --lr 1e-30 --warm-start few -o grown -q
for m in few fresh grown; do lockstep fm predict $m few.svm | tr '\n' ' '; lockstep fm predict $m more.svm | tail -1; done
echo "= features and fields that the data lack are kept"
lockstep fm train $plain few.svm --warm-start grown -o kept -q
lockstep fm train $plain $D/small.ffm --kind ffm -o f -q; sed 's/ 7:[0-9]*:1.*$//' $D/small.ffm | head -30 >seven.ffm
lockstep fm train $plain seven.ffm --kind ffm --warm-start f -o g -q
for m in grown kept f g; do lockstep fm inspect $m --json | grep -oE '"(features|fields)": [0-9]*' | tr '\n' ' '; done; echo
echo "= what does not agree is refused, and so is another start, or one that was not"
no() { lockstep fm train $plain "$@" -q; echo "status $?"; }
no $D/small.ffm --kind ffm --warm-start ftrl -o x
no $D/small.svm --factors 4 --warm-start ftrl -o x
no $D/small.svm --task regression --warm-start ftrl -o x
lockstep fm train $plain $D/multiclass.svm --task multiclass -o classes -q
no $D/multiclass.svm --task multiclass --classes 9 --warm-start classes -o x
sed 's/ 38:[^ ]*$//' $D/small.ffm >less.ffm
lockstep fm train $plain less.ffm --kind ffm -o fields -q
no $D/small.ffm --kind ffm --warm-start fields -o x
lockstep fm train $plain $D/small.svm -o m --checkpoint c -q
no $D/small.svm -o m --checkpoint c --warm-start ftrl --epochs 2 --resume
[ -e x ] || echo nothing written
