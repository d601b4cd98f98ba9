# What follows is the same for every spec. SPEC, above, has the expectations, already cut
# into operators and versions; nothing here reads the spec's file. The judging is that of
# lockstep (src/env/spec/matcher.c, src/env/facts/version.c), which is asked instead where it
# is installed. What cannot be judged is unknown, never a match.
BEFORE = set(globals()) - {"SPEC"}

import argparse
import builtins
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import traceback

try:
    from importlib import metadata
except ImportError:  # before Python 3.8
    metadata = None

KNOWN, ABSENT, UNKNOWN = "known", "absent", "unknown"
MATCH, MISMATCH = "match", "mismatch"


# --- versions ---

PARTS, LARGEST = 8, (2**64 - 1 - 9) // 10
VERSION = re.compile(r"""[vV]?(?P<release>[0-9]+(?:\.[0-9]+)*)
    (?:[._-]?(?P<pre>alpha|beta|rc|a|b|c)(?P<pre_n>[0-9]*))?
    (?P<post>[._-]?post(?P<post_n>[0-9]*))?
    (?P<dev>[._-]?dev(?P<dev_n>[0-9]*))?
    (?:\+(?P<local>[A-Za-z0-9._-]{1,63}))?""", re.VERBOSE | re.IGNORECASE | re.ASCII)


def number(text):
    return int(text) if text else 0


def version(text):
    """Release numbers, what orders two versions, and the local part; None: not a version."""
    m = VERSION.fullmatch(text)
    if not m:
        return None
    release = m["release"].split(".")
    written = release + [m[n] for n in ("pre_n", "post_n", "dev_n") if m[n]]
    if len(release) > PARTS or any(int(n[:-1] or 0) > LARGEST for n in written):
        return None
    pre = {"a": 1, "b": 2, "r": 3, "c": 3}[m["pre"][0].lower()] if m["pre"] else 0
    stage = pre or (0 if m["dev"] and not m["post"] else 4)
    rest = (stage, number(m["pre_n"]), number(m["post_n"]) + 1 if m["post"] else 0,
            number(m["dev_n"]) if m["dev"] else 2**64)
    return [int(n) for n in release], rest, m["local"] or ""


