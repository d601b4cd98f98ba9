"""tests/watch/terminal.py TERM ROWSxCOLUMNS STEP… -- COMMAND…: runs a command on a
terminal of its own. A step is "see:TEXT", which waits until the program has drawn the
text, or "key:KEYS", or "size:ROWSxCOLUMNS", or "signal". The next step looks only at
what was drawn behind that text. Prints how the program ended. It never waits for a time."""
import codecs
import fcntl
import os
import pty
import re
import signal
import struct
import sys
import termios

term, size = sys.argv[1:3]
split = sys.argv.index("--")
steps, command = sys.argv[3:split], sys.argv[split + 1:]


def window(size):
    rows, columns = map(int, size.split("x"))
    return struct.pack("HHHH", rows, columns, 0, 0)


def plain(text):
    """Without the sequences that move the cursor and set colours, which count as a
    blank."""
    text = re.sub(r"\x1b\][^\x07]*\x07|\x1b[()][A-Z0-9]|\x1b[=>78M]", "", text)
    text = re.sub(r"\x1b\[[0-9;?]*m|\x0f", "", text)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", " ", text)
    return re.sub(r"\s+", " ", text)


pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, window(size))
    os.environ["TERM"] = term
    os.execvp(command[0], command)
decoder = codecs.getincrementaldecoder("utf-8")("replace")
seen, looked_at = "", 0  # raw; and how much of it, made plain, earlier steps have used


def read():
    global seen
    try:
        data = os.read(fd, 65536)
    except OSError:  # the program has ended
        data = b""
    seen += decoder.decode(data)
    return bool(data)


for step in steps:
    kind, _, what = step.partition(":")
    if kind == "see":
        while (at := plain(seen).find(what, looked_at)) < 0:
            if not read():
                sys.exit(f"never seen: {what!r} in\n{plain(seen)[looked_at:]}")
        looked_at = at + len(what)
    elif kind == "key":
        os.write(fd, what.encode().decode("unicode_escape").encode())
    elif kind == "size":
        fcntl.ioctl(fd, termios.TIOCSWINSZ, window(what))
    elif kind == "signal":
        os.kill(pid, signal.SIGTERM)
while read():
    pass
status = os.waitpid(pid, 0)[1]
print("ended with", str(os.waitstatus_to_exitcode(status)) + (" and gave the terminal back" if "\x1b[?1049l" in seen else ""))
