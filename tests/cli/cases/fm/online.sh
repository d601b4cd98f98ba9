# a row at a time: what does not go with it is refused with a sentence, and nothing is left behind
D=$ROOT/tests/data
try() { lockstep fm train $D/online.ffm -o m -q "$@"; echo "status $?"; }
try --online
try --kind fwfm --online
try --kind ffm --online --batch 1
try --kind ffm --online --accum 2
try --kind ffm --online --device cuda
ls

# a checkpoint of batches of one row is not one of --online, nor the other way round
try --kind ffm --online --checkpoint c && rm m
try --kind ffm --batch 1 --checkpoint c --resume
try --kind ffm --batch 1 --checkpoint b && rm m
try --kind ffm --online --checkpoint b --resume

# a model whose options cannot be: online, but of another kind or with batches; or trained by another arithmetic
try --kind ffm --online --epochs 2
python3 - <<'P'
data = bytearray(open("m", "rb").read())
n = int.from_bytes(data[:8], "little")
for name, was, now in (("kind", rb'{\"kind\": \"ffm\"', rb'{\"kind\": \"fm\" '), ("batch", rb'\"batch\": 1', rb'\"batch\": 2'),
                       ("arithmetic", rb'\"online\": 5', rb'\"online\": 4')):
    head = data[8 : 8 + n]
    assert head.count(was) == 1
    open(name, "wb").write(data[:8] + head.replace(was, now) + data[8 + n :])
P
for m in kind batch arithmetic; do lockstep fm digest $m; echo "status $?"; done
ls
