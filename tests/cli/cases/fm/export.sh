# What fm export says, and that nothing is left where it fails; tests/onnx runs the models.
D=$ROOT/tests/data
head -n 40 $D/small.svm >few.svm
lockstep fm train few.svm -o m -k 2 -q
export LOCKSTEP_EXPORTS=$PWD/exports.jsonl
echo "= written"
lockstep fm export m --onnx m.onnx --no-verify | sed "s/[0-9]* bytes/N bytes/; s/^digest $(lockstep fm digest m | cut -c 1-64)$/the digest of m/"
lockstep fm export m --onnx again.onnx --no-verify --json | python3 -c '
import json, os, sys
o = json.load(sys.stdin)
print(o["file"], o["bytes"] == os.path.getsize(o["file"]), o["kind"], o["task"], o["form"], o["opset"], "data_file" in o)'
cmp m.onnx again.onnx && echo same
lockstep compare m.onnx again.onnx | head -n 1
echo "= parameters beside it, also behind a link"
mkdir there && ln -s there/real.onnx link.onnx
lockstep fm export m --onnx link.onnx --external-above 1K --no-verify --json | python3 -c '
import json, os, sys
o = json.load(sys.stdin)
print(os.path.dirname(os.path.relpath(o["data_file"])), o["data_bytes"] == os.path.getsize(o["data_file"]))'
ls there | sed 's/\.[0-9a-f]\{16\}-/.DIGEST-/'
lockstep compare m.onnx there/real.onnx | head -n 1
echo "= forms"
for form in --exact "--quantize int8" "--quantize fp16 --data few.svm"; do
	lockstep fm export m --onnx form.onnx $form --no-verify --json | python3 -c '
import json, sys
o = json.load(sys.stdin)
print(o["form"], o["checked"], o["bytes"] < o.get("float32_bytes", 0), sorted(o.get("after", [])), o.get("after", {}).keys() == o.get("before", {}).keys())'
done
lockstep fm export m --onnx form.onnx --quantize int8 --data few.svm --no-verify | sed "s/[0-9][-.0-9e]*/N/g; /^digest/d"
rm form.onnx
echo "= no Python, and one without ONNX Runtime"
mkdir bin && ln -s "$(command -v lockstep)" bin/lockstep
PATH=$PWD/bin lockstep fm export m --onnx form.onnx | sed -n 2p
python() { # ANSWER: a python3 that prints it
	printf '#!/bin/sh\necho noise\ncat <<E\n%s\nE\n' "$1" >bin/python3 && chmod +x bin/python3
	PATH=$PWD/bin:$PATH lockstep fm export m --onnx form.onnx | sed -n 2p | sed "s|$PWD/||"
}
python '{"missing": "there is none"}'
python '{"runtime": "1.0", "largest": 2e-7}'
python '{"runtime": "1.0", "largest": 2e-6}'
python '{"runtime": "1.0", "fault": "no Gather"}'
python 'no answer'
rm -r bin form.onnx
echo "= the record"
python3 -c '
import json
lines = [json.loads(l) for l in open("exports.jsonl")]
print([l["success"] for l in lines], lines[-1].get("error"), lines[-1]["file"].rsplit("/")[-1], lines[-1]["model"].rsplit("/")[-1])'
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
try m --onnx /dev/full
try m --onnx x.onnx --exact --quantize int8
try m --onnx x.onnx --quantize int4
try m --onnx x.onnx --data few.svm
try m --onnx x.onnx --quantize int8 --data absent
try m --onnx x.onnx --verify python3 --no-verify
try m --onnx x.onnx --verify no-such-python
tail -n 1 exports.jsonl | grep -o '"success":false'
ls
