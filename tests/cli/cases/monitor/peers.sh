# A few machines on one page: one that is well, one that is not, one that does not answer, one
# that is no monitor, one that refuses the token; addresses that are none.
. "$ROOT/tests/fake/machine.sh"
. "$ROOT/tests/watch/serve.sh"

machine h200
measures 0 util=93 used=71000 reserved=600 temp=61 draw=512500 recovery=1 serial=1650421000123 pci=0
echo 0123456789abcdef >token
echo 0123456789abcdeX >other
chmod 600 token other
serve --interval 0.1 --history none --token-file token || exit 99
sick=$address sick_pid=$server
serve --interval 0.1 --history none --token-file other || exit 99
strict=$address strict_pid=$server
python3 - >port <<'PY' &
import socket, sys
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
while True:
    c, _ = s.accept()
    c.recv(4096)
    c.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")
    c.close()
PY
stranger_pid=$!
until [ -s port ]; do sleep 0.05; done
stranger=127.0.0.1:$(cat port)
serve --interval 0.1 --history none --token-file token --peers "$sick, $strict,$stranger,localhost:1" || exit 99
python3 - "$address" "$sick" "$strict" "$stranger" <<'PY'
import json, sys, time, urllib.request
address, sick, strict, stranger = sys.argv[1:]
def get():
    r = urllib.request.Request(f"http://{address}/api/v1/peers", headers={"Authorization": "Bearer 0123456789abcdef"})
    return {p["address"]: p for p in json.load(urllib.request.urlopen(r))["peers"]}
while get()[sick]["health"] != "critical" or any(p["why"] == "it has not been asked yet" for p in get().values()):
    time.sleep(0.05)
d = get()
p = d[sick]
assert p["why"] is None and p["gpus"] == [{"index": 0, "name": "NVIDIA H200", "lost": None, "utilization": 93.0, "memory_used": 71000 << 20,
                                          "memory_total": 143771 << 20, "temperature": 61.0, "power": 512.5}], p
assert p["reasons"][0]["health"] == "critical" and "reset it" in p["reasons"][0]["advice"], p
for name, who in (("strict", strict), ("stranger", stranger), ("nobody", "localhost:1")):
    print(name + ":", d[who]["health"], d[who]["why"])
PY
kill "$server" "$sick_pid" "$strict_pid" "$stranger_pid"
wait "$server"
echo "stopped with $?"
wait
for list in nowhere 'a/b:80' ':80' 'x:0' ',' 'no-such-host.invalid:80'; do
	monitor --listen 127.0.0.1:0 --peers "$list" 2>&1 | sed 's/: [^:]*$/: …/'
done
monitor --once --peers 127.0.0.1:1 2>&1
echo $?
