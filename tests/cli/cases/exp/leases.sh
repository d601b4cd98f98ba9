# Who a running job belongs to: a lease that is over, as after a clock that jumps, while
# its worker lives, or sleeps; a lease of before a reboot, with a lock that was left by a
# number that is another process now. Then status -f, and the question of rm. Everything
# waits for states.
set -u
trap 'kill -CONT $(jobs -p) 2>/dev/null; kill $(jobs -p) 2>/dev/null' EXIT
. "$ROOT/tests/job/wait.sh"
owner() { sqlite "SELECT owner FROM experiment WHERE name = '$1'"; }
token() { sqlite "SELECT token FROM attempt WHERE ended IS NULL"; }
begin() { # NAME: one that runs until go-NAME is there, by the worker $first
	quiet lockstep exp new "$1" -- bash job.sh "$1" >/dev/null
	lockstep exp submit "$1"
	lockstep worker --gpus none --cpus 1 >/dev/null 2>&1 &
	first=$!
	until_ok grep -q begun "log-$1"
	before=$(owner "$1")
}
second_worker() { # takes NAME over and waits for its end
	lockstep worker --gpus none --cpus 1 --once >/dev/null 2>&1 &
	second=$!
	until_ok sh -c "lockstep exp show $1 | grep -q adopted"
	[ "$(owner "$1")" != "$before" ] && echo "$1 has another owner"
}
cat >job.sh <<'J'
echo begun >>log-$1
until [ -e go-$1 ]; do sleep 0.01; done
echo ended >>log-$1
J
lockstep exp init >/dev/null

echo '--- the lease is over, the worker lives'
begin jumped
sqlite "UPDATE experiment SET lease_until = 0 WHERE name = 'jumped'"
second_worker jumped
touch go-jumped
wait $second
echo "second worker $?"
history jumped
kill $first
wait $first
echo "first worker $?"

echo '--- the lease is over, the worker is stopped, and goes on after the job was taken over'
begin slept
kill -STOP $first
sqlite "UPDATE experiment SET lease_until = 0 WHERE name = 'slept'"
second_worker slept
kill -CONT $first
touch go-slept
wait $second
echo "second worker $?"
kill $first
wait $first
echo "first worker $?"
history slept

echo '--- a reboot: nothing lives, the lease is of another boot and far ahead'
begin rebooted
token=$(token)
read -r supervisor _ <.lockstep/locks/"$token"
kill -9 $first "$supervisor"
wait $first 2>/dev/null
echo "$$ 1" >.lockstep/locks/"$token" # this shell has the number now; it did not begin at tick 1
sqlite "UPDATE experiment SET lease_boot = 'before', lease_until = 1e12 WHERE name = 'rebooted'"
touch go-rebooted
lockstep worker --gpus none --once 2>/dev/null
echo "worker $?"
history rebooted
lockstep exp list --columns name,state,attempt
cat log-jumped log-slept log-rebooted
lockstep exp check
ls .lockstep/locks

echo '--- status -f'
begin seen
lockstep exp status -f >followed &
follower=$!
until_ok grep -q '^seen *running' followed
touch go-seen
wait $follower
echo "status -f $?"
tail -n 2 followed | sed 's/  */ /g; s/ [0-9]* of [0-9]* / N of N /; s/^[0-9]* of [0-9]*/N of N/'
kill $first
wait $first

echo '--- rm asks'
python3 - <<'P'
import os
import pty
def ask(answer, *args):
    pid, fd = pty.fork()
    if pid == 0:
        os.execvp("lockstep", ["lockstep", "exp", "rm", *args])
    said = b""
    try:
        while b"[y/N]" not in said:
            said += os.read(fd, 4096)
        os.write(fd, answer)
        while True:
            os.read(fd, 4096)
    except OSError:  # the terminal of a program that has ended
        pass
    print(said.decode().strip(), answer.decode().strip(), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
ask(b"n\n", "seen")
ask(b"\n", "--artifacts", "seen", "slept")
ask(b"y\n", "seen")
ask(b"yes\n", "--artifacts", "slept", "jumped")
P
lockstep exp list --columns name
ls runs
