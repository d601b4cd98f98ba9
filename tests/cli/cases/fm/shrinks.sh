# a mapped file that another program makes shorter during the training: a sentence and
# status 2, not a bare SIGBUS
D=$ROOT/tests/data
lockstep fm convert $D/small.svm -o tr.lsd >/dev/null
lockstep fm train tr.lsd -o m --log log -q --epochs 1000000 --threads 1 --device cpu &
pid=$!
for _ in $(seq 400); do [ -s log ] && break; sleep 0.05; done
: >tr.lsd
wait $pid
echo "status $?"
ls
