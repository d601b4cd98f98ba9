# Where pip finds a build such as +cu130: a capture gets PyTorch's address, an address of
# another build is refused, and a mirror may have anything.
. "$ROOT/tests/fake/machine.sh"
machine h200
site=/opt/conda/lib/python3.12/site-packages
dist $site torchvision 0.24.0+cu130
dist $site numpy 2.3.3
dist $site python_apt 2.4.0+ubuntu1
env -i PATH=/opt/conda/bin:/usr/bin SOURCE_DATE_EPOCH=1757116800 LOCKSTEP_ROOT="$root" LS_FAKE_NVML="$script" \
	${ASAN_OPTIONS:+"ASAN_OPTIONS=$ASAN_OPTIONS"} "$(command -v lockstep)" spec capture >captured.json
lockstep spec render captured.json --requirements | grep -v nvidia
lockstep spec render captured.json --kaggle-boot | grep '"indexes"'
render() { # render NAME SPEC: requirements and whether the spec is sound
	echo "== $1"
	echo "{\"schema\": 1, \"name\": \"t\", $2}" >t.json
	lockstep spec render t.json --requirements 2>&1 | grep -v '^# '
	lockstep spec check t.json --json | grep -A 3 '"key": "requirements"'
}
address=https://download.pytorch.org/whl
render 'a torch for the CPU' '"torch": "2.9.0+cpu"'
render 'two builds' '"torch": "2.9.0+cu130", "packages": {"torchaudio": "2.9.0+cpu"}'
render 'no build' '"torch": "2.9.0"'
render 'what is not PyTorch has no such build there' '"packages": {"other": "1.0+cu130"}'
render 'the right address' '"torch": "2.9.0+cu130", "requirements": {"index": "'$address'/cu130/"}'
render 'a mirror' '"torch": "2.9.0+cu130", "requirements": {"extra_index": "https://mirror.example/simple"}'
render 'the address of another build' '"torch": "2.9.0+cu130", "requirements": {"extra_index": "'$address'/cu118"}'
render 'of two addresses one is right' '"torch": "2.9.0+cu130", "requirements": {"index": "'$address'/cu118", "extra_index": "'$address'/cu130"}'
