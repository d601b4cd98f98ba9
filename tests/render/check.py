"""tests/render/check.py LOCKSTEP: rendered files judged by the tools that will read
them, and the workflow's steps run.

Dockerfile by hadolint (which runs shellcheck over RUN); the workflow against GitHub's
schema, its scripts by shellcheck and then run for real with stand-ins for docker and gh;
requirements by pip's parser and resolver; Makefile by make. The bootstrap script has its
own test, boot.py. Specs against docs/schema/spec.schema.json. No network is used.
"""
import base64
import hashlib
import http.server
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import zipfile

from packaging.requirements import Requirement
from ruamel.yaml import YAML

root = pathlib.Path(__file__).resolve().parent.parent.parent
lockstep = pathlib.Path(sys.argv[1]).resolve()
tools = pathlib.Path(sys.executable).parent
shipped = sorted(p.stem for p in (root / "specs").glob("*.json"))
faults, done = [], 0


def expect(what, condition, detail=""):
    global done
    done += 1
    if not condition:
        faults.append(f"{what}\n{detail}".rstrip())


def run(*argv, env=None, cwd=None, text=None):
    return subprocess.run([str(a) for a in argv], capture_output=True, text=True, env=env, cwd=cwd, input=text)


def said(r):
    return f"status {r.returncode}\n{r.stdout}{r.stderr}"


def render(spec, kind, cwd=None):
    r = run(lockstep, "spec", "render", spec, f"--{kind}", cwd=cwd)
    return r.stdout if r.returncode == 0 else None


def check_dockerfiles(folder):
    # DL3008: Debian packages are not pinned, the image is. DL3013: what a spec leaves
    # open stays open. DL3059: one layer a purpose. DL3066: the user's name is for people.
    # SC2016: $ORIGIN is for the linker.
    ignored = [x for rule in ("DL3008", "DL3013", "DL3059", "DL3066", "SC2016") for x in ("--ignore", rule)]
    for spec in shipped:
        path = folder / "Dockerfile"
        path.write_text(render(spec, "dockerfile"))
        r = run(tools / "hadolint", "--no-color", *ignored, path)
        expect(f"{spec}: hadolint", r.returncode == 0 and not r.stdout, said(r))
    path.write_text(path.read_text() + "RUN cd /tmp; if [ $x = 1 ]; then\n")
    expect("hadolint sees a broken RUN", run(tools / "hadolint", *ignored, path).returncode != 0)


def steps(workflow):
    for name, job in workflow["jobs"].items():
        for step in job["steps"]:
            yield name, step


def check_actions(spec, text, workflow):
    """Actions are commits, and where an image is pushed or pulled somebody has logged
    in."""
    table = {r["action"]: r for r in json.loads((root / "data/actions.json").read_text())["rows"]}
    uses = re.findall(r"uses: (\S+)@([0-9a-f]{40}) # (v[0-9.]+)$", text, re.M)
    wrong = [u for u in uses if (u[1], u[2]) != (table[u[0]]["commit"], table[u[0]]["version"])]
    expect(f"{spec}: every action is a commit of the table", not wrong and len(uses) == text.count("uses:") > 5, str(uses))
    for name in set(workflow["jobs"]) - {"gpu-gate"}:
        logins = [s for n, s in steps(workflow) if n == name and "docker/login-action" in s.get("uses", "")]
        expect(f"{spec}: {name} logs in", len(logins) == 1 and logins[0]["with"]["registry"] == "ghcr.io", str(logins))
    build = next(s["with"] for _, s in steps(workflow) if s.get("name") == "Build")
    expect(f"{spec}: the build has a cache", build["cache-from"].startswith("type=registry,") and build["cache-to"], str(build))


