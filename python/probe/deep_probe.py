"""Run by `lockstep doctor --deep` in the interpreter that is looked at: one JSON object
on the last line of stdout.

Standard library only. Every answer is either a value or absent; what went wrong is under
"errors". The argument is a comma-separated list of distributions.
"""
import json
import platform
import re
import sys

out = {"python": platform.python_version(), "executable": sys.executable, "prefix": sys.prefix, "packages": {}, "errors": {}}


def attempt(name, question):
    try:
        out[name] = question()
    except BaseException as e:  # a broken CUDA set-up raises anything, SystemExit included
        out["errors"][name] = f"{type(e).__name__}: {e}"[:500]


def versions():
    from importlib import metadata

    for name in filter(None, sys.argv[1].split(",")) if len(sys.argv) > 1 else ():
        try:
            out["packages"][name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            pass


def libraries():
    """The files behind the CUDA libraries that this process really has, by name."""
    found = {}
    with open("/proc/self/maps") as maps:
        for line in maps:
            m = re.search(r"(/\S*/lib(cudart|cudnn|cublas|nccl|nvrtc|cupti)(?:-[0-9a-f]{8,})?\.so\S*)", line)
            if m:
                found.setdefault(m.group(2), m.group(1))
    return found


def probe_torch():
    import torch

    out["torch_file"] = torch.__file__
    attempt("torch", lambda: str(torch.__version__))
    attempt("torch_cuda", lambda: torch.version.cuda)
    attempt("cudnn", lambda: torch.backends.cudnn.version())
    attempt("cuda_available", lambda: bool(torch.cuda.is_available()))
    attempt("arch_list", lambda: list(torch.cuda.get_arch_list()))
    if out.get("cuda_available"):
        attempt("devices", lambda: [
            {"name": torch.cuda.get_device_name(i), "capability": "%d.%d" % torch.cuda.get_device_capability(i)}
            for i in range(torch.cuda.device_count())])
        attempt("nccl", lambda: ".".join(map(str, torch.cuda.nccl.version())))


attempt("_versions", versions)
attempt("_torch", probe_torch)
attempt("libraries", libraries)
print("\n" + json.dumps({k: v for k, v in out.items() if not k.startswith("_")}))
