# a model or checkpoint that an earlier version trained with --online is refused with a
# sentence, wherever it is given
D=$ROOT/tests/data
lockstep fm train $D/small.ffm --kind ffm --batch 1 -o new -q --checkpoint new.ckpt
python3 - <<'P'
for name in "", ".ckpt":
    data = open("new" + name, "rb").read()
    n = int.from_bytes(data[:8], "little")
    head = data[8 : 8 + n]
    end = rb'\"seed\": 1337}'
    assert head.count(end) == 1
    head = head.replace(end, rb'\"seed\": 1337, \"online\": 5}').rstrip()
    head += b" " * (-len(head) % 8)
    open("old" + name, "wb").write(len(head).to_bytes(8, "little") + head + data[8 + n :])
P
try() { lockstep fm "$@"; echo "status $?"; }
try digest old
try inspect old
try predict old $D/small-valid.ffm
try eval old $D/small-valid.ffm
try train $D/small.ffm --kind ffm --warm-start old -o x -q
try train $D/small.ffm --kind ffm --batch 1 --checkpoint old.ckpt --resume -o x -q
try train $D/small.ffm --kind ffm --online -o x -q
ls
