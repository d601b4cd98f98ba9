"""`lockstep.run_manifest`: a program that records itself, in the file that `lockstep run`
writes (docs/schema/manifest.schema.json), so that `lockstep manifest diff` explains what
two runs had different.
"""
import ctypes
import datetime
import hashlib
import json
import os
import sys
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Sequence, Union

from lockstep import _enforce, _judge, _library, _switches

Path = Union[str, "os.PathLike[str]"]
NAME = "run_manifest.json"


class _Recording(ctypes.Structure):
    """struct ls_recording"""
    _fields_ = [("command", ctypes.c_void_p), ("environment", ctypes.c_void_p), ("inputs", ctypes.c_void_p),
                ("python", ctypes.c_char_p), ("out", ctypes.c_char_p), ("level", ctypes.c_int), ("seed", ctypes.c_uint64),
                ("precision", ctypes.c_char_p)]


def _now() -> str:
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def _policy() -> Dict[str, Any]:
    """What holds in this process: the policy of `lockstep run`, or of enforce."""
    hook = sys.modules.get("lockstep_hook")
    if hook is not None:
        return dict(hook.POLICY)
    last = _enforce.last()
    return {"level": last.level, "seed": last.seed, "precision": last.precision} if last else {}


def write_json(path: str, document: Any) -> None:
    """Whole or not at all: to another name, synced, then renamed."""
    partial = "%s.%d.tmp" % (path, os.getpid())
    with open(partial, "w", encoding="utf-8") as f:
        json.dump(document, f, indent=2, ensure_ascii=False)
        f.write("\n")
        f.flush()
        os.fsync(f.fileno())
    os.replace(partial, path)


def _stamp(path: str) -> Any:
    info = os.lstat(path)
    return info.st_size, info.st_mtime_ns, info.st_ino


def _files(folder: str) -> List[str]:
    found = []
    for place, _, names in os.walk(folder):
        found += [os.path.relpath(os.path.join(place, n), folder) for n in names]
    return sorted(n for n in found if n != NAME and not n.endswith(".tmp"))


def _output(folder: str, name: str) -> Dict[str, Any]:
    path = os.path.join(folder, name)
    if os.path.islink(path):
        return {"path": name, "link": os.readlink(path)}
    hashed, size = hashlib.sha256(), 0
    with open(path, "rb") as f:
        for block in iter(lambda: f.read(1 << 20), b""):
            hashed.update(block)
            size += len(block)
    return {"path": name, "bytes": size, "sha256": hashed.hexdigest()}


def _torch_account() -> Dict[str, Any]:
    torch = sys.modules.get("torch")
    if torch is None:
        return {}
    now = _switches.read_torch(torch)
    names = {"cudnn_deterministic": "torch.backends.cudnn.deterministic", "cudnn_benchmark": "torch.backends.cudnn.benchmark",
             "deterministic_algorithms": "torch.deterministic_algorithms", "cudnn_allow_tf32": "torch.backends.cudnn.allow_tf32",
             "matmul_allow_tf32": "torch.backends.cuda.matmul.allow_tf32",
             "float32_matmul_precision": "torch.float32_matmul_precision"}
    return {"determinism": {short: now.get(name) for short, name in names.items()}, "seeds": {"torch": torch.initial_seed()}}


def _versions() -> Dict[str, Any]:
    found: Dict[str, Any] = {}
    for name in ("torch", "numpy", "jax", "tensorflow"):
        if name in sys.modules:
            version = getattr(sys.modules[name], "__version__", None)
            found[name] = None if version is None else str(version)
    return found


@dataclass
class RunManifest:
    """A manifest as it was written, or read; `json` is the document."""

    json: Dict[str, Any]
    path: Optional[str] = None  # of the file; None: it was not written

    def __post_init__(self) -> None:
        self._before: Dict[str, Any] = {}

    def note_files(self) -> None:
        """Files that are there now are no outputs unless they change."""
        folder = str(self.json["out"])
        if self.path is not None:
            self._before = {name: _stamp(os.path.join(folder, name)) for name in _files(folder)}

    def finish(self, status: int = 0) -> "RunManifest":
        """The run has ended: adds the time, the status, PyTorch's switches as they read
        now, and every new or changed file of the folder with its SHA-256."""
        folder = str(self.json["out"])
        outputs = []
        for name in _files(folder) if self.path is not None else ():
            if self._before.get(name) != _stamp(os.path.join(folder, name)):
                outputs.append(_output(folder, name))
        self.json.update({"state": "finished", "ended": _now(), "outputs": outputs, "modules": _versions(),
                          "result": {"status": status, "signal": None, "signal_name": None}}, **_torch_account())
        if self.path is not None:
            write_json(self.path, self.json)
        return self


def run_manifest(out: Optional[Path] = None, *, inputs: Sequence[Path] = (), command: Optional[Sequence[str]] = None,
                 level: Optional[int] = None, seed: Optional[int] = None, precision: Optional[str] = None) -> RunManifest:
    """Records this program: command, git, machine, packages, environment, the files and
    folders of `inputs` with their digests. With `out`, writes OUT/run_manifest.json, in the
    state "running" until finish() is called. level, seed and precision are those of the
    last enforce, or of `lockstep run`, unless they are given; without either the level is
    0: nothing was enforced."""
    policy = _policy()
    words = list(command) if command is not None else _enforce.command_words() or [sys.executable or "python", *sys.argv]
    keep = [_library.strings(words), _library.strings(_judge.environment_words()), _library.strings([os.fspath(p) for p in inputs])]
    chosen = (precision or policy.get("precision", "fp32")).encode()
    recording = _Recording(*[ctypes.cast(k, ctypes.c_void_p) for k in keep], os.fsencode(sys.executable) if sys.executable else None,
                           None if out is None else os.fsencode(out), policy.get("level", 0) if level is None else level,
                           policy.get("seed", 0) if seed is None else seed, chosen)
    document = json.loads(_library.call_text("ls_manifest_record", ctypes.byref(recording)))
    manifest = RunManifest(document, None if out is None else os.path.join(document["out"], NAME))
    manifest.note_files()
    return manifest


def read_manifest(path: Path) -> RunManifest:
    """A manifest, or a folder that holds one, checked."""
    file = os.path.join(os.fspath(path), NAME) if os.path.isdir(path) else os.fspath(path)
    return RunManifest(json.loads(_library.call_text("ls_manifest_read", os.fsencode(path))), os.path.abspath(file))
