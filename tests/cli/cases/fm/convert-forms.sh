# labels: isa
# One digest, and one file, for text, gzip, standard input, npz and lsd of the same rows.
set -e
d=$ROOT/tests/data
lockstep fm convert "$d/small-valid.svm" -o text.lsd
gzip -c "$d/small-valid.svm" >rows.gz
lockstep fm convert rows.gz -o gzip.lsd --threads 3
lockstep fm convert - -o stdin.lsd <"$d/small-valid.svm"
cat rows.gz | lockstep fm convert - -o pipe.lsd
lockstep fm convert "$d/small-valid.npz" --labels "$d/small-valid-labels.npy" -o npz.lsd
lockstep fm convert text.lsd -o lsd.lsd --json
{ cat rows.gz; head -c 1000 /dev/zero; } >padded.gz
lockstep fm convert padded.gz -o padded.lsd
head -c -1 "$d/small-valid.svm" | sed 's/$/\r/' >carriage.svm
tail -c 1 carriage.svm | od -An -c
lockstep fm convert carriage.svm -o carriage.lsd
for f in padded carriage gzip stdin pipe npz lsd; do cmp text.lsd $f.lsd; done
lockstep fm convert "$d/regression.svm" -o weighted.lsd
lockstep fm convert "$d/wide.npz" --labels "$d/wide-labels.npy" --weights "$d/wide-weights.npy" -o wide.lsd
cmp weighted.lsd wide.lsd
lockstep fm convert "$d/small.ffm" -o fields.lsd --threads 1
lockstep fm convert "$d/unlabelled.svm" -o unlabelled.lsd
ls