def check_workflows(folder):
    for spec in shipped:
        path = folder / "workflow.yml"
        path.write_text(render(spec, "github"))
        r = run(tools / "check-jsonschema", "--builtin-schema", "vendor.github-workflows", path)
        expect(f"{spec}: workflow schema", r.returncode == 0, said(r))
        workflow = YAML(typ="safe").load(path)
        scripts = 0
        for _, step in steps(workflow):
            if "run" in step:
                scripts += 1
                r = run("shellcheck", "-s", "bash", "-", text=step["run"])
                expect(f"{spec}: {step['name']}: shellcheck", r.returncode == 0, said(r))
        watched, cuda = spec == "kaggle-2025-09", "inference" not in spec
        jobs = ["image", "parity"] + ["gpu-gate"] * cuda + ["drift"] * watched
        expect(f"{spec}: its jobs", list(workflow["jobs"]) == jobs, str(list(workflow["jobs"])))
        expect(f"{spec}: its scripts", scripts == 2 + cuda + 4 * watched, str(scripts))
        uploads = [s for _, s in steps(workflow) if "upload-artifact" in s.get("uses", "")]
        expect(f"{spec}: reports are always uploaded", len(uploads) == 1 + watched and all(s["if"] == "always()" for s in uploads))
        cron = [e["cron"] for e in workflow["on"].get("schedule", [])]
        expect(f"{spec}: weekly only where an image is watched", [len(c.split()) for c in cron] == [5] * watched, str(cron))
        check_actions(spec, path.read_text(), workflow)
    path.write_text(path.read_text().replace("runs-on:", "runs_on:"))
    r = run(tools / "check-jsonschema", "--builtin-schema", "vendor.github-workflows", path)
    expect("the schema sees a broken workflow", r.returncode != 0)


def script(workflow, name):
    return next(s["run"] for _, s in steps(workflow) if s.get("name") == name)


def stand_in(folder, name, text):
    path = folder / "bin" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("#!/bin/bash\n" + text)
    path.chmod(0o755)


def step_run(folder, text, **variables):
    """Runs a step as a runner does; returns it and what it wrote to GITHUB_OUTPUT."""
    out, summary = folder / "output", folder / "summary"
    out.write_text("")
    summary.write_text("")
    env = dict(os.environ, PATH=f"{folder / 'bin'}:{os.environ['PATH']}", GITHUB_OUTPUT=str(out),
               GITHUB_STEP_SUMMARY=str(summary), SPEC="pin.json", PIN="pin.json", IMAGE="repository:tag", WATCH="watch",
               REPOSITORY="repository", **variables)
    r = run("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", text, env=env, cwd=folder)
    return r, dict(line.split("=", 1) for line in out.read_text().splitlines())


def check_gate(folder, workflow):
    for status, state, result in ((0, "pass", 0), (3, "skip", 0), (1, "fail", 1), (2, "fail", 2), (125, "fail", 125)):
        stand_in(folder, "docker", f'echo "$@" >>docker.log; exit {status}\n')
        r, out = step_run(folder, script(workflow, "Doctor"), DIGEST="sha256:1")
        expect(f"doctor step, status {status}", r.returncode == result and out == {"state": state}, said(r) + str(out))
        expect(f"doctor step, warning, {status}", ("::warning" in r.stdout) == (state == "skip"), r.stdout)
    expect("docker was asked for doctor in the image that was built", "repository@sha256:1 lockstep doctor --cuda --spec pin.json "
           "--fail-on-mismatch --emit-json" in (folder / "docker.log").read_text())
    service = YAML(typ="safe").load(render("gpu-inference-2024-11", "github"))
    stand_in(folder, "docker", "exit 3\n")
    r, out = step_run(folder, script(service, "Doctor"), DIGEST="sha256:1")
    expect("on the CPU nothing is skipped", r.returncode == 3 and out == {"state": "fail"}, said(r) + str(out))
    for event, head, push, tag in (("push", "", "true", "repository:tag"), ("workflow_dispatch", "", "true", "repository:tag"),
                                   ("pull_request", "me/it", "true", "repository:pr-7"), ("pull_request", "fork/it", "false", "repository:fork"),
                                   ("pull_request", "", "false", "repository:fork")):
        r, out = step_run(folder, script(workflow, "Choose where it goes"), GITHUB_EVENT_NAME=event, GITHUB_REPOSITORY="me/it",
                          HEAD=head, NUMBER="7")
        expect(f"image of {event} from {head}", out.get("push") == push and out.get("tag") == tag and
               bool(out.get("cache")) == (push == "true"), said(r) + str(out))
    gate = script(workflow, "A skipped parity run is enough unless the label gpu-required is set")
    for state, labelled, result in (("pass", "true", 0), ("pass", "false", 0), ("skip", "false", 0), ("skip", "true", 1),
                                    ("fail", "false", 1), ("", "false", 1)):
        r, _ = step_run(folder, gate, STATE=state, LABELLED=labelled)
        expect(f"gate: {state}:{labelled}", r.returncode == result, said(r))


