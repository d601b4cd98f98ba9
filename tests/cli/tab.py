"""tests/cli/tab.py SHELL LINE…: types each line, with its tabs (written <TAB>), into an
interactive shell on a pseudo-terminal that has loaded lockstep's completion from c.SHELL,
and prints the words that the command `lockstep` then got."""
import os
import pty
import re
import select
import sys
import time

shell, lines = sys.argv[1], sys.argv[2:]
programs = {"bash": ["bash", "--norc", "--noprofile", "-i"], "zsh": ["zsh", "-f", "-i"]}
load = {"bash": ". ./c.bash", "zsh": "fpath=($PWD/fpath $fpath); autoload -U compinit; compinit -u -D"}
got = "lockstep() { printf '{%s}' \"$@\"; echo; }"

pid, fd = pty.fork()
if pid == 0:
    env = dict(os.environ, TERM="xterm", PS1="", PS2="", HISTFILE="/dev/null", ZDOTDIR="/nonexistent")
    os.execvpe(programs[shell][0], programs[shell], env)
said = ""


def until(pattern):
    global said
    end = time.monotonic() + 60
    while not (found := re.search(pattern, said)):
        if time.monotonic() > end or not select.select([fd], [], [], 5)[0]:
            sys.exit(f"{shell}: no {pattern} in {said[-400:]!r}")
        said += os.read(fd, 65536).decode(errors="replace")
    said = said[found.end():]
    return found


os.write(fd, f"{load[shell]}; {got}; echo loa''ded\n".encode())
until("loaded")
for line in lines:
    os.write(fd, (line.replace("<TAB>", "\t") + "\n").encode())
    print(shell, until(r"((\{[^{}\r\n]*\})+)\r?\n")[1])
os.write(fd, b"exit\n")
os.close(fd)
os.waitpid(pid, 0)
