# A full disk: what was acknowledged stays, what is refused leaves nothing, a job that
# ends keeps its record, and the worker goes on when there is room again. The disk is a
# tmpfs of this user's own mount namespace.
set -u
if [ "${1:-}" != inside ]; then
	# root needs no user namespace, which a chroot does not allow
	flags=-rm
	[ "$(id -u)" != 0 ] || flags=-m
	unshare $flags true 2>/dev/null || { echo "no namespaces here (unshare $flags)" >&2; exit 77; }
	exec unshare $flags bash "$0" inside
fi
mkdir disk
mount -t tmpfs -o size=1500k tmpfs disk || exit 9
cd disk || exit 9
. "$ROOT/tests/job/wait.sh"
fill() { # to the last byte
	dd if=/dev/zero of=filler bs=64k 2>/dev/null
	dd if=/dev/zero of=filler2 bs=1 2>/dev/null
}
lockstep exp init >/dev/null
for n in ends waits; do
	lockstep exp new $n -- sh -c 'touch ../begun-{name}; until [ -e ../go-{name} ]; do sleep 0.01; done' >/dev/null
done
lockstep exp submit ends
lockstep worker --gpus none --cpus 2 2>../said &
worker=$!
until_ok test -e ../begun-ends

echo '--- what is refused'
fill
fails lockstep exp new other -- true | sed 's/disk I\/O error/database or disk is full/'
fails lockstep exp submit waits | sed 's/disk I\/O error/database or disk is full/'
fails lockstep exp export table.csv
ls table.csv 2>&1
fails lockstep exp list --columns name,state

echo '--- a job that ends meanwhile'
touch ../go-ends
until_ok grep -q wall_s runs/ends/attempt-1/exit.json
rm -f filler filler2
until_ok state_is ends done
echo '--- and with room again'
lockstep exp submit waits
until_ok test -e ../begun-waits
touch ../go-waits
until_ok state_is waits done
lockstep exp list --columns name,state,attempt
lockstep exp check
kill $worker
wait $worker
echo "worker $?"
