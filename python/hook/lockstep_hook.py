"""Holds a run's policy inside one Python interpreter and leaves a record of what took hold.

The record is a file of JSON lines in the run's private folder, one file an interpreter (forked children too): "start",
one "module" for each library as it is imported, "undone" for a setting that the program changes, "nondeterministic" for
an operation without a deterministic form, "exit" with everything read back. Each line is written at once, so a killed
process leaves what it had. Nothing is imported here that the interpreter has not loaded anyway: it costs milliseconds.
"""
import atexit
import os
import sys
import time

from lockstep_policy import POLICY

try:
    from _json import encode_basestring_ascii as _quote
except ImportError:
    def _quote(s):
        return '"' + "".join(c if c not in '"\\' and 31 < ord(c) < 127 else "\\u%04x" % ord(c) for c in s) + '"'

LEVEL = POLICY["level"]
SEED = POLICY["seed"]
_end = os._exit
_HOOK_DIR = os.path.dirname(os.path.abspath(__file__))
_state = {"path": None, "pid": 0, "forks": 0, "exited": False}
_readers = {}   # module name -> function that returns its settings as they are now
_wanted = {}    # setting -> value that the policy put there
_undone = {}    # setting -> what was reported, so that exit does not repeat it
at_child = []   # called in a forked child
at_exit = []    # called before the exit record


def dumps(v):
    """JSON without importing json."""
    if v is None or v is True or v is False:
        return {None: "null", True: "true", False: "false"}[v]
    if isinstance(v, str):
        return _quote(v)
    if isinstance(v, int):
        return str(int(v)) if -2**63 <= v < 2**63 else _quote(str(int(v)))  # readers have 64 bits and a sign
    if isinstance(v, float):
        return repr(v) if v - v == 0 else _quote(repr(v))
    if isinstance(v, dict):
        return "{" + ",".join(_quote(str(k)) + ":" + dumps(x) for k, x in v.items()) + "}"
    if isinstance(v, (list, tuple)):
        return "[" + ",".join(dumps(x) for x in v) + "]"
    return _quote(str(v))


