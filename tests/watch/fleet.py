"""tests/watch/fleet.py ADDRESS: the files for a fleet, in the current folder, against
the monitor at ADDRESS, which watches a lost GPU; the last step is a real Prometheus that
fires its alert."""
import json
import pathlib
import re
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request

import yaml

address = sys.argv[1]


def get(url):
    # no proxy: everything here is this machine
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url, timeout=60) as r:
        return r.read().decode()


def expressions(node):
    """Every "expr" of the dashboard, wherever it stands."""
    if isinstance(node, dict):
        own = [node["expr"]] if "expr" in node else []
        return own + [e for v in node.values() for e in expressions(v)]
    return [e for v in node for e in expressions(v)] if isinstance(node, list) else []


def check_yaml():
    compose = yaml.safe_load(pathlib.Path("compose.yml").read_text())
    assert set(compose["services"]) == {"monitor", "prometheus", "grafana"}, compose
    for service in compose["services"].values():
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            known = pathlib.Path(source).exists() if source.startswith(".") else source in compose["volumes"]
            assert known, volume
        for config in service.get("configs", []):
            yaml.safe_load(compose["configs"][config["source"]]["content"])
    pod = yaml.safe_load(pathlib.Path("daemonset.yml").read_text())["spec"]["template"]["spec"]
    mounts = {m["name"] for c in pod["containers"] for m in c["volumeMounts"]}
    assert mounts == {v["name"] for v in pod["volumes"]}, mounts
    for args in [compose["services"]["monitor"]["command"], pod["containers"][0]["args"]]:
        assert args[0] == "monitor" and "--listen" in args, args


def check_expressions():
    """Prometheus' own parser reads them, and the monitor has the series that they name.
    """
    dashboard = expressions(json.loads(pathlib.Path("grafana.json").read_text()))
    assert len(dashboard) > 12, dashboard
    rules = [{"record": f"r{i}", "expr": e.replace("$instance", ".*").replace("$gpu", ".*")}
             for i, e in enumerate(dashboard)]
    pathlib.Path("dashboard-rules.yml").write_text(json.dumps({"groups": [{"name": "g", "rules": rules}]}))
    subprocess.run(["promtool", "check", "rules", "dashboard-rules.yml"], check=True, stdout=subprocess.DEVNULL)
    alerts = yaml.safe_load(pathlib.Path("alerts.yml").read_text())["groups"][0]["rules"]
    metrics = get(f"http://{address}/metrics")
    there = set(re.findall(r"^# TYPE (\S+)", metrics, re.M))
    hidden = {"lockstep_host_disk_available_bytes", "lockstep_host_disk_size_bytes",
              "lockstep_host_cpu_busy_ratio", "lockstep_host_cpu_busiest_ratio",
              "lockstep_host_memory_available_bytes", "lockstep_host_memory_size_bytes"}
    for e in dashboard + [a["expr"] for a in alerts]:
        for name in re.findall(r"\blockstep_\w+", e):
            assert name in there | hidden, f"{name} of {e} is not in /metrics"


def start():
    """Prometheus at a port that was free a moment ago; another one when somebody was
    quicker."""
    config = pathlib.Path("prometheus.yml").read_text().replace("127.0.0.1:9495", address)
    pathlib.Path("prometheus.yml").write_text(config.replace("15s", "1s"))
    for _ in range(5):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        log = open("prometheus.log", "w")
        server = subprocess.Popen(["prometheus", "--config.file=prometheus.yml", "--storage.tsdb.path=tsdb",
                                   f"--web.listen-address=127.0.0.1:{port}"], stdout=log, stderr=log, env={})
        while server.poll() is None:
            try:
                get(f"http://127.0.0.1:{port}/-/ready")
                return server, f"http://127.0.0.1:{port}"
            except OSError:
                time.sleep(0.1)
    sys.exit("prometheus does not start:\n" + pathlib.Path("prometheus.log").read_text())


def fires(base):
    """It has come when it fires; there is no time by which it has to."""
    while True:
        for alert in json.loads(get(base + "/api/v1/alerts"))["data"]["alerts"]:
            if alert["labels"].get("rule") == "gpu-lost" and alert["state"] == "firing":
                return alert
        time.sleep(0.1)


while 'rule="gpu-lost"' not in get(f"http://{address}/metrics"):
    time.sleep(0.02)
check_yaml()
check_expressions()
server, base = start()
try:
    alert = fires(base)
    labels = alert["labels"]
    assert labels["alertname"] == "LockstepCritical" and labels["severity"] == "critical", alert
    assert labels["gpu"] == "0" and labels["instance"] == address and labels["job"] == "lockstep", alert
    assert alert["annotations"]["summary"] == f"{address}: gpu-lost of GPU 0", alert
    query = ("lockstep_process_gpu_memory_bytes * on (instance, gpu, pid) group_left (program, exported_job) "
             "lockstep_job_info")
    rows = json.loads(get(base + "/api/v1/query?" + urllib.parse.urlencode({"query": query})))["data"]["result"]
    assert [(r["metric"]["exported_job"], r["metric"]["program"]) for r in rows] == [("12", "python3")], rows
finally:
    server.kill()
    server.wait()
print("an alert fires")
