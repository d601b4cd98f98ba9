# Colour on a terminal, none with NO_COLOR, none where TERM is dumb, none in a pipe (every
# other case sees to that).
. "$ROOT/tests/fake/machine.sh"
machine t4
sequences() { # on a pseudo-terminal of Python's making
	python3 - "$(command -v lockstep)" "$root" "$script" "$@" <<'PY'
import os, pty, sys

program, root, script, *extra = sys.argv[1:]
env = dict(PATH="/usr/bin:/bin", LOCKSTEP_ROOT=root, LS_FAKE_NVML=script, TERM="xterm")
env.update(e.split("=", 1) for e in extra)
env.update({k: v for k, v in os.environ.items() if k == "ASAN_OPTIONS"})
pid, fd = pty.fork()
if pid == 0:
    os.execve(program, [program, "doctor", "--spec", "kaggle-2025-09"], env)
out = b""
try:
    while chunk := os.read(fd, 65536):
        out += chunk
except OSError:
    pass
os.waitpid(pid, 0)
print("red" if b"\033[31m" in out else "no red", "off" if b"\033[0m" in out else "no off", "DIFFERS" in out.decode())
PY
}
sequences
sequences NO_COLOR=1
sequences NO_COLOR=
sequences TERM=dumb