def emit(event, **fields):
    """Appends one line. The file is opened each time: a program that closes or reuses descriptors cannot divert it."""
    fields = dict({"event": event, "time": round(time.time(), 6)}, **fields)
    fd = os.open(_state["path"], os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        os.write(fd, (dumps(fields) + "\n").encode("ascii"))
    finally:
        os.close(fd)


def die(text):
    """The policy cannot be held: say so and stop, whatever the program would have made of an exception."""
    os.write(2, ("lockstep: %s\n" % text).encode("utf-8", "replace"))
    try:
        emit("failed", reason=text)
    finally:
        _end(4)


def frames(skip=(), limit=8, begin=None):
    """The program's own stack, innermost first, as "file:line function"; frames under the folders in skip left out."""
    out, f = [], begin or sys._getframe(1)
    while f is not None and len(out) < limit:
        name = f.f_code.co_filename
        if not name.startswith(("<frozen", _HOOK_DIR)) and not name.startswith(tuple(skip)):
            out.append("%s:%d %s" % (name, f.f_lineno, f.f_code.co_name))
        f = f.f_back
    return out


def user_frame(stack):
    """The innermost frame that belongs to no installed library, or the innermost of all."""
    base = os.path.dirname(os.__file__)
    for s in stack:
        if "-packages" + os.sep not in s and not s.startswith(base):
            return s
    return stack[0] if stack else ""


def note_undone(setting, found, stack=()):
    wanted = _wanted[setting]
    if _undone.get(setting) == found:
        return
    _undone[setting] = found
    emit("undone", setting=setting, wanted=wanted, found=found, where=user_frame(stack), stack=list(stack))


def _env_now():
    return {name: os.environ.get(name) for name in POLICY["env"]}


def _expect(name, settings):
    """Registers settings that were just applied and read back; what did not take hold ends the interpreter."""
    for setting, (wanted, found) in settings.items():
        if wanted != found:
            die("%s: %s was set to %r but reads %r: the policy did not take hold" % (name, setting, wanted, found))
        _wanted[setting] = wanted


def module_loaded(name, version, applied, reader=None, **more):
    _expect(name, applied)
    if reader:
        _readers[name] = reader
    emit("module", name=name, version=version, applied={k: v[1] for k, v in applied.items()}, **more)


def _part(name):
    """Another file of the hook, whose folder is no longer on the path."""
    sys.path.insert(0, _HOOK_DIR)
    try:
        return __import__(name)
    finally:
        sys.path.remove(_HOOK_DIR)


# --- the libraries -------------------------------------------------------------------------------------------------


def _on_random(module):
    if LEVEL >= 2:
        module.seed(SEED)
        module_loaded("random", None, {}, seed=SEED)


def _entropy():
    """Stands in for the operating system's entropy where numpy takes it for a generator without a seed."""
    count = [0]

    def randbits(k):
        import hashlib
        count[0] += 1
        block = b"".join(hashlib.sha256(b"lockstep %d %d %d" % (SEED, count[0], i)).digest()
                         for i in range(k // 256 + 1))
        return int.from_bytes(block, "little") & ((1 << k) - 1)
    return randbits


def _on_numpy_random(module):
    if LEVEL < 2:
        return
    module.seed(SEED % 2**32)
    bits = sys.modules.get("numpy.random.bit_generator")
    if bits is not None and hasattr(bits, "randbits"):
        bits.randbits = _entropy()
    numpy = sys.modules.get("numpy")
    module_loaded("numpy", getattr(numpy, "__version__", None), {}, seed=SEED % 2**32)


def _on_torch(module):
    _part("lockstep_torch").apply(module, POLICY)
    if POLICY["trace"] == "ops":
        _part("lockstep_ops").start(module, POLICY)


def _on_dataloader(module):
    _part("lockstep_torch").watch_dataloader(module)


def _on_trainer(module):
    _part("lockstep_torch").watch_trainer(module)


def _on_accelerator(module):
    _part("lockstep_torch").watch_accelerator(module)


def _watch_jax(config, skip):
    """Names the line that changes the precision; JAX itself is asked again at the end."""
    real = config.update

    def update(name, value):
        if name == "jax_default_matmul_precision" and value != _wanted["jax.default_matmul_precision"]:
            note_undone("jax.default_matmul_precision", value, frames(skip))
        real(name, value)
    try:
        config.update = update
    except AttributeError:
        pass  # a release whose configuration takes no attributes: the end still tells


def _on_jax(module):
    applied = {}
    if LEVEL >= 1 and POLICY["precision"] in ("fp32", "tf32"):
        want = "highest" if POLICY["precision"] == "fp32" else "tensorfloat32"
        module.config.update("jax_default_matmul_precision", want)
        applied["jax.default_matmul_precision"] = (want, module.config.jax_default_matmul_precision)
    module_loaded("jax", getattr(module, "__version__", None), applied,
                  lambda: {"jax.default_matmul_precision": module.config.jax_default_matmul_precision})
    at_exit.append(_jax_memory)
    if applied:
        _watch_jax(module.config, (os.path.dirname(getattr(module, "__file__", None) or _HOOK_DIR) + os.sep,))


def _jax_memory():
    """Peak memory of the GPUs that JAX has used; asking one that it has not used would take that GPU's memory."""
    bridge = sys.modules.get("jax._src.xla_bridge")
    gpus = []
    for backend in list(getattr(bridge, "_backends", {}).values()):
        for d in backend.local_devices() if backend.platform in ("gpu", "cuda", "rocm") else ():
            stats, gpu = d.memory_stats() or {}, {"index": d.id, "name": d.device_kind, "library": "jax"}
            for key, name in (("peak_allocated_bytes", "peak_bytes_in_use"), ("peak_reserved_bytes", "peak_pool_bytes")):
                if name in stats:
                    gpu[key] = stats[name]
            gpus.append(gpu)
    return {"gpus": gpus} if gpus else None


def _on_tensorflow(module):
    applied, seed = {}, None
    experimental = module.config.experimental
    if LEVEL >= 1:
        want = POLICY["precision"] == "tf32"
        experimental.enable_tensor_float_32_execution(want)
        applied["tensorflow.tensor_float_32"] = (want, experimental.tensor_float_32_execution_enabled())
    if LEVEL >= 2:
        module.random.set_seed(SEED)
        experimental.enable_op_determinism()
        seed = SEED
    if LEVEL >= 3:
        module.config.threading.set_intra_op_parallelism_threads(POLICY["threads"])
        module.config.threading.set_inter_op_parallelism_threads(1)
    module_loaded("tensorflow", getattr(module, "__version__", None), applied,
                  lambda: {"tensorflow.tensor_float_32": experimental.tensor_float_32_execution_enabled()}, seed=seed)


ACTIONS = {
    "random": _on_random, "numpy.random": _on_numpy_random, "torch": _on_torch, "jax": _on_jax,
    "tensorflow": _on_tensorflow, "torch.utils.data.dataloader": _on_dataloader,
    "lightning.pytorch.trainer.trainer": _on_trainer, "pytorch_lightning.trainer.trainer": _on_trainer,
    "accelerate.accelerator": _on_accelerator,
}


class _Loader:
    """Stands in for a module's loader during the one import, then gives way to it."""

    def __init__(self, inner, action):
        self._inner, self._action = inner, action

    def __getattr__(self, name):
        return getattr(self._inner, name)

    def create_module(self, spec):
        return self._inner.create_module(spec)

    def exec_module(self, module):
        module.__loader__ = module.__spec__.loader = self._inner
        self._inner.exec_module(module)
        _act(module.__spec__.name, self._action, module)


class _Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        action = ACTIONS.get(name)
        if action is None:
            return None
        for finder in sys.meta_path:
            if finder is _Finder or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is None:
                continue
            if hasattr(spec.loader, "exec_module"):
                spec.loader = _Loader(spec.loader, action)
            return spec
        return None


def _act(name, action, module):
    try:
        action(module)
    except Exception as fault:  # pylint: disable=broad-except
        die("%s: the policy could not be applied: %s: %s" % (name, type(fault).__name__, fault))


# --- life of the interpreter ---------------------------------------------------------------------------------------


def _open_record(parent):
    _state.update(pid=os.getpid(), exited=False, forks=0)
    _state["path"] = os.path.join(POLICY["seen"], "%s-%d-%d.jsonl" % (os.uname().nodename, os.getpid(), time.time_ns()))
    env = _env_now()
    emit("start", pid=os.getpid(), ppid=os.getppid(), forked_from=parent, host=os.uname().nodename,
         executable=sys.executable, argv=list(getattr(sys, "orig_argv", sys.argv if hasattr(sys, "argv") else [])),
         python="%d.%d.%d" % sys.version_info[:3], prefix=sys.prefix, hash_probe=hash("lockstep"),
         rank=os.environ.get("RANK", os.environ.get("SLURM_PROCID")),
         world_size=os.environ.get("WORLD_SIZE", os.environ.get("SLURM_NTASKS")), env=env)
    for name, value in env.items():
        _wanted["environment " + name] = POLICY["env"][name]
        if value != POLICY["env"][name]:
            note_undone("environment " + name, value)


def nested(seen):
    """Another lockstep run is around this one: it gets to know that this interpreter has a policy, though not its own."""
    path = _state["path"]
    _state["path"] = os.path.join(seen, "%s-%d-%d.jsonl" % (os.uname().nodename, os.getpid(), time.time_ns()))
    try:
        emit("start", pid=os.getpid(), ppid=os.getppid(), host=os.uname().nodename, nested=True, executable=sys.executable,
             argv=list(getattr(sys, "orig_argv", ())), python="%d.%d.%d" % sys.version_info[:3])
    finally:
        _state["path"] = path


def _in_child():
    parent = _state["pid"]
    _undone.clear()
    for name in [n for n in _wanted if n.startswith("environment ")]:
        del _wanted[name]
    try:
        _open_record(parent)
        for call in at_child:
            call()
    except Exception as fault:  # pylint: disable=broad-except
        die("forked child: %s: %s" % (type(fault).__name__, fault))


def _unhandled():
    """An operation without a deterministic form raised and nobody caught it: keep its name and place."""
    fault = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
    if fault is None:
        return
    stack, tb = [], getattr(fault, "__traceback__", None)
    while tb is not None:
        code = tb.tb_frame.f_code
        stack.insert(0, "%s:%d %s" % (code.co_filename, tb.tb_lineno, code.co_name))
        tb = tb.tb_next
    note_nondeterministic(str(fault), raised=True, stack=stack[:8])


def note_nondeterministic(message, raised, stack=()):
    mark = " does not have a deterministic implementation"
    if mark in message:
        name = message[:message.index(mark)].strip()
        emit("nondeterministic", operation=name, raised=raised, where=user_frame(stack), stack=list(stack))


def _read_back():
    now = {}
    for read in _readers.values():
        try:
            now.update(read())
        except Exception as fault:  # pylint: disable=broad-except
            now["unreadable"] = "%s: %s" % (type(fault).__name__, fault)
    for name, value in _env_now().items():
        now["environment " + name] = value
    for setting, wanted in list(_wanted.items()):
        if setting in now and now[setting] != wanted:
            note_undone(setting, now[setting])
    return {k: v for k, v in now.items() if not k.startswith("environment ")}


def _exit():
    if _state["exited"] or _state["pid"] != os.getpid():
        return
    _state["exited"] = True
    more = {}
    try:
        _unhandled()
        for call in at_exit:
            try:
                found = call() or {}
                found["gpus"] = more.get("gpus", []) + found.get("gpus", [])
                more.update(found)
            except Exception as fault:  # pylint: disable=broad-except
                emit("failed", reason="at the end of the program: %s: %s" % (type(fault).__name__, fault))
        emit("exit", settings=_read_back(), **more)
    except OSError:
        pass  # the folder is gone: the run is over and nobody waits for this record


def _wrap_os_exit():
    """multiprocessing ends its children with os._exit, which runs no atexit handlers."""
    def _exit_now(status):
        _exit()
        _end(status)
    os._exit = _exit_now


def start():
    if _state["path"]:
        return
    _open_record(None)
    sys.meta_path.insert(0, _Finder)
    for name, action in ACTIONS.items():
        if name in sys.modules:
            _act(name, action, sys.modules[name])
    atexit.register(_exit)
    os.register_at_fork(after_in_child=_in_child)
    _wrap_os_exit()
