"""tests/render/boot.py LOCKSTEP: the rendered bootstrap script, run under real Pythons.

Without lockstep on PATH it judges by itself: its ranges are held against lockstep's over
a table, made-up machines drift by one digit in each component, and the packages of
tools/venv are judged by both. `%run` is IPython's own. No network is used.
"""
import itertools
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile

lockstep = pathlib.Path(sys.argv[1]).resolve()
# the Python below the venv: few packages, quickly started
python = pathlib.Path(sys.executable).resolve()
faults, done = [], 0


def expect(what, condition, detail=""):
    global done
    done += 1
    if not condition:
        faults.append(f"{what}\n{detail}".rstrip())


def run(*argv, env=None, cwd=None):
    return subprocess.run([str(a) for a in argv], capture_output=True, text=True, env=env, cwd=cwd)


def said(r):
    return f"status {r.returncode}\n{r.stdout}{r.stderr}"


def put(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def dist(site, name, version):
    put(site / f"{name}-{version}.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")


def boot_script(folder, spec):
    put(folder / "pin.json", json.dumps({"schema": 1, "name": "pin", **spec}))
    r = run(lockstep, "spec", "render", folder / "pin.json", "--kaggle-boot")
    expect("it renders", r.returncode == 0, said(r))
    put(folder / "boot.sh", r.stdout)
    return folder / "boot.sh"


def without_lockstep(folder, **variables):
    return {"PATH": f"{folder / 'bin'}:{python.parent}:/usr/bin:/bin", "LOCKSTEP": "no-such-program",
            "PYTHONPATH": str(folder / "site"), "PYTHONDONTWRITEBYTECODE": "1", **variables}


def outcomes(r):
    try:
        return {f["id"]: f["outcome"] for f in json.loads(r.stdout)["findings"]}
    except (ValueError, KeyError):
        return {"unreadable": said(r)}


# --- ranges: the script's answers are lockstep's ---

RANGES = ["2.3.1", "2.3.1+cu121", "2.3.0", "2.3", "2", "==2.3.1", "!=2.3.1", "!=2.3.1+cu121", ">=2.3.1", ">2.3.1", "<2.3.1",
          "<=2.3.1", ">=2.3,<3", ">2.2,!=2.3.1,<=2.4", "~=2.3.1", "~=2.3", "2.3*", "2.3.*", "2.x", "2.3.x", "12.1*", "*",
          ">=2.3.1rc1", "<2.3.1.post1", ">=2.3.1.dev5", "2.3.1rc1", "==2.3.1.post1", "v2.3.1", ["1.0", ">=2.3.1"],
          ["<2", "2.3.1+cpu"], ">=18446744073709551600", "2.3.1_1", "0.0.0.0.0.0.0.1"]
VERSIONS = ["2.3.1", "2.3.1+cu121", "2.3.1+cu118", "2.3.1+cpu", "2.3.0", "2.3", "2.3.2", "2.3.10", "2.30.1", "2.4", "2.4.0", "3",
            "2.2.99", "1.0", "12.1", "12.10", "2.3.1rc1", "2.3.1a2", "2.3.1b1", "2.3.1.dev1", "2.3.1.dev9", "2.3.1.post1",
            "2.3.1.post1.dev2", "2.3.1-rc1", "2.3.1RC1", "2.3.1alpha", "v2.3.1", "2.3.1.0", "2.3.1_1", "2.3.1.x", "latest",
            "2.3.1+", "2.3.1 ", "18446744073709551615", "18446744073709551608", "99999999999999999999",
            "1.2.3.4.5.6.7.8", "1.2.3.4.5.6.7.8.9", "0.0.0.0.0.0.0.1"]


def check_ranges(folder):
    packages = {}
    for (i, want), (j, have) in itertools.product(enumerate(RANGES), enumerate(VERSIONS)):
        packages[f"p{i}-{j}"] = want
        put(folder / f"site/p{i}_{j}-{j}.dist-info/METADATA", f"Metadata-Version: 2.1\nName: p{i}-{j}\nVersion: {have}\n")
    script = boot_script(folder, {"packages": packages})
    boot = outcomes(run(python, script, "--json", env=without_lockstep(folder)))
    # lockstep looks at a Python whose one site folder is that one
    put(folder / "venv/pyvenv.cfg", f"home = {python.parent}\nversion = {platform.python_version()}\n")
    (folder / "venv/bin").mkdir()
    (folder / "venv/bin/python").symlink_to(python)
    lib = folder / "venv/lib" / f"python3.{sys.version_info.minor}"
    lib.mkdir(parents=True)
    (lib / "site-packages").symlink_to(folder / "site")
    doctor = outcomes(run(lockstep, "doctor", "--spec", folder / "pin.json", "--python", folder / "venv/bin/python", "--json"))
    differ = [f"{RANGES[i]} {VERSIONS[j]}: lockstep {doctor.get(k)}, script {boot.get(k)}" for i in range(len(RANGES))
              for j in range(len(VERSIONS)) for k in [f"package.p{i}-{j}"] if k not in doctor or doctor.get(k) != boot.get(k)]
    expect("every range is judged as lockstep judges it", not differ, "\n".join(differ[:20]) + f"\n{len(differ)} differ")
    seen = [doctor.get(f"package.p{i}-{j}") for i in range(len(RANGES)) for j in range(len(VERSIONS))]
    expect("the table has all three answers", {"match", "mismatch", "unknown"} == set(seen), str(set(seen)))


def check_cudnn(folder):
    """Encoded numbers, and four parts against three."""
    for want, code, status in (("8.9.5", 8905, 0), ("8.9.5", 8906, 1), ("8.x", 8905, 0), ("8.x", 90100, 1), ("9.x", 90100, 0),
                               ("9.1.0", 90100, 0), ("9.1.0.70", 90100, 0), ("9.1.1.70", 90100, 1), (">=9.1", 90000, 1),
                               ("91900", 91900, 0), ("91900", 91901, 1)):
        machine(folder, cudnn=code)
        script = boot_script(folder, {"cudnn": want, "torch": "2.3.1+cu121"})
        r = run(python, script, env=without_lockstep(folder))
        expect(f"cudnn {want}, found {code}", r.returncode == status, said(r))


# --- machines that drift ---

TORCH_INIT = """
class backends:
    class cudnn:
        @staticmethod
        def version():
            {cudnn}
class cuda:
    class nccl:
        version = staticmethod(lambda: (2, 20, 5))
    is_initialized = staticmethod(lambda: False)
    device_count = staticmethod(lambda: {visible})
class version:
    cuda = {imported_cuda!r}
__version__ = {imported!r}
"""

SMI = """#!/bin/sh
case $* in
*query-gpu*) printf '15360, 7.5\\n15360, {cc}\\n' ;;
*) echo '| NVIDIA-SMI {driver}   Driver Version: {driver}   CUDA Version: {driver_cuda}  |' ;;
esac
"""

PIN = {"python": platform.python_version(), "torch": "2.3.1+cu121", "torch_cuda": "12.1", "cudnn": "8.9.5", "nccl": "2.20.5",
       "driver": "535.161.08", "driver_cuda": "12.2", "packages": {"numpy": "1.26.4", "pandas": ">=2.2,<3", "scipy": "~=1.13.0",
       "torchvision": "0.18.1+cu121"}, "hardware": {"minimum": {"vram": "15 GB", "capability": "7.5", "gpu_count": 2}}}


def machine(folder, torch="2.3.1+cu121", cuda="12.1", cudnn=8905, imported=None, imported_cuda=None, numpy="1.26.4",
            pandas="2.2.2", scipy="1.13.1", torchvision="0.18.1+cu121", driver="535.161.08", driver_cuda="12.2", cc="7.5",
            visible=2, twice=None):
    run("rm", "-rf", folder / "site", folder / "bin")
    site = folder / "site"
    put(site / "torch/version.py", "from typing import Optional\n__all__ = ['cuda']\n"
        f"__version__ = '{torch}'\ncuda: Optional[str] = {cuda!r}\n")
    put(site / "torch/__init__.py", TORCH_INIT.format(cudnn=cudnn if isinstance(cudnn, str) else f"return {cudnn}", visible=visible,
                                                      imported=imported or torch, imported_cuda=imported_cuda or cuda))
    put(site / "torchvision/version.py", f"__version__ = '{torchvision}'\n")
    for name, version in (("torch", torch.split("+")[0]), ("torchvision", torchvision.split("+")[0]), ("numpy", numpy),
                          ("pandas", pandas), ("scipy", scipy)):
        dist(site, name, version)
    if twice:
        dist(site, "numpy", twice)
    if driver:
        put(folder / "bin/nvidia-smi", SMI.format(driver=driver, driver_cuda=driver_cuda, cc=cc))
        (folder / "bin/nvidia-smi").chmod(0o755)


def judged(folder, script, **variables):
    r = run(python, script, "--json", env=without_lockstep(folder, **variables))
    return r, {k: v for k, v in outcomes(r).items() if v != "match"}


def check_drift(folder):
    script = boot_script(folder, PIN)
    machine(folder)
    r, wrong = judged(folder, script)
    expect("the machine of the pin is a match", r.returncode == 0 and not wrong, said(r))
    for key, change in {"torch": {"torch": "2.3.2+cu121"}, "torch ": {"torch": "2.3.1+cu118"}, "torch  ": {"torch": "2.3.1"},
                        "torch_cuda": {"cuda": "12.2"}, "cudnn": {"cudnn": 8906}, "driver": {"driver": "535.161.07"},
                        "driver_cuda": {"driver_cuda": "12.3"}, "package.numpy": {"numpy": "1.26.5"},
                        "package.pandas": {"pandas": "3.0.0"}, "package.scipy": {"scipy": "1.14.0"},
                        "package.torchvision": {"torchvision": "0.18.1+cu118"}, "capability": {"cc": "7.4"}}.items():
        machine(folder, **change)
        r, wrong = judged(folder, script)
        expect(f"drift {change}", r.returncode == 1 and wrong == {key.strip(): "mismatch"}, said(r))
    machine(folder)
    for key, value in (("python", "3.2.1"), ("nccl", "2.20.6"), ("hardware", {"minimum": {"gpu_count": 3}})):
        r, wrong = judged(folder, boot_script(folder, {**PIN, key: value}))
        expect(f"drift of {key}", r.returncode == 1 and list(wrong.values()) == ["mismatch"], said(r))


def check_unknown(folder):
    """What it cannot judge is status 3, and a torch that fails is a mismatch."""
    script = boot_script(folder, PIN)
    for what, change, status, key, outcome, variables in (
            ("no driver", {"driver": None}, 3, "driver", "unknown", {}),
            ("numpy twice in a folder", {"twice": "1.26.5"}, 3, "package.numpy", "unknown", {}),
            ("an import says another torch", {"imported": "2.4.0"}, 3, "torch", "unknown", {}),
            ("an import says another CUDA", {"imported_cuda": "12.4"}, 3, "torch_cuda", "unknown", {}),
            ("no cuDNN is loaded", {"cudnn": "return None"}, 3, "cudnn", "unknown", {}),
            ("torch refuses its cuDNN", {"cudnn": "raise RuntimeError('incompatible')"}, 1, "import torch", "mismatch", {}),
            ("some GPUs are hidden", {}, 3, "vram", "unknown", {"CUDA_VISIBLE_DEVICES": "0,1"}),
            ("all GPUs are hidden", {"visible": 0}, 3, "gpu_count", "unknown", {"CUDA_VISIBLE_DEVICES": ""})):
        machine(folder, **change)
        r, wrong = judged(folder, script, **variables)
        expect(what, r.returncode == status and wrong.get(key) == outcome, said(r))
    machine(folder)
    for key, value in (("kernel", "5.15"), ("gpus", "Tesla T4"), ("container_toolkit", "*"), ("nvcc", "12.1")):
        r, wrong = judged(folder, boot_script(folder, {**PIN, key: value}))
        expect(f"only lockstep can judge {key}", r.returncode == 3 and wrong == {key: "unknown"}, said(r))
    r, wrong = judged(folder, boot_script(folder, {**PIN, "absent": ["package.numpy", "env.LD_PRELOAD"]}))
    expect("absent", r.returncode == 1 and wrong == {"package.numpy": "mismatch"}, said(r))
    r, wrong = judged(folder, boot_script(folder, {"name": "pin", "torch": "2.3.1+cpu", "python": ">=3.8"}))
    expect("a CPU build is asked for", r.returncode == 1 and "driver" not in wrong, said(r))
    machine(folder, torch="2.3.1+cpu", cuda=None, driver=None)
    r, wrong = judged(folder, folder / "boot.sh")
    expect("a machine without CUDA, where none is asked for", r.returncode == 0 and not wrong, said(r))
    r, wrong = judged(folder, boot_script(folder, PIN))
    expect("and where it is", r.returncode == 1 and wrong["torch_cuda"] == "mismatch", said(r))


# --- as a program, and in a notebook ---

VARIABLES = {"PYTHONHASHSEED": "7", "CUBLAS_WORKSPACE_CONFIG": ":4096:8", "X_QUOTED": "a 'b' \"c\" \\d ü"}


def check_program(folder):
    recommended = {n: {"match": v, "level": "recommended"} for n, v in VARIABLES.items()}
    machine(folder)
    script = boot_script(folder, {**PIN, "env": VARIABLES})
    first = script.read_text().splitlines()[:2]
    put(folder / "head.sh", "\n".join(first) + "\n")
    r = run("shellcheck", "-S", "warning", folder / "head.sh")
    expect("what bash reads of it is sound", r.returncode == 0, said(r))
    r = run("bash", script, env=without_lockstep(folder))
    expect("bash runs it; variables that are not set are told", r.returncode == 1 and
           r.stdout.count("MISMATCH") == 3 and r.stdout.startswith("mismatch with pin"), said(r))
    r = run("bash", script, env=without_lockstep(folder, **VARIABLES))
    expect("and with them set", r.returncode == 0 and r.stdout.startswith("match with pin"), said(r))
    r = run("bash", script, "--print-env", env=without_lockstep(folder))
    expect("--print-env", r.stdout.splitlines() == [f"{n}={v}" for n, v in VARIABLES.items()], said(r))
    expect("unknown option", run("bash", script, "--what", env=without_lockstep(folder)).returncode == 2)
    r = run("bash", boot_script(folder, {**PIN, "env": recommended}), env=without_lockstep(folder))
    expect("recommended ones do not decide", r.returncode == 0, said(r))
    env = {**without_lockstep(folder), "LOCKSTEP": str(lockstep)}
    r = run("bash", script, env=env)
    expect("lockstep is asked where it is", r.returncode in (1, 3) and "without lockstep" not in r.stdout and "pin" in r.stdout, said(r))
    (folder / "pin.json").rename(folder / "gone.json")
    r = run("bash", script, env={**env, **VARIABLES})
    expect("but not about a spec that is not there", r.returncode == 0 and "without lockstep" in r.stdout, said(r))


NOTEBOOK = """
import json, os, sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
before = set(shell.user_ns)
shell.run_line_magic("run", sys.argv[1])
left = sorted(n for n in set(shell.user_ns) - before if not n.startswith("_"))
print("\\n" + json.dumps({"left": left, "parity": shell.user_ns.get("parity"), "env": dict(os.environ)}))
"""


def check_notebook(folder):
    """%run sets the variables of the notebook itself and leaves nothing but `parity`."""
    recommended = {n: {"match": v, "level": "recommended"} for n, v in VARIABLES.items()}
    machine(folder)
    for what, spec, change, parity in (("match", {"env": recommended}, {}, 0), ("mismatch", {"env": recommended}, {"cudnn": 8906}, 1),
                                       ("a hash seed that comes too late", {"env": VARIABLES}, {}, 3)):
        script = boot_script(folder, {**PIN, **spec})
        machine(folder, **change)
        r = run(sys.executable, "-c", NOTEBOOK, script, env=without_lockstep(folder, IPYTHONDIR=str(folder / "ipython")))
        try:
            end = json.loads(r.stdout.splitlines()[-1])
        except (ValueError, IndexError):
            end = {"env": {}}
        expect(f"%run, {what}", end.get("parity") == parity, said(r))
        expect(f"%run, {what}: the variables are the notebook's", all(end["env"].get(n) == v for n, v in VARIABLES.items()), said(r))
        expect(f"%run, {what}: nothing else stays", end.get("left") == ["parity"], str(end.get("left")))


def check_real(folder):
    """tools/venv with its torch from PyPI, captured: the script never contradicts
    doctor."""
    env = {**os.environ, "LOCKSTEP": "no-such-program"}
    r = run(lockstep, "spec", "capture", "--python", sys.executable)
    spec = json.loads(r.stdout)
    script = boot_script(folder, spec)
    boot = outcomes(run(sys.executable, script, "--json", env=env))
    doctor = outcomes(run(lockstep, "doctor", "--spec", folder / "pin.json", "--python", sys.executable, "--json"))
    differ = {k: (doctor.get(k), v) for k, v in boot.items() if k in doctor and v not in ("unknown", doctor[k])}
    expect("a real environment is judged as doctor judges it", len(boot) > 50 and not differ, str(differ or boot))
    unknown = {k for k, v in boot.items() if v == "unknown" and doctor.get(k) == "match"}
    expect("and what it leaves open is what needs lockstep", unknown <= {"os", "kernel", "cpu", "nvcc", "container_toolkit", "gpus"}, str(unknown))


def main():
    with tempfile.TemporaryDirectory() as name:
        for check in (check_ranges, check_cudnn, check_drift, check_unknown, check_program, check_notebook, check_real):
            check(pathlib.Path(tempfile.mkdtemp(dir=name)))
    print("\n".join(faults))
    print(f"{done} expectations, {len(faults)} not met")
    return bool(faults) or done < 60


sys.exit(main())
