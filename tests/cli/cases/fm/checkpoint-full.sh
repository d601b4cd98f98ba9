# a disk that has no room for a checkpoint, while the one before it stands: a warning, and
# the training goes on to the same model; a line of the log that was cut is mended; options
# that differ are said as they were written
plain="--epochs 1 --batch 1024 --l2 0" # whatever the defaults are
D=$ROOT/tests/data
lockstep fm train $plain $D/small.svm -o want -q --epochs 2000 --batch 630
trap '' XFSZ
lockstep fm train $plain $D/small.svm -o m --epochs 2000 --batch 630 --checkpoint c >/dev/null 2> >(cat >err) &
pid=$!
await() { for _ in $(seq 6000); do "$@" && return; kill -0 $pid 2>/dev/null || return; sleep 0.01; done; }
await test -s c
prlimit --pid $pid --fsize=1:unlimited
await grep -q 'goes on' err
prlimit --pid $pid --fsize=unlimited 2>/dev/null
wait $pid
echo "status $?"
grep 'goes on' err
cmp m want && echo same
echo "= a torn line"
lockstep fm train $plain $D/small.svm -o m --epochs 2 --checkpoint c --log log -q
printf '{"event":"epoch","ep' >>log
lockstep fm train $plain $D/small.svm -o m --epochs 3 --checkpoint c --resume --log log -q
python3 -c 'import json; print([json.loads(line)["epoch"] for line in open("log")])'
printf '{"event"' >torn
lockstep fm train $plain $D/small.svm -o m --log torn -q
python3 -c 'import json; print([json.loads(line)["epoch"] for line in open("torn")])'
echo "= other options"
lockstep fm train $plain $D/small.svm -o m --epochs 4 --checkpoint c --resume --lr 0.1 -q
lockstep fm train $plain $D/small.svm -o m --epochs 4 --checkpoint c --resume --l2 1e-7 -q
lockstep fm train $plain $D/small.svm -o m --epochs 4 --checkpoint c --resume --seed 5 -q
lockstep fm train $plain $D/small.svm -o m --epochs 4 --checkpoint c --resume --class-weight 1,2 -q
echo "status $?"
