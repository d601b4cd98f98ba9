# A gate that judged nothing is not green: no spec, an empty spec, GPUs that programs do
# not see.
. "$ROOT/tests/fake/machine.sh"
machine kaggle
gate() { doctor "$@" --fail-on-mismatch >out 2>&1; echo "$? $(head -n 1 out)"; }
echo '{"schema": 1, "name": "empty"}' >empty.json
echo '{"schema": 1, "name": "told", "torch": {"match": "2.3.1", "level": "recommended"}, "absent": ["env.CUDA_CACHE_DISABLE"]}' >told.json
echo '== nothing to judge by'
gate
gate --deep
gate --spec empty.json
gate --cuda --spec empty.json
gate --spec told.json
echo '== without the gate they only look'
doctor --spec empty.json >/dev/null; echo $?
echo '== GPUs that programs do not see'
gate --cuda
variables+=(CUDA_VISIBLE_DEVICES=)
gate --cuda
gate --cuda --spec kaggle-2025-09
gate --spec kaggle-2025-09
grep gpus-hidden -A1 out
variables+=(CUDA_VISIBLE_DEVICES=-1,0)
gate --cuda
for list in GPU- MIG-x 99 NoDevFiles; do
	variables+=(CUDA_VISIBLE_DEVICES=$list) # nobody's, or one of several
	echo "$list: $(gate --cuda)"
done
echo '== and some of them: what programs see is what counts'
echo '{"schema": 1, "name": "two", "gpus": {"one_of": ["Tesla T4"], "count": 2}}' >two.json
for list in 0,1 GPU-00000001,GPU-00000000 0 1,1 0,7,1; do
	variables+=(CUDA_VISIBLE_DEVICES=$list)
	echo "$list: $(gate --spec two.json)"
done
