"""browser.py LOCKSTEP: the page of compare --html in a real browser, headless: it parses
as it was written, says nothing on the console, and the verdict and the bars are seen.
Exit status 77 where the system has no browser package (Ubuntu has only a snap)."""
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

here = pathlib.Path(__file__).parent
lockstep = os.path.abspath(sys.argv[1])
browser = shutil.which("chromium")
if not browser:
    print("no chromium here")
    sys.exit(77 if "ID=ubuntu" in pathlib.Path("/etc/os-release").read_text() else 1)


def pixels(path):
    """Rows of an 8-bit RGB or RGBA PNG, as bytes, with the number of channels."""
    data, at, packed = path.read_bytes(), 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", data[at + 8:at + 18])
        if kind == b"IDAT":
            packed += data[at + 8:at + 8 + size]
        at += 12 + size
    n = {2: 3, 6: 4}[colour]
    assert depth == 8
    raw, last, rows = zlib.decompress(packed), bytearray(width * n), []
    for y in range(height):
        kind, line = raw[y * (width * n + 1)], bytearray(raw[y * (width * n + 1) + 1:(y + 1) * (width * n + 1)])
        for i in range(len(line)):
            left, up, corner = line[i - n] if i >= n else 0, last[i], last[i - n] if i >= n else 0
            p = left + up - corner
            nearest = min((abs(p - v), k, v) for k, v in enumerate((left, up, corner)))[2] if kind == 4 else 0
            line[i] = (line[i] + (0, left, up, (left + up) // 2, nearest)[kind]) & 255
        rows.append(bytes(line))
        last = line
    return rows, n


def count(rows, n, colour):
    return sum(row[i:i + 3] == colour for row in rows for i in range(0, len(row), n))


with tempfile.TemporaryDirectory() as scratch:
    os.chdir(scratch)
    for name, weight in (("a.pt", "0.5"), ("b.pt", "0.50000006")):
        subprocess.run([sys.executable, here / "make.py", "checkpoint", name, f"weight={weight}"], check=True)
    assert subprocess.run([lockstep, "compare", "a.pt", "b.pt", "--html", "r.html"], stdout=subprocess.DEVNULL).returncode == 1
    common = [browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={scratch}/profile", "--enable-logging=stderr"]
    page = f"file://{scratch}/r.html"
    shown = subprocess.run(common + ["--dump-dom", page], capture_output=True, text=True, timeout=200)
    assert "CONSOLE" not in shown.stderr, shown.stderr
    written = pathlib.Path("r.html").read_text()
    for tag in ("table", "tr", "td", "rect", "text", "details", "section", "svg"):
        have, want = (len(re.findall(f"<{tag}[ >]", t)) for t in (shown.stdout, written))
        assert have == want > 0, (tag, have, want)
    subprocess.run(common + [f"--screenshot={scratch}/r.png", "--window-size=600,760", page], capture_output=True, timeout=200, check=True)
    rows, n = pixels(pathlib.Path("r.png"))
    bars, verdict = count(rows, n, b"\x3b\x6f\xb6"), count(rows, n, b"\xb3\x26\x1e")
    print(f"{len(rows)} rows; bar pixels {bars}, verdict pixels {verdict}")
    assert bars > 1000 and verdict > 50
