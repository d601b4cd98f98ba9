"""`lockstep.enforce`: a level of determinism for a program that is already running, by
the table that `lockstep run` has (src/run/policy.c, _switches.py), and read back.

A variable of the environment takes hold only if it is there before its reader looks at it:
Python at its start, CUDA when it begins, a library at its import. What came too late is
told, variable by variable, with the reason.
"""
import importlib
import importlib.util
import json
import operator
import os
import subprocess
import sys
import warnings
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, NoReturn, Optional, Tuple, Union

from lockstep import _judge, _library, _switches

LEVELS = {"record only": 0, "comparable": 1, "high": 2, "bitwise": 3}

# Variables that enforce has set before anybody could read them.
_in_time: Dict[str, Optional[str]] = {}


class NotEnforced(_library.LockstepError):
    """Something did not take hold. `enforcement` has all that did and did not."""

    def __init__(self, message: str, enforcement: "Enforcement") -> None:
        super().__init__(message, _library.EUNKNOWN)
        self.enforcement = enforcement

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (str(self), self.enforcement)


@dataclass(frozen=True)
class Enforcement:
    """What was asked for and what holds, as it was read back."""

    level: int
    seed: int
    precision: str
    held: Dict[str, Any] = field(default_factory=dict)  # setting: value
    late: Dict[str, str] = field(default_factory=dict)  # variable: why it came too late
    missed: Dict[str, str] = field(default_factory=dict)  # setting: what it reads instead
    pending: List[str] = field(default_factory=list)  # modules that are not imported yet

    @property
    def complete(self) -> bool:
        return not self.late and not self.missed

    def text(self) -> str:
        lines = ["level %d, seed %d, precision %s: %d settings hold" % (self.level, self.seed, self.precision, len(self.held))]
        lines += ["did not take hold: %s: %s" % pair for pair in self.missed.items()]
        lines += ["too late: %s: %s" % pair for pair in self.late.items()]
        if self.pending:
            lines.append("not imported yet, call enforce again after their import: " + ", ".join(self.pending))
        return "\n".join(lines)


_last: List[Enforcement] = []


# --- who reads a variable, and since when ---


def _start_environment() -> Optional[Dict[str, str]]:
    """What this process was started with; os.environ may have changed since."""
    try:
        with open("/proc/self/environ", "rb") as f:
            pairs = [p.split(b"=", 1) for p in f.read().split(b"\0") if b"=" in p]
    except OSError:
        return None
    return {os.fsdecode(k): os.fsdecode(v) for k, v in pairs}


def _open_files() -> List[str]:
    found = []
    try:
        for name in os.listdir("/proc/self/fd"):
            try:
                found.append(os.readlink("/proc/self/fd/" + name))
            except OSError:
                pass  # closed meanwhile
    except OSError:
        pass
    return found


def _cuda_started() -> Optional[str]:
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        return "torch has started CUDA"
    # NVML opens other devices; this one is for a context
    if "/dev/nvidia-uvm" in _open_files():
        return "CUDA has started in this process"
    return None


def _imported(*names: str) -> Callable[[], Optional[str]]:
    def find() -> Optional[str]:
        there = [n for n in names if n in sys.modules]
        return "%s is imported" % there[0] if there else None
    return find


def _jax_started() -> Optional[str]:
    bridge = sys.modules.get("jax._src.xla_bridge")
    return "jax has started its backend" if getattr(bridge, "_backends", None) else None


def _nccl_started() -> Optional[str]:
    distributed = sys.modules.get("torch.distributed")
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return "torch.distributed is initialized"
    return None


def _loaded(modules: Tuple[str, ...], *libraries: str) -> Callable[[], Optional[str]]:
    """Whether one of these modules is imported, or a shared library is in memory whose
    file has such a name."""
    by_module = _imported(*modules)

    def find() -> Optional[str]:
        try:
            with open("/proc/self/maps", encoding="utf-8", errors="replace") as f:
                files = {line.rsplit("/", 1)[-1].strip() for line in f if "/" in line}
        except OSError:
            return "it cannot be told which libraries are loaded here"
        there = sorted(f for f in files if any(name in f for name in libraries))
        return by_module() or ("%s is loaded" % there[0] if there else None)
    return find


