#!/usr/bin/env bash
# tests/gpu/vision.sh [BIN] [PYTHON]: convolutional networks and a vision transformer on a
# real GPU, exactly. BIN holds lockstep, liblockstep.so, liblockstep_inject.so and ops_gpu
# (default: build/device, made by tools/cross-static), PYTHON has torch with CUDA (default:
# /opt/torch/.venv/bin/python3).
#   1. Convolutions by name: the GPU's bits are the CPU's over random shapes, and golden.
#   2. Trainings on the CPU and on the GPU in one process: ResNets, a ViT whose last block
#      is trained: no tensor differs, nothing is outside of the contract.
#   3. `verify --exact --vary device=cpu,cuda`: 20 steps of ResNet-18; and with another seed
#      other bits.
#   4. The time of a step beside torch's float32.
# Exit status 0: passed, nothing skipped; 1: failed; 3: no GPU, or no torch.
# The parts are called by name.
# shellcheck disable=SC2317
set -uo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
bin=${1:-$root/build/device} py=${2:-/opt/torch/.venv/bin/python3} worst=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# a read-only venv compiles torch in every process
export PYTHONPYCACHEPREFIX=${PYTHONPYCACHEPREFIX:-$work/pyc}
export PATH="$bin:$PATH" LOCKSTEP_LIBRARY="$bin/liblockstep.so" PYTHONPATH="$root/python"
"$py" -c 'import sys, torch; sys.exit(0 if torch.cuda.is_available() else 3)' || { echo "no torch with a GPU"; exit 3; }

part() { # part TITLE COMMAND…
	echo "== $1"
	local begin=$SECONDS
	"${@:2}" || { echo "FAILED: $1 (status $?)"; worst=1; }
	echo "== $1: $((SECONDS - begin)) s"
}

train() { "$py" "$root/tests/torch_exact/train.py" --model resnet18 --samples 64 --optimizer sgd --exact strict "$@"; }

seeds() { [ "$(train --steps 2 --seed 1)" != "$(train --steps 2 --seed 2)" ]; }

for name in conv conv_back_input conv_back_weight; do
	part "$name" ops_gpu --trials 100 --only "$name"
done
part "on both devices" "$py" "$root/tests/torch_exact/device.py" --vision
cd "$work" || exit 4
part "verify" lockstep verify --exact --vary device=cpu,cuda -- "$py" "$root/tests/torch_exact/train.py" \
	--model resnet18 --steps 20 --samples 64 --optimizer sgd --save '{out}/state.pt'
part "another seed" seeds
for model in resnet18 resnet50; do
	for form in "" --exact; do
		# the option is there or not
		# shellcheck disable=SC2086
		part "step of $model $form" "$py" "$root/bench/torch_step.py" "$model" $form
	done
done
exit $worst
