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
