# What fm export says, and that nothing is left where it fails; tests/onnx runs the models.
D=$ROOT/tests/data
head -n 40 $D/small.svm >few.svm
lockstep fm train few.svm -o m -k 2 -q
echo "= written"
lockstep fm export m --onnx m.onnx | sed "s/[0-9]* bytes/N bytes/; s/^digest $(lockstep fm digest m | cut -c 1-64)$/the digest of m/"
lockstep fm export m --onnx again.onnx --json | python3 -c '
import json, os, sys
o = json.load(sys.stdin)
print(o["file"], o["bytes"] == os.path.getsize(o["file"]), o["kind"], o["task"], o["form"], o["opset"], "data_file" in o)'
cmp m.onnx again.onnx && echo same
lockstep compare m.onnx again.onnx | head -n 1
echo "= parameters beside it, also behind a link"
mkdir there && ln -s there/real.onnx link.onnx
lockstep fm export m --onnx link.onnx --external-above 1K --json | python3 -c '
import json, os, sys
o = json.load(sys.stdin)
print(os.path.dirname(os.path.relpath(o["data_file"])), o["data_bytes"] == os.path.getsize(o["data_file"]))'
ls there | sed 's/\.[0-9a-f]\{16\}-/.DIGEST-/'
lockstep compare m.onnx there/real.onnx | head -n 1
echo "= wrong"
try() {
	lockstep fm export "$@" >out
	echo "status $?, $(wc -c <out) bytes"
}
try m
try m --onnx m
try m --onnx nowhere/m.onnx
try m --onnx -
try few.svm --onnx x.onnx
try absent --onnx x.onnx
try m --onnx x.onnx --external-above 3G
try m --onnx x.onnx --external-above much
try m --onnx /dev/full --external-above 1K
try m --onnx /dev/full
ls
