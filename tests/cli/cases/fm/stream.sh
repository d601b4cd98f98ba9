# standard input as it may come: in pieces, from the middle of a file, with byte-order
# mark, without a last line end, in few bytes
set -e
D=$ROOT/tests/data
lockstep fm convert $D/small-valid.svm -o whole.lsd >/dev/null
as() { lockstep fm convert - -o got.lsd >/dev/null; cmp got.lsd $1.lsd && echo same; }
# the first bytes tell gzip from text, and may come one by one
gzip -c $D/small-valid.svm >rows.gz
{ head -c 1 rows.gz; sleep 0.05; tail -c +2 rows.gz; } | as whole
head -c -1 $D/small-valid.svm | as whole
{ printf '\357\273\277'; cat $D/small-valid.svm; } | as whole
{ echo a line that another program has read; cat $D/small-valid.svm; } >titled
{ read -r _; as whole; } <titled
printf '1\n' >one.svm
lockstep fm convert one.svm -o one.lsd >/dev/null
printf 1 | as one
# a line without an end is not read until there is no memory left
{ printf '1 1:1\n1 2:1 '; cat /dev/zero; } | lockstep fm convert - -o endless.lsd 2>&1 || echo "status $?"
[ ! -e endless.lsd ]
