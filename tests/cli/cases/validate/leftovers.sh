# what a killed validate has left in the folder for temporary files goes with the next one
mkdir tmp
export TMPDIR=$PWD/tmp
mkdir tmp/lockstep-validate-aaaaaa tmp/lockstep-validate-bbbbbb tmp/lockstep-validate-cccccc tmp/other
touch tmp/lockstep-validate-aaaaaa/{model,checkpoint} tmp/lockstep-validate-cccccc/mine
touch -d '1 hour ago' tmp/lockstep-validate-{aaaaaa,cccccc}
lockstep validate --device cpu >/dev/null 2>&1 &
pid=$!
while [ -e tmp/lockstep-validate-aaaaaa ] && kill -0 $pid 2>/dev/null; do sleep 0.01; done
kill -INT $pid 2>/dev/null
wait $pid
ls tmp
