#!/usr/bin/env bash
# tests/gpu/twin.sh [BIN] [PYTHON] [PART…]: twin trainings on a real GPU, with a negative
# control. BIN holds lockstep and liblockstep_inject.so (default: build/device), PYTHON
# has torch with CUDA (default: /opt/torch/.venv/bin/python3).
#   1. Twin trainings are identical, and with another seed they are not: a CNN with 4
#      workers, a transformer, Lightning's Trainer, two gloo ranks, JAX, and examples/.
#   2. An operation without a deterministic form raises with its name; --warn-only records
#      it.
#   3. Float atomics without a policy differ, and --bisect names the line, in forward and
#      backward passes.
#   4. Peak GPU memory and the GPU's identity are in the manifest.
# The parts run at the same time. Exit status 0: passed, nothing skipped; 1: failed; 3: no
# GPU, no torch, or a part could not run.
# The parts are called by name, and what is not quoted is a number.
# shellcheck disable=SC2086,SC2317
set -uo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
bin=${1:-$root/build/device} py=${2:-/opt/torch/.venv/bin/python3} progs=$root/tests/run/progs worst=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# a read-only venv compiles torch in every process
export PATH="$bin:$PATH" PYTHONPYCACHEPREFIX=${PYTHONPYCACHEPREFIX:-$work/pyc}
"$py" -c 'import sys, torch; sys.exit(0 if torch.cuda.is_available() else 3)' || { echo "no torch with a GPU"; exit 3; }
cd "$work" || exit 4
fail() { echo "FAILED: $*"; return 1; }

has() { "$py" -c "import importlib.util as u, sys; sys.exit(not any(u.find_spec(m) for m in sys.argv[1:]))" "$@"; }

twin() { # twin NAME COMMAND…
	local name=$1
	shift
	local status=0
	lockstep verify -o "v-$name" --control seed -- "$@" 2>"$name.err" || status=$?
	[ $status = 0 ] || { cat "$name.err"; fail "$name: status $status"; }
}

part_cnn() { has numpy || return 3; twin cnn "$py" "$progs/cnn.py" cuda; }
part_transformer() { twin transformer "$py" "$progs/transformer.py" cuda; }
part_trainer() { has lightning pytorch_lightning || return 3; twin trainer "$py" "$progs/trainer.py" gpu; }
part_ranks() { twin ranks "$py" -m torch.distributed.run --standalone --nproc-per-node 2 "$progs/ranks.py" cuda; }

example() { # example NAME SCRIPT [COMMAND…], started by COMMAND or by Python
	local name=$1 script=$root/examples/$2.py
	shift 2
	twin "$name" "${@:-$py}" "$script" --device=cuda '--out={out}' '--seed={seed}'
}
part_lightning() { has lightning || return 3; example lightning lightning_trainer; }
part_transformers() { has transformers || return 3; example transformers transformers_trainer; }
part_nanogpt() { twin nanogpt "$py" "$root/examples/nanogpt.py" --device=cuda '--out_dir={out}' '--seed={seed}'; }
part_accelerate() { has accelerate || return 3; example accelerate accelerate_loop; }
part_ddp() { example ddp ddp "$py" -m torch.distributed.run --standalone --nproc-per-node gpu; }

part_raise() {
	lockstep run -o raise -- "$py" "$progs/atomics.py" bicubic cuda >raise.log 2>&1 && fail "it did not raise"
	grep -E 'RuntimeError|^lockstep' raise.log | cut -c1-160
	grep -q '^lockstep: no deterministic form: upsample_bicubic2d_backward' raise.log || fail "it was not named"
}

part_warn() {
	lockstep run -o warn --warn-only -- "$py" "$progs/atomics.py" bicubic cuda >warn.log 2>&1 || fail "--warn-only: status $?" || return
	lockstep manifest show warn | grep '^no det' || fail "--warn-only recorded nothing" || return
	"$py" -S - warn/run_manifest.json <<'PY' || fail "no GPU in the manifest"
import json, sys
m = json.load(open(sys.argv[1]))
print(m["gpus"])
print({f["key"]: f["value"] for f in m["environment"] if f["key"].startswith("gpu.0.")})
sys.exit(0 if m["gpus"] and m["gpus"][0]["peak_allocated_bytes"] > 0 else 1)
PY
}

atomics() { # without a policy the kind differs and is found; with one it does not differ
	local kind=$1 line status
	line=$(grep -n "LINE $kind" "$progs/atomics.py" | cut -d: -f1)
	lockstep verify -o "v0-$kind" --level 0 --bisect -- "$py" "$progs/atomics.py" "$kind" cuda >"$kind.txt" 2>"$kind.err"
	status=$?
	cat "$kind.txt"
	[ $status = 1 ] || fail "$kind: status $status, expected that the runs differ" || return
	grep -q "they part at .*atomics.py:$line " "$kind.txt" || { cat "$kind.err"; fail "$kind: not bisected to line $line"; }
}
part_index_add() { atomics index_add && lockstep verify -o v2-index_add -- "$py" "$progs/atomics.py" index_add cuda 2>/dev/null; }
part_bicubic() { atomics bicubic; }

part_jax() {
	has jax || return 3
	twin jax "$py" "$progs/jax_fit.py" && lockstep manifest show v-jax/001/run1 | grep -E '^(jax|gpu|held)'
}

shift $(($# < 2 ? $# : 2))
parts=${*:-cnn transformer trainer ranks jax raise warn index_add bicubic lightning transformers nanogpt accelerate ddp}
declare -A job
for p in $parts; do
	"part_$p" >"$p.out" 2>&1 &
	job[$p]=$!
done
for p in $parts; do
	wait "${job[$p]}"
	rc=$?
	echo "== $p: $rc"
	cat "$p.out"
	if [ "$rc" = 3 ]; then
		[ $worst = 0 ] && worst=3
	elif [ "$rc" != 0 ]; then
		worst=1
	fi
done
echo "twin.sh: $worst"
exit $worst