def check_drift(folder, workflow):
    """The weekly job with a docker that runs lockstep here instead of in a container."""
    stand_in(folder, "docker", f'''case $1 in
pull | rm) exit ;;
create) echo id; exit ;;
cp) mkdir -p "$3"; exit ;;
esac
while [ $# -gt 0 ]; do case $1 in lockstep) shift; break ;; spec) break ;; esac; shift; done
exec {lockstep} "$@"
''')
    stand_in(folder, "gh", 'echo "$@" >>gh.log; case $2 in list) cat number 2>/dev/null ;; esac; exit 0\n')
    here = run(lockstep, "spec", "capture", "--name", "pin")
    (folder / "pin.json").write_text(here.stdout)
    r, _ = step_run(folder, script(workflow, "Capture"))
    expect("capture step", r.returncode == 0 and json.loads((folder / "fresh.json").read_text())["captured"], said(r))
    r, out = step_run(folder, script(workflow, "Compare with the pin"))
    expect("no drift", r.returncode == 0 and out == {"drift": "false"}, said(r) + str(out))
    fresh = (folder / "fresh.json").read_text()
    (folder / "fresh.json").write_text('{"schema": 1, "name": "fresh", "captured": true}')
    r, out = step_run(folder, script(workflow, "Compare with the pin"))
    expect("a capture that saw nothing fails", r.returncode == 3 and not out, said(r) + str(out))
    (folder / "fresh.json").write_text(fresh)
    pin = json.loads((folder / "pin.json").read_text())
    pin["python"] = "2.7.18"
    (folder / "pin.json").write_text(json.dumps(pin))
    r, out = step_run(folder, script(workflow, "Compare with the pin"))
    expect("drift", r.returncode == 0 and out == {"drift": "true"}, said(r) + str(out))
    expect("the summary has the drift", "| python | 2.7.18 |" in (folder / "summary").read_text())
    (folder / "pin.json").write_text("{")
    r, out = step_run(folder, script(workflow, "Compare with the pin"))
    expect("a broken pin is no drift but a failure", r.returncode == 2 and not out, said(r) + str(out))
    check_pull_request(folder, workflow)