# Builds of torch and tensorflow may have MKL within them. A variable that is not here
# counts as read.
_READERS: Dict[str, Callable[[], Optional[str]]] = {
    "NVIDIA_TF32_OVERRIDE": _cuda_started, "CUBLAS_WORKSPACE_CONFIG": _cuda_started,
    "CUDA_LAUNCH_BLOCKING": _cuda_started, "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE": _imported("torch"),
    "TF_DETERMINISTIC_OPS": _imported("tensorflow"), "TF_CUDNN_DETERMINISTIC": _imported("tensorflow"),
    "NVTE_ALLOW_NONDETERMINISTIC_ALGO": _imported("transformer_engine"), "NUMEXPR_NUM_THREADS": _imported("numexpr"),
    "MKL_CBWR": _loaded(("torch", "tensorflow"), "libmkl"), "MKL_NUM_THREADS": _loaded(("torch", "tensorflow"), "libmkl"),
    "OMP_NUM_THREADS": _loaded(("torch", "tensorflow"), "libgomp", "libomp", "libiomp"),
    "OPENBLAS_NUM_THREADS": _loaded((), "openblas"),
    "NCCL_ALGO": _nccl_started, "NCCL_PROTO": _nccl_started, "XLA_FLAGS": _jax_started,
}


def _hash_seed_fault(value: str) -> Optional[str]:
    """Asks another interpreter for a hash under that seed: the only way to know that this
    one has it, as options can make Python ignore the variable."""
    env = dict(os.environ, PYTHONHASHSEED=value)
    code = "import sys; sys.stdout.write(str(hash('lockstep')))"
    try:
        probe = subprocess.run([sys.executable, "-S", "-c", code], env=env, stdout=subprocess.PIPE, timeout=60, check=True)
    except (OSError, ValueError, subprocess.SubprocessError) as fault:
        return "it cannot be told whether it holds: %s" % fault
    if probe.stdout.decode() == str(hash("lockstep")):
        return None
    return "Python reads it at its start, and this one started without it"


def _set_variable(name: str, value: Optional[str]) -> None:
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = value


def _late_fault(name: str, value: Optional[str], start: Optional[Dict[str, str]]) -> Optional[str]:
    if name == "PYTHONHASHSEED":
        return _hash_seed_fault(value or "random")
    reason = _READERS[name]() if name in _READERS else "this version does not know who reads it"
    if reason is None:
        _in_time[name] = value
        return None
    if start is not None and start.get(name) == value or name in _in_time and _in_time[name] == value:
        return None
    return reason + ", which may have read %s before" % name


def _apply_environment(changes: Dict[str, Optional[str]], result: Enforcement) -> None:
    start = _start_environment()
    for name, value in changes.items():
        fault = _late_fault(name, value, start)
        _set_variable(name, value)
        if fault is None:
            result.held["environment " + name] = value
        else:
            result.late[name] = fault


# --- libraries ---


def _take(found: Dict[str, Tuple[Any, Any]], result: Enforcement) -> None:
    for setting, (wanted, now) in found.items():
        if wanted == now:
            result.held[setting] = now
        else:
            result.missed[setting] = "set to %r, reads %r" % (wanted, now)


def _seed_python(seed: int, result: Enforcement) -> None:
    import random
    random.seed(seed)
    same = random.Random(seed).getstate() == random.getstate()
    _take({"random.seed": (seed, seed if same else "another state")}, result)


def _seed_numpy(numpy: Any, seed: int, result: Enforcement) -> None:
    seed %= 2**32
    numpy.random.seed(seed)
    want, now = numpy.random.RandomState(seed).get_state(), numpy.random.get_state()
    same = want[2:] == now[2:] and (want[1] == now[1]).all()
    _take({"numpy.random.seed": (seed, seed if same else "another state")}, result)


def _apply_torch(torch: Any, policy: Dict[str, Any], result: Enforcement) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newer versions: allow_tf32 has a successor
        if policy["level"] >= 2:
            _take({"torch.manual_seed": (policy["seed"], _switches.seed_torch(torch, policy["seed"]))}, result)
        want = _switches.set_torch(torch, policy)
        now = _switches.read_torch_again(torch, want)
    _take({name: (value, now.get(name)) for name, value in want.items()}, result)
    if policy["level"] >= 2 and torch.cuda.is_initialized():
        seeds = {torch.cuda.default_generators[i].initial_seed() for i in range(torch.cuda.device_count())}
        _take({"torch.cuda.manual_seed_all": ({policy["seed"]}, seeds)}, result)


def _module(name: str, wanted: bool) -> Any:
    """The module; imported if it is wanted and installed."""
    if name not in sys.modules and wanted and importlib.util.find_spec(name) is not None:
        return importlib.import_module(name)
    return sys.modules.get(name)


