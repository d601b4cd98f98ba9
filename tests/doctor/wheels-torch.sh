# A real torch with NVIDIA's wheels, in a farm of links to it: what doctor foretells of a
# damaged installation is what an
# import says.
# labels: slow
python=$("$ROOT/tools/venv") || { echo "no torch: tools/venv failed" >&2; exit 77; }
site=$("$python" -c 'import os, torch; print(os.path.dirname(os.path.dirname(torch.__file__)))') || exit
[ -d "$site/nvidia/cudnn" ] || { echo "this torch came without NVIDIA's wheels" >&2; exit 77; }
"$python" -m venv --without-pip farm || exit
farm=$(echo "$PWD"/farm/lib/python3*/site-packages)
make() { rm -rf "${farm:?}" && mkdir -p "$farm" && cp -rs "$site/." "$farm/"; }
echo '{"schema": 1, "name": "pin", "torch": ">=2"}' >pin.json
look() {
	lockstep doctor --python farm/bin/python --spec pin.json --fail-on-mismatch --json "$@" >r.json
	echo "status $?"
}
found() { python3 -c 'import json, sys; [print(f["id"], f["found"]) for f in json.load(open("r.json"))["findings"] if f["id"].startswith(sys.argv[1])]' "$1"; }

echo '== as it was installed'
make
look --deep
echo '== a library package is gone'
rm -r "$farm"/nvidia/cusparselt "$farm"/nvidia_cusparselt*
look
found libraries-missing | sed 's/ (.*//' >said
cat said
farm/bin/python -c 'import torch' 2>&1 | grep -o 'libcusparseLt\.so\.[0-9]*' | head -n 1
echo '== the metadata of another cuDNN'
make
old=$(echo "$farm"/nvidia_cudnn_cu*.dist-info)
sed 's/^Version: .*/Version: 8.0.0/' "$old/METADATA" >METADATA
rm "$old/METADATA" && mv METADATA "$old/"
look
found requires-nvidia-cudnn | sed 's/-cu[0-9][0-9]*/-cuN/'
echo '== LD_PRELOAD of a copy elsewhere'
make
cp -r "$site/nvidia/cudnn/lib" copy
export LD_PRELOAD="$PWD/copy/libcudnn.so.9"
lockstep doctor --python farm/bin/python --json >r.json
unset LD_PRELOAD
python3 -c 'import json; print([f["note"] for f in json.load(open("r.json"))["facts"] if f["key"] == "torch_lib.cudnn"][0])' |
	sed "s|$PWD|HERE|"
