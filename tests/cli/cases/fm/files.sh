# what would fail or do harm after the training is refused before it: status 2, a
# sentence, and nothing is touched
plain="--epochs 1 --batch 1024 --l2 0" # whatever the defaults are
D=$ROOT/tests/data
no() { "$@" >/dev/null; echo "status $?" >&2; }
train() { no lockstep fm train $plain "$@" -q; }
cp $D/small-valid.svm tr.svm
lockstep fm convert tr.svm -o tr.lsd >/dev/null
lockstep fm train $plain tr.svm -o warm -q
ln tr.svm hard
ln -s tr.lsd soft
mkdir folder
sha256sum -- * 2>/dev/null >../before
# places
for place in nodir/x tr.svm/x folder ""; do
	train tr.svm -o "$place"
	train tr.svm -o m --checkpoint "$place"
	train tr.svm -o m --log "$place"
done
no lockstep fm convert tr.svm -o folder
no lockstep fm predict warm tr.svm -o nodir/x
# the data as an output, under any name
train tr.lsd -o ./tr.lsd
train tr.lsd -o soft
train tr.svm -o m --log tr.svm
train tr.svm -o m --checkpoint hard
train warm -o m --valid tr.svm --log "$PWD/hard"
train - -o tr.svm <tr.svm
train tr.svm -o m --valid $D/small-valid.svm --valid-labels warm --checkpoint warm
no lockstep fm convert tr.svm -o hard
no lockstep fm predict warm tr.svm -o warm
# one output as another, there or not; the model to start from as a log
train tr.svm -o m --checkpoint ./m
train tr.svm -o m --log "$PWD/m"
train tr.svm -o m --checkpoint folder/c --log folder/../folder/c
train tr.svm -o m --warm-start warm --checkpoint warm
sha256sum -- * 2>/dev/null | cmp - ../before && ls
# what may not be written that much is no mistake of the command line: status 4
limited() { # its messages to a pipe, for what they are gathered in is a file, too
	{ (ulimit -f 1 && exec lockstep "$@" >m); echo "status $?"; } 2>&1 | cat >&2
}
limited fm train $plain tr.svm -q -o x
limited fm predict warm $D/small.svm -o x
limited fm convert tr.svm -o x
limited fm predict warm $D/small.svm
rm m
sha256sum -- * 2>/dev/null | cmp - ../before && ls
train tr.svm -o "$(printf 'n%.0s' $(seq 300))"
ln -s loop loop && train tr.svm -o loop; rm loop
# links lead somewhere, also to where nothing is yet; what may be read by some is not
# replaced by what all may read
ln -s folder/new to && ln -s to there
train tr.svm -o there && cmp folder/new warm && readlink there to
train tr.svm -o m --checkpoint to --log "$PWD/folder/new"
chmod 600 folder/new && train tr.svm -o there --warm-start warm && stat -c %a folder/new
rm to && ln -s nodir/new to
train tr.svm -o there
rm -r there to folder/*
# allowed: a model trained further in its place, devices, a log that is added to
train tr.svm -o warm --warm-start warm
train tr.svm -o /dev/null --checkpoint /dev/null --log /dev/null
train tr.svm -o m --log log && train tr.svm -o m --log log && wc -l <log
# a log that cannot be written is said, and costs nothing else
train tr.svm -o full --checkpoint c --log /dev/full
cmp full m && lockstep fm train $plain tr.svm -o again --checkpoint c --resume -q && cmp again m
# nor does a last checkpoint that cannot be written cost the model; with validation it is
# there already
train tr.svm -o kept --checkpoint /dev/full
cmp kept m && train tr.svm -o kept --checkpoint /dev/full --valid tr.svm --epochs 1 && cmp kept m
# a log is added to logs alone
train tr.svm -o n --log m
train tr.svm -o n --log tr.svm.log
: >tr.svm.log && train tr.svm -o n --log tr.svm.log
cmp kept m
