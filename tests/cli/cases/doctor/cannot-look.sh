# What cannot be looked at is unknown, not absent: a gate says 3 and never "not
# installed".
. "$ROOT/tests/fake/machine.sh"
show() { doctor -v "$@" | grep -E '^(python|python\.site|torch|torch_cuda|bundled\.cudnn|package\.(torchvision|numpy)) ' | sed 's/  */ /g'; }
printf '{"schema": 1, "name": "t", "torch": "2.3.1+cu121"}' >torch.json

echo '== a site folder that may not be read'
machine kaggle
as=(unprivileged)
chmod 000 "$root/usr/local/lib/python3.10/dist-packages"
show
doctor --spec torch.json --fail-on-mismatch >/dev/null; echo "status $?"
chmod 755 "$root/usr/local/lib/python3.10/dist-packages"
doctor --spec torch.json --fail-on-mismatch >/dev/null; echo "status $?"

echo '== a program that is no Python'
python /usr/bin/other ''
show --python /usr/bin/other
doctor --python /usr/bin/other --spec torch.json --fail-on-mismatch >/dev/null; echo "status $?"

echo '== a METADATA that says nothing: the name of the folder does'
put /usr/local/lib/python3.10/dist-packages/numpy-1.26.4.dist-info/METADATA ''
show | grep numpy
mkdir "$root/usr/local/lib/python3.10/dist-packages/old_thing-1.2-py3.10.egg-info"
printf '{"schema": 1, "name": "t", "packages": {"old-thing": "1.2"}}' >old.json
doctor -v --spec old.json | grep old-thing
