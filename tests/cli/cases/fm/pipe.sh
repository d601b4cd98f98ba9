# a named pipe as data is opened once: a writer that is done in an instant is not missed
D=$ROOT/tests/data
mkfifo pipe
lockstep fm convert $D/small-valid.svm -o whole.lsd >/dev/null
for _ in $(seq 12); do
	cat $D/small-valid.svm >pipe &
	writer=$!
	timeout 60 lockstep fm convert pipe -o got.lsd >/dev/null || echo "status $?"
	kill $writer 2>/dev/null
	wait $writer
	cmp got.lsd whole.lsd
	rm -f got.lsd
done
# opened before the data are there, by a writer that takes its time
(sleep 0.2; cat $D/small-valid.svm) >pipe &
timeout 60 lockstep fm convert pipe -o got.lsd >/dev/null && cmp got.lsd whole.lsd && echo same
wait