def check_pull_request(folder, workflow):
    """The pins follow, in a repository with a remote; the second week has nothing new to
    say."""
    def git(*argv):
        return run("git", "-c", "init.defaultBranch=main", "-c", "user.name=t", "-c", "user.email=t@example.org", *argv, cwd=folder)

    def week():
        git("switch", "--quiet", "-f", "main")
        r = [step_run(folder, script(workflow, name))[0] for name in ("Capture", "Compare with the pin", "Move the pins")]
        r.append(step_run(folder, script(workflow, "Open a pull request"), BRANCH="lockstep/drift-pin")[0])
        expect("the steps of a week", not any(x.returncode for x in r), "".join(map(said, r)))
        return r[-1]

    pin = json.loads((folder / "fresh.json").read_text())
    pin = {"schema": 1, "name": "pin", "python": "3.2.x", "packages": dict(list(pin["packages"].items())[:3])}
    (folder / "pin.json").write_text(json.dumps(pin))
    (folder / "requirements.txt").write_text(render("pin.json", "requirements", cwd=folder).replace("==", "==0.0"))
    (folder / "Makefile").write_text("all: # not rendered\n")
    run("git", "init", "--quiet", "--bare", folder / "remote")
    for argv in (("init", "--quiet"), ("add", "pin.json", "requirements.txt", "Makefile"), ("commit", "--quiet", "-m", "first"),
                 ("remote", "add", "origin", folder / "remote")):
        expect(f"git {argv[0]}", git(*argv).returncode == 0)
    for number, wanted in (("", "pr create --head lockstep/drift-pin --title Environment drift against pin.json --body-file drift.md"),
                           ("17", "pr edit 17 --body-file drift.md")):
        (folder / "number").write_text(number)
        (folder / "gh.log").write_text("")
        r = week()
        expect(f"pull request {number}", wanted in (folder / "gh.log").read_text(), said(r))
        expect(f"only the first week pushes {number}", ("this drift has its branch already" in r.stdout) == bool(number), said(r))
    shown = run("git", "show", "--stat", "lockstep/drift-pin", cwd=folder / "remote").stdout
    expect("the branch has the pin and what follows from it", "pin.json" in shown and "requirements.txt" in shown and
           "Makefile" not in shown, shown)
    moved = json.loads(run("git", "show", "lockstep/drift-pin:pin.json", cwd=folder / "remote").stdout)
    here = json.loads((folder / "fresh.json").read_text())["python"]
    expect("the pin follows as precisely as it was", moved["python"] == ".".join(here.split(".")[:2]) + ".x", str(moved))
    expect("the body says whether the pin is sound", "faults" in (folder / "drift.md").read_text())
    git("switch", "--quiet", "-f", "main")
    git("reset", "--quiet", "--hard")
    r, _ = step_run(folder, script(workflow, "Open a pull request"), BRANCH="lockstep/drift-pin")
    expect("drift that no pin can follow fails", r.returncode == 1 and "::error::" in r.stdout, said(r))


def wheel(folder, name, version, needs=()):
    """A wheel without content, so that pip has something to resolve."""
    info = f"{name.replace('-', '_')}-{version}.dist-info"
    files = {f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n" +
             "".join(f"Requires-Dist: {n}\n" for n in needs),
             f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    record = "".join(f"{n},sha256={base64.urlsafe_b64encode(hashlib.sha256(t.encode()).digest()).rstrip(b'=').decode()},"
                     f"{len(t)}\n" for n, t in files.items())
    with zipfile.ZipFile(folder / f"{name.replace('-', '_')}-{version}-py3-none-any.whl", "w") as z:
        for n, t in files.items():
            z.writestr(n, t)
        z.writestr(f"{info}/RECORD", record + f"{info}/RECORD,,\n")


def example(requirement):
    """A version that satisfies it."""
    exact = [s.version for s in requirement.specifier if s.operator == "=="]
    return (exact or [s.version for s in requirement.specifier] or ["1.0"])[0]


def check_requirements(folder):
    for spec in shipped:
        text = render(spec, "requirements")
        if text is None:
            expect(f"{spec}: has nothing to require", spec == "gpu-inference-2024-11")
            continue
        wheels = folder / f"wheels-{spec}"
        wheels.mkdir()
        wanted = [Requirement(line) for line in text.splitlines() if line and line[0] not in "#-"]
        for r in wanted:
            wheel(wheels, r.name, example(r))
        path = folder / "requirements.txt"
        path.write_text(text)
        pip = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--no-index", "--no-deps",
               "--disable-pip-version-check", "--find-links", wheels, "-r", path]
        r = run(*pip)
        line = next((x for x in r.stdout.splitlines() if x.startswith("Would install")), "")
        expect(f"{spec}: pip resolves it", r.returncode == 0 and len(line.split()) == 2 + len(wanted), said(r))
        next(wheels.glob("torch-*")).unlink()
        expect(f"{spec}: pip misses a wheel", run(*pip).returncode != 0)