def cudnn_text(value):
    """8905 is 8.9.5 and 91900 is 9.19.0: the factor of the major version changed with 9."""
    if re.fullmatch(r"[0-9]{4,19}", value) and int(value) >= 1000:
        code = int(value)
        major = 1000 if code < 10000 else 10000
        return "%d.%d.%d" % (code // major, code % major // 100, code % 100)
    return value


def judge_version(op, want_text, have_text, cudnn):
    want, have = version(want_text), version(have_text)
    if not want or not have:
        return (MATCH if want_text == have_text else MISMATCH) if op == "==" else UNKNOWN
    a, b = have[0], want[0]
    if cudnn:  # a wheel's cuDNN has four numbers, the library's three
        common = max(3, min(len(a), len(b)))
        a, b = a[:common], b[:common]
    a = (a + [0] * (PARTS - len(a)), have[1])
    b = (b + [0] * (PARTS - len(b)), want[1])
    order = (a > b) - (a < b)
    if not order and want[2] and op in ("==", "!=") and want[2] != have[2]:
        order = 1
    yes = {"==": order == 0, "!=": order != 0, ">=": order >= 0, ">": order > 0,
           "<=": order <= 0, "<": order < 0}[op]
    return MATCH if yes else MISMATCH


def begins(prefix, value):
    """12.1 begins 12.1.105 but not 12.10."""
    cut = prefix[-1:] in set("0123456789") and value[len(prefix):len(prefix) + 1] in set("0123456789")
    return MATCH if value.startswith(prefix) and not cut else MISMATCH


def judge_memory(op, want, value, tolerance):
    m = re.fullmatch(r"([0-9.]+) MiB", value)
    if not m:
        return UNKNOWN
    have, slack = float(m[1]), want * tolerance
    yes = {">=": have >= want - slack, ">": have >= want - slack, "<=": have <= want + slack,
           "<": have <= want + slack, "!=": abs(have - want) > slack}.get(op, abs(have - want) <= slack)
    return MATCH if yes else MISMATCH


def judge_term(check, op, want, value):
    if check["as"] == "memory":
        return judge_memory(op, want, value, check["tolerance"])
    if check["as"] == "cudnn":
        value = cudnn_text(value)
    if op == "begins":
        return begins(want, value)
    if check["as"] == "text":
        return MATCH if want == value else MISMATCH
    if check["as"] in ("version", "cudnn"):
        return judge_version(op, want, value, check["as"] == "cudnn")
    return UNKNOWN


def judge_value(check, value):
    """One of the alternatives has to hold with all of its terms."""
    best = MISMATCH
    for terms in check["any"]:
        answers = [judge_term(check, op, want, value) for op, want in terms]
        one = MISMATCH if MISMATCH in answers else UNKNOWN if UNKNOWN in answers else MATCH
        if one == MATCH:
            return MATCH
        best = UNKNOWN if one == UNKNOWN else best
    return best


# --- facts: key -> (state, value or reason) ---


def text_of(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as f:
            return f.read(1 << 16)
    except OSError:
        return ""


def output_of(*command):
    try:
        r = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                           stdin=subprocess.DEVNULL, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return r.stdout.decode(errors="replace") if r.returncode == 0 else ""


def assigned(text, name):
    """The text that a version.py assigns to name, "" for None; None: it does not say."""
    m = re.search(r"^%s\s*(?::[^=\n]*)?=\s*(?:(None)\b|(['\"])(.*?)\2)" % name, text, re.MULTILINE)
    return (m[3] or "") if m else None


def version_file(package):
    """The text of PACKAGE/version.py in the first folder that has it, without an import."""
    for folder in sys.path:
        text = text_of(os.path.join(folder or ".", package, "version.py"))
        if text:
            return text
    return ""


def python_facts(facts):
    facts["python"] = (KNOWN, platform.python_version())
    facts["arch"] = (KNOWN, platform.machine())
    libc = platform.libc_ver()
    if libc[0] == "glibc":
        facts["glibc"] = (KNOWN, libc[1])


def torch_facts(facts):
    text = version_file("torch")
    if not text:
        facts["torch"] = facts["torch_cuda"] = facts["cudnn"] = facts["nccl"] = (ABSENT, "torch is not installed")
        return
    build, cuda = assigned(text, "__version__"), assigned(text, "cuda")
    silent = (UNKNOWN, "torch/version.py does not say")
    facts["torch"] = (KNOWN, build) if build else silent
    facts["torch_cuda"] = (KNOWN, cuda) if cuda else silent if cuda is None else (ABSENT, "a build without CUDA")
    if cuda == "":
        facts["cudnn"] = facts["nccl"] = facts["torch_cuda"]


ASK_TORCH = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
import torch
said = {"torch": str(torch.__version__), "torch_cuda": torch.version.cuda,
        "cudnn": torch.backends.cudnn.version(), "gpu_count": torch.cuda.device_count()}
try:
    said["nccl"] = ".".join(map(str, torch.cuda.nccl.version()))
except Exception:
    pass
print("\\n" + json.dumps(said))
"""


def ask_torch():
    """What only an import knows, from another process: (answers or None, why not)."""
    try:
        r = subprocess.run([sys.executable, "-c", ASK_TORCH, json.dumps(sys.path)], timeout=600,
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except (OSError, subprocess.TimeoutExpired) as e:
        return None, str(e)
    if r.returncode:
        lines = r.stderr.decode(errors="replace").strip().splitlines()
        return {}, lines[-1] if lines else "it ended with status %d" % r.returncode
    try:
        return json.loads(r.stdout.decode(errors="replace").splitlines()[-1]), ""
    except (ValueError, IndexError):
        return None, "it printed no answer"


def import_facts(facts):
    """cuDNN and NCCL as torch has loaded them; and that the import says what the files say."""
    if facts["torch"][0] != KNOWN:
        return
    said, why = ask_torch()
    if said is None or not said:
        facts["import torch"] = (UNKNOWN if said is None else ABSENT, why)
        said = said or {}
    else:
        facts["import torch"] = (KNOWN, "works")
    for key in ("torch", "torch_cuda"):
        if key in said and facts[key][0] == KNOWN and said[key] != facts[key][1]:
            facts[key] = (UNKNOWN, "its file says %s, an import says %s" % (facts[key][1], said[key]))
    for key in ("cudnn", "nccl"):
        if facts.get(key, (UNKNOWN,))[0] != ABSENT:
            facts[key] = (KNOWN, cudnn_text(str(said[key]))) if said.get(key) else (UNKNOWN, why or "torch does not say")
    hidden = "CUDA_VISIBLE_DEVICES" in os.environ
    if hidden and said.get("gpu_count"):
        facts["gpu_count"] = (KNOWN, str(said["gpu_count"]))


def toolkit_facts(facts):
    home = "/usr/local/cuda" if os.path.isdir("/usr/local/cuda") else os.environ.get("CUDA_HOME", "/usr/local/cuda")
    try:
        found = json.loads(text_of(os.path.join(home, "version.json")))["cuda"]["version"]
    except (ValueError, KeyError, TypeError):
        m = re.search(r"CUDA Version ([0-9.]+)", text_of(os.path.join(home, "version.txt")))
        header = re.search(r"#define CUDA_VERSION ([0-9]{4,6})\b", text_of(os.path.join(home, "include/cuda.h")))
        code = int(header[1]) if header else 0
        found = m[1] if m else "%d.%d" % (code // 1000, code % 1000 // 10) if header else None
    facts["cuda"] = (KNOWN, found) if isinstance(found, str) else (UNKNOWN, "%s does not tell its version" % home)


def driver_facts(facts):
    kernel = text_of("/sys/module/nvidia/version").strip()
    m = re.search(r" ([0-9]+(?:\.[0-9]+)+) ", text_of("/proc/driver/nvidia/version").split("\n")[0])
    kernel = kernel or (m[1] if m else "")
    shown = output_of("nvidia-smi")
    m = re.search(r"Driver Version: ([0-9.]+)", shown)
    user = m[1] if m else ""
    if user and kernel and user != kernel:
        facts["driver"] = (UNKNOWN, "the kernel module is %s and the library %s: reboot" % (kernel, user))
    elif user or kernel:
        facts["driver"] = (KNOWN, user or kernel)
    m = re.search(r"CUDA Version: ([0-9.]+)", shown)
    if m:
        facts["driver_cuda"] = (KNOWN, m[1])


def gpu_facts(facts):
    rows = output_of("nvidia-smi", "--query-gpu=memory.total,compute_cap", "--format=csv,noheader,nounits")
    rows = [[cell.strip() for cell in row.split(",")] for row in rows.splitlines() if row.strip()]
    if "CUDA_VISIBLE_DEVICES" in os.environ:
        hidden = (UNKNOWN, "CUDA_VISIBLE_DEVICES hides some of the GPUs")
        facts["gpu_count"] = facts["vram"] = facts["capability"] = hidden
        return
    if not rows:
        return
    facts["gpu_count"] = (KNOWN, str(len(rows)))
    try:
        facts["vram"] = (KNOWN, "%d MiB" % min(int(row[0]) for row in rows))
        facts["capability"] = (KNOWN, min((row[1] for row in rows), key=lambda c: [int(n) for n in c.split(".")]))
    except (ValueError, IndexError):
        pass  # a GPU that is cut into slices does not tell


def plain(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def package_facts(facts):
    """The installed distributions; two versions in one folder are left to chance."""
    folders = {}
    for dist in metadata.distributions() if metadata else ():
        name, own, folder = dist.metadata["Name"], dist.metadata["Version"], str(dist.locate_file(""))
        if not name or not own:
            continue
        key, own = "package." + plain(name.strip()), own.strip()
        first = folders.setdefault(key, (folder, own))
        if first[0] == folder and first[1] != own:
            facts[key] = (UNKNOWN, "installed twice in one folder: %s and %s" % (first[1], own))
        elif key not in facts:
            facts[key] = (KNOWN, own)
    for name in ("torchvision", "torchaudio"):  # their files keep the build that metadata may lose
        own = assigned(version_file(name), "__version__")
        if own:
            facts["package." + name] = (KNOWN, own)


def fact(facts, key):
    if key in facts:
        return facts[key]
    if key.startswith("env."):
        value = os.environ.get(key[len("env."):])
        return (ABSENT, "not set") if value is None else (KNOWN, value)
    if key.startswith("package."):
        return (ABSENT, "not installed") if metadata else (UNKNOWN, "Python before 3.8 cannot list packages")
    if key in ("driver", "driver_cuda", "gpu_count", "vram", "capability"):
        return UNKNOWN, "neither nvidia-smi nor /proc/driver/nvidia/version tells"
    return UNKNOWN, "only lockstep can judge this"


def gather(spec):
    facts = {}
    python_facts(facts)
    torch_facts(facts)
    toolkit_facts(facts)
    driver_facts(facts)
    gpu_facts(facts)
    package_facts(facts)
    keys = {check["key"] for check in spec["checks"]}
    if spec["cuda"] or keys & {"torch", "torch_cuda", "cudnn", "nccl"}:
        import_facts(facts)
    return facts


# --- variables ---


def in_notebook():
    return hasattr(builtins, "get_ipython")


def set_variables(spec, facts):
    """In a notebook the variables become the kernel's own. Some come too late for it."""
    changed = [(n, v) for n, v in spec["variables"] if os.environ.get(n) != v]
    for name, value in changed:
        print("set %s=%s" % (name, value))
        os.environ[name] = value
    torch = sys.modules.get("torch")
    begun = bool(torch) and torch.cuda.is_initialized()
    for name, _ in changed:
        if name == "PYTHONHASHSEED":
            facts["env." + name] = (UNKNOWN, "set for programs started from here; this kernel began without it")
        elif begun:
            facts["env." + name] = (UNKNOWN, "torch was using CUDA before it was set: restart the kernel, run this first")


# --- findings ---


def finding(key, level, expected, outcome, state, value):
    found = value if state == KNOWN else "%s: %s" % (state, value)
    return {"id": key, "level": level, "expected": expected, "outcome": outcome, "found": found}


def judge_check(check, facts):
    state, value = fact(facts, check["key"])
    outcome = judge_value(check, value) if state == KNOWN else MISMATCH if state == ABSENT else UNKNOWN
    return finding(check["key"], check["level"], check["expected"], outcome, state, value)


def judge_absent(key, level, facts):
    state, value = fact(facts, key)
    outcome = {KNOWN: MISMATCH, ABSENT: MATCH, UNKNOWN: UNKNOWN}[state]
    return finding(key, level, "absent", outcome, state, value)


def demanded(spec, facts):
    """A spec about CUDA wants a GPU, its driver and a torch that works, whatever else it names."""
    keys = ["driver", "driver_cuda", "gpu_count", "torch", "torch_cuda", "cudnn"] if spec["cuda"] else []
    keys += ["import torch"] if "import torch" in facts else []
    asked = {check["key"] for check in spec["checks"] if check["level"] == "required"}
    for key in keys:
        if key not in asked:
            yield judge_any(key, facts)


def judge_any(key, facts):
    state, value = fact(facts, key)
    outcome = {KNOWN: MATCH, ABSENT: MISMATCH, UNKNOWN: UNKNOWN}[state]
    return finding(key, "required", "any", outcome, state, value)


def status_of(findings):
    outcomes = {f["outcome"] for f in findings if f["level"] == "required"}
    return 1 if MISMATCH in outcomes else 3 if UNKNOWN in outcomes or not outcomes else 0


def tell(spec, findings, status):
    count = {o: sum(f["outcome"] == o for f in findings) for o in (MATCH, MISMATCH, UNKNOWN)}
    print("%s %s: %d as expected, %d differ, %d unknown (judged without lockstep)" % (
        {0: "match with", 1: "mismatch with"}.get(status, "cannot tell here about"), spec["name"],
        count[MATCH], count[MISMATCH], count[UNKNOWN]))
    words = {MATCH: "ok", MISMATCH: "MISMATCH", UNKNOWN: "UNKNOWN"}
    for f in findings:
        level = "" if f["level"] == "required" else " (%s)" % f["level"]
        print("%-9s %-24s expected %-18s found %s%s" % (words[f["outcome"]], f["id"], f["expected"], f["found"], level))


def judge_here(spec, facts, as_json):
    late = dict(facts)
    facts.update(gather(spec))
    facts.update(late)
    findings = [judge_check(check, facts) for check in spec["checks"]]
    findings += [judge_absent(key, level, facts) for key, level in spec["absent"]]
    findings += demanded(spec, facts)
    status = status_of(findings)
    if as_json:
        print(json.dumps({"spec": spec["name"], "status": status, "findings": findings}, indent=2))
    else:
        tell(spec, findings, status)
    return status


def ask_lockstep(spec, as_json):
    """The status of `lockstep doctor`, or None where it is not there or has not the spec."""
    program = shutil.which(os.environ.get("LOCKSTEP") or "lockstep")
    if not program or (spec["file"] and not os.path.isfile(spec["ref"])):
        return None
    command = [program, "doctor", "--spec", spec["ref"], "--fail-on-mismatch", "--python", sys.executable]
    command += ["--cuda"] if spec["cuda"] else []
    command += ["--json"] if as_json else []
    r = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    print(r.stdout.decode(errors="replace"), end="")  # a notebook shows only what Python prints
    return r.returncode if r.returncode >= 0 else 4


# --- the program ---


def install(spec):
    """The packages that are not torch's. Sessions without a network have no index: attach the
    wheels as a dataset and name its folder in LOCKSTEP_WHEELS."""
    wheels = os.environ.get("LOCKSTEP_WHEELS", "/kaggle/input/wheels")
    command = [sys.executable, "-m", "pip", "install", "--quiet"]
    command += ["--no-index", "--find-links", wheels] if os.path.isdir(wheels) else spec["indexes"]
    if spec["extras"] and subprocess.run(command + spec["extras"]).returncode:
        raise RuntimeError("pip could not install the packages")


def late_status(spec, facts):
    """3 where a variable that the spec requires was set too late for this kernel."""
    levels = {check["key"]: check["level"] for check in spec["checks"]}
    late = [key for key in facts if levels.get(key) == "required"]
    for key in facts:
        print("%s: %s" % (key[len("env."):], facts[key][1]))
    return 3 if late else 0


def boot(spec, argv):
    parser = argparse.ArgumentParser(prog="kaggle-boot.sh", description="Is this the environment of %s? Exit status: 0 "
                                     "parity, 1 mismatch, 3 cannot tell here" % spec["name"].replace("%", "%%"))
    parser.add_argument("--install", action="store_true", help="first install the packages that are not torch's")
    parser.add_argument("--print-env", action="store_true", help="only print the variables, one NAME=value a line")
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    options = parser.parse_args(argv)
    if options.print_env:
        print("".join("%s=%s\n" % (n, v) for n, v in spec["variables"]), end="")
        return 0
    facts = {}
    if in_notebook():
        set_variables(spec, facts)
    if options.install:
        install(spec)
    status = ask_lockstep(spec, options.json)
    if status is None:
        return judge_here(spec, facts, options.json)
    return status or late_status(spec, facts)


def run(spec, argv):
    try:
        return boot(spec, argv)
    except SystemExit as e:  # a wrong option, or --help
        return e.code
    except Exception:
        traceback.print_exc()
        return 4


# In a notebook only `parity` stays behind: 0, 1, 3 as above.
parity = run(SPEC, sys.argv[1:])
for name in set(globals()) - BEFORE - {"parity"}:
    del globals()[name]
del name
if parity:
    raise SystemExit(parity)
