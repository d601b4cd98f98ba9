"""tests/watch/load.py ADDRESS PID: a crowd before the monitor PID that listens at
ADDRESS.

10,000 connections that send half a request, slow clients that send a byte at a time,
requests that are no requests, and thousands of good ones. Samples go on, others are
answered, memory is flat.
"""
import json
import random
import resource
import socket
import sys
import time
import urllib.request

address, pid = sys.argv[1], sys.argv[2]
host, port = address.split(":")
CROWD, GROWTH_KB = 10_000, 4096
random.seed(1)


def get(path):
    with urllib.request.urlopen(f"http://{address}{path}", timeout=60) as r:
        return r.read()


def kb():
    with open(f"/proc/{pid}/status") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmRSS:"))


def samples_go_on():
    before = json.loads(get("/api/v1/now"))["time"]
    while json.loads(get("/api/v1/now"))["time"] == before:
        time.sleep(0.02)


def dial(text=b""):
    s = socket.socket()
    s.settimeout(60)
    s.connect((host, int(port)))
    s.setblocking(False)
    say(s, text)
    return s


def say(s, text):
    try:
        s.send(text)
    except OSError:
        pass  # it was closed, because others are more than enough


def ask_much():
    for i in range(300):
        for path in ("/", "/app.js", "/metrics", "/health", "/api/v1/now", "/api/v1/history?range=3600", "/api/v1/events",
                     "/api/v1/jobs", "/api/v1/experiments"):
            get(path)


def crowd():
    """As many at a time as this process may have open; the server keeps its 128 newest.
    """
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    most = CROWD if most == resource.RLIM_INFINITY else min(CROWD, most - 100)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most + 100, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    for begin in range(0, CROWD, most):
        held = []
        for i in range(begin, min(CROWD, begin + most)):
            held.append(dial(b"GET /api/v1/history HTTP/1.1\r\nX: "))
            if i % 2500 == 2499:
                samples_go_on()
        for s in held:
            s.close()


def slow():
    held = [dial() for _ in range(120)]
    request = b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n" + b"X: y\r\n" * 10
    for i in range(60):
        for s in held:
            say(s, request[i:i + 1])
    samples_go_on()
    for s in held:
        s.close()


def noise():
    for i in range(1000):
        s = dial(random.choice((b"GET ", b"", b"GET / HTTP/1.1\r\n\xff\xfe: ", b"A" * 9000)) + random.randbytes(random.randrange(3000)))
        s.close()
    samples_go_on()


ask_much()
noise()
before = kb()
for part in (crowd, slow, noise, ask_much):
    part()
    samples_go_on()
    print(part.__name__, "is over, samples go on")
grown = kb() - before
print("memory is flat" if grown < GROWTH_KB else f"memory grew by {grown} kB from {before} kB")