# What each file has of a spec, by the keys of `spec diff`.
CARRIES = {"conda": ("environment.yml", r"torch$|python$|package\.|env\.|requirements\."),
           "requirements": ("requirements.txt", r"torch$|package\.|requirements\."),
           "dockerfile": ("Dockerfile", r"torch$|package\.|env\.|requirements\.|image")}
# What files have beside the spec's pins: Debian packages and variables of the image, the
# address that follows from a build, a package of which only the extras were asked for.
BESIDE = {"image.apt", "env.LANG", "env.LC_ALL", "env.PYTHONDONTWRITEBYTECODE", "requirements.extra_index", "package.uvicorn"}


def check_round_trip(folder):
    """`spec import` reads the pins back from what was rendered."""
    hard = {"schema": 1, "name": "hard", "image": {"base": "python:3.12-slim", "digest": "sha256:" + "a" * 64, "apt": ["git"]},
            "python": "~=3.12.3", "torch": ["2.8.0+cpu", "2.9.0+cpu"],
            "packages": {"numpy": ">=2.2,<3,!=2.2.5", "scipy": "1.x", "pandas": "2.2.*", "rich": "*", "Typing_Extensions": "~=4.12"},
            "env": {"QUOTED": "a \"b\" $c 'd' # e", "COLONS": ": - x", "EMPTY": ""},
            "requirements": {"lines": ["uvicorn[standard]"]}}
    (folder / "hard.json").write_text(json.dumps(hard))
    for spec in [*shipped, folder / "hard.json"]:
        for kind, (name, keys) in CARRIES.items():
            text = render(spec, kind)
            if text is None:
                expect(f"{spec}: {kind} has nothing to say", (str(spec), kind) == ("gpu-inference-2024-11", "requirements"))
                continue
            (folder / name).write_text(text)
            (folder / "back.json").unlink(missing_ok=True)
            r = run(lockstep, "spec", "import", folder / name, "-o", folder / "back.json")
            expect(f"{spec}: {kind} is imported", r.returncode == 0, said(r))
            d = run(lockstep, "spec", "diff", "--json", spec, folder / "back.json")
            rows = [c for c in json.loads(d.stdout)["components"] if re.match(keys, c["key"])]
            wrong = [c for c in rows if c["what"] not in ("same", "within") and c["old"] != c["new"] and
                     not (c["what"] == "added" and c["key"] in BESIDE)]
            expect(f"{spec}: {kind} has the same pins", rows and not wrong, json.dumps(wrong, indent=1) + said(r))


def check_containers(folder):
    """compose and devcontainer: their schema, the GPUs, a health check that fails
    closed."""
    path = folder / "docker-compose.yml"
    for spec in shipped:
        path.write_text(render(spec, "compose"))
        r = run(tools / "check-jsonschema", "--builtin-schema", "vendor.compose-spec", path)
        expect(f"{spec}: compose schema", r.returncode == 0, said(r))
        service = YAML(typ="safe").load(path)["services"][spec]
        cuda = "inference" not in spec
        gpus = service.get("deploy", {}).get("resources", {}).get("reservations", {}).get("devices")
        expect(f"{spec}: GPUs are reserved", (gpus and gpus[0]["capabilities"] == ["gpu"]) if cuda else gpus is None, str(gpus))
        expect(f"{spec}: NVIDIA's variables", ("NVIDIA_DRIVER_CAPABILITIES" in service.get("environment", {})) == cuda)
        for status, healthy in ((0, True), (1, False), (2, False), (3, False)):
            stand_in(folder, "lockstep", f"exit {status}\n")
            r = run("bash", "-c", service["healthcheck"]["test"][1], env=dict(os.environ, PATH=f"{folder / 'bin'}:{os.environ['PATH']}"))
            expect(f"{spec}: health of status {status}", r.returncode == (0 if healthy else 1), said(r))
        text = render(spec, "devcontainer")
        doc = json.loads("".join(x for x in text.splitlines(True) if not x.startswith("//")))
        expect(f"{spec}: devcontainer", doc["build"]["dockerfile"].endswith("Dockerfile.ci.cuda") and
               ("hostRequirements" in doc) == cuda == ("--gpus" in doc["runArgs"]), text)
    path.write_text(path.read_text().replace("healthcheck:", "health-check:"))
    expect("the schema sees a broken compose file",
           run(tools / "check-jsonschema", "--builtin-schema", "vendor.compose-spec", path).returncode != 0)


