# Files of libraries that the tests do not install (tests/tensor/files/make.py): a and b
# hold the same values, c does not.
f=$ROOT/tests/tensor/files
show() {
	echo "--- $1 $2"
	lockstep compare "$f/$1" "$f/$2"
	echo "exit $?"
}
show a.joblib b.joblib
show a.joblib z.joblib
show a.joblib c.joblib
show objects-a.joblib objects-c.joblib
show a.gguf b.gguf
show a.gguf c.gguf
show a.msgpack b.msgpack
show a.msgpack c.msgpack
# TensorFlow: one shard and two, another value, a partitioned variable; another uuid
show tf-a.index tf-b.index
show tf-a.index tf-c.index
show tf-a.index tf-p.index
show tf-p.index tf-p.index
show saved-a saved-b
show saved-a saved-c
mkdir x y
cp "$f"/tf-a.* x && cp "$f"/tf-b.* y && mv y/tf-b.index y/tf-a.index
for i in 0 1; do mv y/tf-b.data-0000$i-of-00002 y/tf-a.data-0000$i-of-00002; done
lockstep compare x y
cp "$f/tf-b.data-00000-of-00002" y/tf-a.data-00000-of-00007
lockstep compare x y
python3 - "$f" <<'PY'
import pathlib, sys
f = pathlib.Path(sys.argv[1])
index, data = (f / "tf-a.index").read_bytes(), (f / "tf-a.data-00000-of-00001").read_bytes()
for name, i, d in (("bits", index[:99] + bytes([index[99] ^ 1]) + index[100:], data), ("cut", index, data[:-9]), ("none", index, None)):
    pathlib.Path(name + ".index").write_bytes(i)
    if d is not None:
        pathlib.Path(name + ".data-00000-of-00001").write_bytes(d)
PY
for bad in bits cut none; do
	lockstep compare "$f/tf-c.index" $bad.index 2>&1
	echo "$bad: exit $?"
done
head -c 100 "$f/a.msgpack" >cut.msgpack
lockstep compare "$f/a.msgpack" cut.msgpack 2>&1
echo "exit $?"
# cut short, a type that nobody knows, and a forged number of tensors
for change in "size -40" "type 0x63" "count 0xff"; do
	set -- $change
	python3 - "$f/a.gguf" "$@" <<'PY'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
if sys.argv[2] == "size":
    del data[-40:]
elif sys.argv[2] == "type":
    data[data.rindex(b"\x01\0\0\0\0\0\0\0w") + 9 + 4 + 16] = int(sys.argv[3], 0)
else:
    data[12] = int(sys.argv[3], 0)
open("bad.gguf", "wb").write(data)
PY
	lockstep compare "$f/a.gguf" bad.gguf
	echo "exit $?"
done 2>&1
