# names that mean something else, files that are something else, and what JSON cannot say
D=$ROOT/tests/data
echo "= standard output"
lockstep fm convert $D/small.svm -o - <$D/small-valid.svm; echo "status $?"
lockstep fm train $D/small.svm -o - -q; echo "status $?"
lockstep fm train $D/small.svm -o m --checkpoint - -q; echo "status $?"
lockstep fm convert $D/small.svm -o /dev/null; echo "status $?"
ls
lockstep fm train $D/small.svm -o m -q
lockstep fm predict m $D/small-valid.svm -o - | cmp - <(lockstep fm predict m $D/small-valid.svm) && echo same
echo "= not rows, not a model"
python3 -c 'import struct; open("v.npy", "wb").write(b"\x93NUMPY\x01\x00v\x00" + b" " * 118)'
lockstep fm predict m v.npy; echo "status $?"
lockstep fm predict m m; echo "status $?"
lockstep fm predict $D/small.svm m; echo "status $?"
printf '1 1:1\r2:1\n' >cr.svm
lockstep fm convert cr.svm -o x; echo "status $?"
echo "= three labels of two classes"
printf '1 1:1\n0 2:1\n-1 3:1\n' >signs.svm
lockstep fm train signs.svm -o x -q; echo "status $?"
lockstep fm eval m signs.svm; echo "status $?"
echo "= a name that is not UTF-8"
bad=$'bad\xff'
cp m $bad
lockstep fm digest m $bad --json | python3 -c 'import json, sys; print([x["model"] for x in json.load(sys.stdin)["models"]])'
lockstep fm train $D/small.svm -o $bad -q --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["model"])'
lockstep fm convert $D/small.svm -o $bad --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["file"])'
lockstep fm predict m $D/small.svm -o $bad --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["file"])'
echo "= factors whose squares are beyond binary32"
python3 - <<'P'
import json, struct
data = bytearray(open("m", "rb").read())
n = struct.unpack("<Q", data[:8])[0]
begin = 8 + n + json.loads(data[8 : 8 + n])["factors"]["data_offsets"][0]
k = 16
data[begin + 4 * k * 3 : begin + 4 * k * 5] = struct.pack("<%df" % (2 * k), *[2e19] * (2 * k))
open("huge", "wb").write(data)
P
"$BUILD/fm_seal" huge
lockstep fm inspect huge --top 5 | grep -E 'inf|8e\+19' | head -n 3
lockstep fm inspect huge --top 500 --json | python3 -c '
import json, sys
v = json.load(sys.stdin)
print([f["norm"] for f in v["top_features"] if f["feature"] in (3, 4)], v["top_pairs"][0])'
echo "= lines without a prediction"
printf '# unlabelled\n1:1\n\n2:1\n\n' | lockstep fm predict m - | wc -l
printf '1:1\n2:1\n\n' | lockstep fm predict m - | wc -l
echo "= names as long as they may be"
long=$(printf 'n%.0s' $(seq 250))
lockstep fm convert $D/small.svm -o $long >/dev/null && lockstep fm train $long -o l$long -q && cmp m l$long && ls | grep -c nnn