class Index(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def check_captured(folder):
    """pip gets what a capture pins, +cu128 from the address of that build."""
    spec = {"schema": 1, "name": "captured", "captured": True, "torch": "2.8.0+cu128",
            "packages": {"torchvision": "0.23.0+cu128", "numpy": "2.3.3", "python-apt": "2.4.0+ubuntu1"}}
    (folder / "captured.json").write_text(json.dumps(spec))
    for place, name, version in (("simple", "numpy", "2.3.3"), ("simple", "torch", "2.8.0"), ("simple", "torchvision", "0.23.0"),
                                 ("whl/cu128", "torch", "2.8.0+cu128"), ("whl/cu128", "torchvision", "0.23.0+cu128")):
        (folder / place / name).mkdir(parents=True)
        wheel(folder / place / name, name, version)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), lambda *a: Index(*a, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    here = f"http://127.0.0.1:{server.server_address[1]}"
    text = render(folder / "captured.json", "requirements").replace("https://download.pytorch.org", here)
    (folder / "requirements.txt").write_text(text)
    pip = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--no-deps", "--no-cache-dir",
           "--disable-pip-version-check", "--index-url", f"{here}/simple", "-r", folder / "requirements.txt"]
    r = run(*pip)
    would = "Would install numpy-2.3.3 torch-2.8.0+cu128 torchvision-0.23.0+cu128"
    expect("pip installs what a capture pins", r.returncode == 0 and would in r.stdout, said(r))
    (folder / "requirements.txt").write_text(text.replace("--extra-index-url", "#"))
    expect("and not without the address", run(*pip).returncode != 0)
    server.shutdown()
    whole = run(lockstep, "spec", "capture", "--python", sys.executable)
    (folder / "whole.json").write_text(whole.stdout)
    lines = [x for x in render(folder / "whole.json", "requirements").splitlines() if x[0] not in "#-"]
    expect("every line of a real capture is a requirement", len(lines) > 50 and all(Requirement(x) for x in lines))


def check_hashes(folder):
    """pip's own answer becomes a lock that pip accepts, and that a changed wheel breaks.
    """
    (folder / "pin.json").write_text(json.dumps({"schema": 1, "name": "pin", "packages": {"top": "1.x"}}))
    for name, version, needs in (("top", "1.2", ("below<3",)), ("below", "2.9", ()), ("below", "3.0", ())):
        (folder / "simple" / name).mkdir(parents=True, exist_ok=True)
        wheel(folder / "simple" / name, name, version, needs)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), lambda *a: Index(*a, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    env = {k: v for k, v in os.environ.items() if not k.startswith("PIP_")}
    env.update(PIP_INDEX_URL=f"http://127.0.0.1:{server.server_address[1]}/simple", PIP_NO_CACHE_DIR="1", PIP_CONFIG_FILE=os.devnull)
    argv = [lockstep, "spec", "render", folder / "pin.json", "--requirements", "--hashes", "--python", sys.executable]
    r = run(*argv, "-o", folder / "lock.txt", env=env)
    text = (folder / "lock.txt").read_text() if r.returncode == 0 else ""
    names = re.findall(r"^(\S+) \\\n    --hash=sha256:[0-9a-f]{64}$", text, re.M)
    expect("pip is asked for a lock of all that is needed", names == ["top==1.2", "below==2.9"], said(r) + text)
    pip = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--require-hashes",
           "--disable-pip-version-check", "-r", folder / "lock.txt"]
    r = run(*pip, env=env)
    expect("pip accepts it", r.returncode == 0 and "Would install below-2.9 top-1.2" in r.stdout, said(r))
    wheel(folder / "simple/below", "below", "2.9", ("top",))
    r = run(*pip, env=env)
    expect("and refuses another file", r.returncode != 0 and "DO NOT MATCH THE HASHES" in r.stderr, said(r))
    server.shutdown()
    server.server_close()
    r = run(*argv, "-o", folder / "none.txt", env=env)
    expect("without the index it says what it needs", r.returncode == 3 and "needs a network" in r.stderr and "--lock" in r.stderr and
           not (folder / "none.txt").exists(), said(r))


