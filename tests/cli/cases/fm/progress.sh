# The progress line: rows a second, loss, the last validation metric and the time left on
# a terminal of 40 columns, on a
# narrower one those that fit, the bar in what room they leave. The training is stopped
# when a few lines have been seen.
train() { # COLUMNS OPTION…, on a pseudo-terminal of Python's making
	python3 - "$(command -v lockstep)" "$@" <<'PY'
import fcntl, os, pty, re, signal, struct, sys, termios

program, columns, *args = sys.argv[1:]
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(2, termios.TIOCSWINSZ, struct.pack("HHHH", 24, int(columns), 0, 0))
    os.execve(program, [program, "fm", "train", *args], dict(os.environ, TERM="xterm"))
text, drawn, stopped = b"", [], False
try:
    while chunk := os.read(fd, 65536):
        text += chunk
        lines = re.findall("\r\033\\[K([^\r\n]+)(?=\r)", text.decode(errors="ignore"))
        drawn = [l for l in lines if not re.match(r"epoch|best|lockstep|m:|\d+ rows, |fm, ", l)]
        if len(drawn) > 3 and not stopped:
            os.kill(pid, signal.SIGTERM)
            stopped = True
except OSError:
    pass
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
figures = {"time": r"\d+(:|h)\d\d( |$)", "loss": r"loss \d+\.\d+( |$)", "valid": r"val\S*( [a-z0-9-]+)? \d+\.\d+( |$)", "rate": r"\d[kM] rows/s( |$)",
           "percent": r"\d+% ", "bar": "^[█░]{3,20} ", "plain bar": "^[#.]{3,20} "}
has = " ".join(n for n, p in figures.items() if drawn and re.search(p, drawn[-1]))
# of a narrow line, each whole
parts = r"(\?|\d+(:|h)\d\d)( left)?( +(loss|val) \d+\.\d+| +\d+(\.\d+)?[kM] rows/s)*$"
broken = [l for l in drawn if int(columns) <= 40 and not re.match(parts, l)]
fits = all(len(l) < int(columns) for l in drawn)
print(f"status {status}, {columns} columns: {has}{', time unknown at first' if drawn[0].startswith('? ') or drawn[0].endswith('? left') else ''}{'' if fits else ', too long'}{f', broken: {broken}' if broken else ''}")
print(f"{columns}: {drawn[-1:]}", file=sys.stderr)
PY
}
D=$ROOT/tests/data
args=("$D"/small.svm -o m --batch 16 --threads 1 --epochs 100000 --log /dev/null --log-every 1)
for columns in 7 9 20 24 27 32 40 80 132; do train $columns "${args[@]}"; done
# how long the steps before a checkpoint took is not known
lockstep fm train "$D/small.svm" -o m --batch 16 --epochs 20 --checkpoint c -q
train 80 "${args[@]}" --checkpoint c --resume
for columns in 20 28 34 40 80 132; do train $columns "${args[@]}" --valid "$D"/small-valid.svm --metric auc --early-stop 0; done
LC_ALL=C train 80 "${args[@]}" # no letters that a terminal may not have
# a signal while nobody takes what is written costs a line at most, never a part of one
python3 - "$(command -v lockstep)" "${args[@]}" <<'PY'
import fcntl, os, re, signal, subprocess, sys, time

read, write = os.pipe()
fcntl.fcntl(write, 1031, 4096)  # F_SETPIPE_SZ
child = subprocess.Popen([sys.argv[1], "fm", "train", *sys.argv[2:]], stderr=write)
os.close(write)
before, now = None, " "
# until it waits, and has used no processor meanwhile
while child.poll() is None and (before != now or now[0] != "S"):
    time.sleep(0.1)
    before, now = now, " ".join(open(f"/proc/{child.pid}/stat").read().rsplit(")", 1)[1].split()[:13])
child.send_signal(signal.SIGTERM)
lines = os.fdopen(read).read().splitlines()
whole = r"\d+ rows, |fm, |epoch \d+  loss \d\.\d{5}  \d\.\d\d s, \d\.\d{3} M rows/s$|lockstep: stopped after step \d+; "
print("status", child.wait(), "lines that are none:", [l for l in lines if not re.match(whole, l)], len(lines) > 20)
PY
