# every scripted machine, written down as a spec, matches that spec (t4 has a fault of its
# own: a driver too old for its torch, which doctor reports whatever the spec says);
# another machine does not
. "$ROOT/tests/fake/machine.sh"
capture() { # as doctor() of machine.sh, with the same environment
	env -i PATH=/usr/bin:/bin HOME=/home/user SOURCE_DATE_EPOCH=1757116800 LOCKSTEP_ROOT="$root" LS_FAKE_NVML="$script" \
		${ASAN_OPTIONS:+"ASAN_OPTIONS=$ASAN_OPTIONS"} "${variables[@]}" "$(command -v lockstep)" spec capture "$@"
}
for m in kaggle t4 h200 l40s4 nodriver mig; do
	variables=()
	machine $m
	capture --name $m -o $m.json || exit 9
	doctor --spec $m.json --fail-on-mismatch >said; echo "$m: $? $(head -n 1 said)"
done
cat h200.json
variables=()
machine p100
doctor --spec kaggle.json --fail-on-mismatch >said; echo "p100 against kaggle: $?"
grep -A1 '^mismatch' said
# a fresh capture of the pinned machine is within the pin, one of the drifted machine is
# not
machine kaggle
capture --like kaggle-2025-09 --name fresh -o fresh.json && lockstep spec diff kaggle-2025-09 fresh.json || exit 9
lockstep spec diff kaggle.json t4.json