def check_makefile(folder):
    (folder / "pin.json").write_text((root / "specs/kaggle-2025-09.json").read_text())
    (folder / "Makefile").write_text(render("pin.json", "makefile", cwd=folder))
    for target in ("parity.files", "spec.check", "cuda.parity", "image.build", "image.push"):
        r = run("make", "-n", target, cwd=folder)
        expect(f"make -n {target}", r.returncode == 0 and r.stdout, said(r))
    r = run("make", f"LOCKSTEP={lockstep}", "parity.files", cwd=folder)
    made = ["requirements.txt", "bin/kaggle-boot.sh", ".github/workflows/cuda-parity.yml", "Dockerfile.ci.cuda"]
    expect("make parity.files", r.returncode == 0 and all((folder / f).stat().st_size for f in made), said(r))
    r = run("make", f"LOCKSTEP={lockstep}", "parity.files", cwd=folder)
    expect("make again does nothing", "spec render" not in r.stdout, said(r))
    on_demand = ["docker-compose.yml", "environment.yml", ".devcontainer/devcontainer.json"]
    expect("what not everybody wants is not made", not any((folder / f).exists() for f in on_demand))
    r = run("make", f"LOCKSTEP={lockstep}", *on_demand, cwd=folder)
    expect("but on demand", r.returncode == 0 and all((folder / f).stat().st_size for f in on_demand), said(r))
    check_one_edit(folder)


def check_one_edit(folder):
    """An edit of the spec changes every file, the image's tag and the Makefile itself."""
    old, new = "ci-cuda:kaggle-2025-09", "ci-cuda:second"
    text = (folder / "pin.json").read_text()
    expect("the spec has both", "1.26.4" in text and old in text)
    (folder / "pin.json").write_text(text.replace("1.26.4", "1.26.3").replace(old, new))
    os.utime(folder / "pin.json", (2e9, 2e9))
    r = run("make", f"LOCKSTEP={lockstep}", "SPEC=other.json", "-n", "image.push", cwd=folder)
    expect("the image's tag follows the edit at once", f"{new} --push" in r.stdout and old not in r.stdout, said(r))
    expect("and the Makefile", f"IMAGE ?= ghcr.io/your-org/{new}\n" in (folder / "Makefile").read_text())
    run("make", f"LOCKSTEP={lockstep}", "parity.files", cwd=folder)
    for f in ("requirements.txt", "bin/kaggle-boot.sh", "Dockerfile.ci.cuda", "environment.yml"):
        t = (folder / f).read_text()
        expect(f"{f} follows the bump", "1.26.3" in t and "1.26.4" not in t)
    t = (folder / ".github/workflows/cuda-parity.yml").read_text()
    expect("the workflow follows the tag", new in t and old not in t)
    t = (folder / "docker-compose.yml").read_text()
    expect("so does what was made on demand", new in t and old not in t)
    text = (folder / "pin.json").read_text()
    (folder / "pin.json").write_text(text.replace("2.3.1+cu121", "2.3.1 +cu121"))
    os.utime(folder / "pin.json", (2.1e9, 2.1e9))
    r = run("make", f"LOCKSTEP={lockstep}", "image.push", cwd=folder)
    expect("a broken spec builds nothing", r.returncode == 2 and "docker" not in r.stdout, said(r))


