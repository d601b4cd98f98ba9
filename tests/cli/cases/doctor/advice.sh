# What to do, where it once was wrong.
. "$ROOT/tests/fake/machine.sh"
cat >asks.json <<'JSON'
{"schema": 1, "name": "asks", "container_toolkit": ">=1.14", "kernel": ">=6.1", "driver_cuda": ">=12.4",
 "image": "nvidia/cuda:12.1.1-runtime-ubuntu22.04", "gpus": {"one_of": ["Tesla T4"], "count": 2},
 "packages": {"fastapi": "*", "uvicorn": ">=0.30,<1", "torchvision": "0.19.1+cu124"}}
JSON
machine kaggle
put /var/lib/dpkg/status 'Package: nvidia-container-toolkit' 'Status: install ok installed' 'Version: 1.13.5-1' ''
gpu 'NVIDIA L4' 8.9 23034 72
doctor --spec asks.json | sed -n '/^DIFFERS/p; /->/p'
echo '== the driver was upgraded without a reboot: nothing about installing one'
machine code18
doctor --cuda --spec kaggle-2025-09 | grep -e '->' -e DIFFERS
doctor -v --cuda | grep -c -e 'install an NVIDIA driver' -e no-gpu
echo '== sets, not dicts'
doctor --json | python3 -c 'import json, sys; print(sum("dict" in str(f) for f in json.load(sys.stdin)["findings"]))'