def _apply_libraries(policy: Dict[str, Any], result: Enforcement) -> None:
    if policy["level"] >= 2:
        _seed_python(policy["seed"], result)
        numpy = _module("numpy", True)
        if numpy is not None:
            _seed_numpy(numpy, policy["seed"], result)
    torch = _module("torch", policy["level"] >= 1)
    if torch is not None and policy["level"] >= 1:
        _apply_torch(torch, policy, result)
    for name, put in (("jax", _switches.set_jax), ("tensorflow", _switches.set_tensorflow)):
        module = sys.modules.get(name)
        if module is not None:
            _take(put(module, policy), result)
        elif policy["level"] >= 1 and importlib.util.find_spec(name) is not None:
            result.pending.append(name)


# --- the function ---


def command_words() -> Optional[List[str]]:
    """How this interpreter was started, with its own options; None where it is not told."""
    words = getattr(sys, "orig_argv", None)  # 3.10 and newer
    if words:
        return list(words)
    try:
        with open("/proc/self/cmdline", "rb") as f:
            return [os.fsdecode(w) for w in f.read().split(b"\0")[:-1]] or None
    except OSError:
        return None


def _restart(changes: Dict[str, Optional[str]]) -> NoReturn:
    """The same program again, in this process, with the variables from its start."""
    words = command_words()
    if not words or not sys.executable:
        raise RuntimeError("enforce: it is not told how this program was started, so it cannot be started again")
    if hasattr(sys, "ps1") or "ipykernel" in sys.modules:
        raise RuntimeError("enforce: an interactive session cannot be restarted; set the variables before it starts")
    for name, value in changes.items():
        _set_variable(name, value)
    os.environ["LOCKSTEP_RESTARTED"] = "1"
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(sys.executable, [sys.executable, *words[1:]])


def _whole(name: str, value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError:
        names = ", or one of %s" % ", ".join(LEVELS) if name == "level" else ""
        raise ValueError("enforce: %s is a whole number%s, not %r" % (name, names, value)) from None


def enforce(seed: int = 1337, level: Union[int, str] = 2, *, precision: str = "fp32", warn_only: bool = False, fill: bool = True,
            late: str = "raise") -> Enforcement:
    """Makes the rest of this program deterministic at a level of `lockstep run`: 1
    "comparable" (precision is explicit), 2 "high" (seeds, deterministic algorithms), 3
    "bitwise" (one thread, blocking launches, one order of summation). numpy and PyTorch are
    imported where they are installed. Call it before anything else.

    precision: "fp32", "tf32", "bf16", "fp16". warn_only: an operation without a
    deterministic form warns and does not raise. fill: PyTorch fills memory that it hands
    out uninitialised.

    A setting that reads otherwise after it was set raises NotEnforced. So does a variable
    that came too late, unless late is "warn", or "restart": then the program is started
    again, once, with the variables in place, and what is before this call runs twice."""
    if late not in ("raise", "warn", "restart"):
        raise ValueError("enforce: late is one of raise, warn, restart, not %r" % late)
    number, seed = _whole("level", LEVELS.get(level, level) if isinstance(level, str) else level), _whole("seed", seed)
    if not 0 <= seed < 2**63:
        raise ValueError("enforce: a seed is a whole number from 0 to %d, not %d" % (2**63 - 1, seed))
    text = _library.call_text("ls_policy_describe", number, seed, precision.encode(), _library.strings(_judge.environment_words()))
    policy = dict(json.loads(text), warn_only=warn_only, fill=fill)
    result = Enforcement(number, seed, precision)
    restarted = os.environ.pop("LOCKSTEP_RESTARTED", None) is not None
    _apply_environment(policy["env"], result)
    if result.late and late == "restart" and not restarted:
        _restart(policy["env"])
    _apply_libraries(policy, result)
    _judge_result(result, late, policy)
    _last[:] = [result]
    return result


def last() -> Optional[Enforcement]:
    """Of this process, or None."""
    return _last[0] if _last else None


def _judge_result(result: Enforcement, late: str, policy: Dict[str, Any]) -> None:
    if result.missed or (result.late and late != "warn"):
        raise NotEnforced(result.text() + _advice(result, policy), result)
    if result.late:
        warnings.warn(result.text() + _advice(result, policy), RuntimeWarning, stacklevel=3)


def _advice(result: Enforcement, policy: Dict[str, Any]) -> str:
    if not result.late:
        return ""
    sets = " ".join("%s=%s" % (n, policy["env"][n]) for n in result.late if policy["env"][n] is not None)
    return ("\nStart the program with `%s` in its environment, or by `lockstep run --level %d --seed %d`, or call "
            "enforce(..., late=\"restart\")" % (sets, result.level, result.seed))