bad_specs = ['{"schema": 1}', '{"name": "t"}', '{"schema": 2, "name": "t"}', '{"schema": 1, "name": "a b"}',
             '{"schema": 1, "name": "t", "torhc": "1"}', '{"schema": 1, "name": "t", "torch": 1}',
             '{"schema": 1, "name": "t", "torch": []}', '{"schema": 1, "name": "t", "torch": {"level": "required"}}',
             '{"schema": 1, "name": "t", "torch": {"match": "1", "level": "must"}}',
             '{"schema": 1, "name": "t", "torch": "$(reboot)"}', '{"schema": 1, "name": "t", "gpus": {}}',
             '{"schema": 1, "name": "t", "gpus": {"count": 0}}', '{"schema": 1, "name": "t", "image": "a b"}',
             '{"schema": 1, "name": "t", "image": {"digest": "sha256:1"}}', '{"schema": 1, "name": "t", "date": "now"}',
             '{"schema": 1, "name": "t", "packages": {"a b": "1"}}', '{"schema": 1, "name": "t", "env": {"A-B": "1"}}',
             '{"schema": 1, "name": "t", "hardware": {"minimum": {"vram": "much"}}}',
             '{"schema": 1, "name": "t", "ci": {"schedule": "1 2"}}', '{"schema": 1, "name": "t", "env": {"A": "1\\nRUN x"}}',
             '{"schema": 1, "name": "t", "gpus": ["a\\tb"]}', '[]']


def check_schema(folder):
    schema = root / "docs/schema/spec.schema.json"
    captured = folder / "captured.json"
    captured.write_text(run(lockstep, "spec", "capture").stdout)
    shown = folder / "shown.json"
    shown.write_text(re.search(r'```json\n(\{\n  "schema": 1.*?)```', (root / "docs/FORMATS.md").read_text(), re.S)[1])
    r = run(lockstep, "spec", "check", "--today", "2026-11-15", shown)
    expect("the example of FORMATS.md is sound", r.returncode == 0, said(r))
    good = [*(root / "specs").glob("*.json"), *(root / "tests/spec").glob("*.json"), captured, shown]
    r = run(tools / "check-jsonschema", "--schemafile", schema, *good)
    expect("specs fit the schema", r.returncode == 0, said(r))
    files = []
    for i, text in enumerate(bad_specs):
        files.append(folder / f"bad{i}.json")
        files[-1].write_text(text)
        expect(f"lockstep refuses {text}", run(lockstep, "spec", "check", files[-1]).returncode == 2)
    r = run(tools / "check-jsonschema", "--schemafile", schema, "-o", "json", *files)
    refused = {pathlib.Path(e["filename"]).name for e in json.loads(r.stdout)["errors"]}
    expect("the schema refuses the same", refused == {f.name for f in files}, str({f.name for f in files} - refused))


def main():
    workflow = YAML(typ="safe").load(render("kaggle-2025-09", "github"))
    with tempfile.TemporaryDirectory() as name:
        for check in (check_dockerfiles, check_workflows, check_containers, check_round_trip, check_requirements, check_captured, check_hashes, check_makefile, check_schema,
                      lambda f: check_gate(f, workflow), lambda f: check_drift(f, workflow)):
            folder = pathlib.Path(tempfile.mkdtemp(dir=name))
            check(folder)
    print("\n".join(faults))
    print(f"{done} expectations, {len(faults)} not met")
    return bool(faults) or done < 100


sys.exit(main())
