"""Holds a run's policy inside one Python interpreter and leaves a record of what took
hold.

Each interpreter, forked children too, writes one file of JSON lines into the run's
private folder:
  start             who it is: process, place among the processes, command line
  module            a library, as it is imported, with the settings that took hold
  undone            a setting that the program changed
  seeded            a generator that the program seeded itself
  nondeterministic  an operation without a deterministic form
  exec              it becomes another program now ("exec failed": it did not)
  spawn             it starts a program that may not load the hook
  exit              everything read back

Each line is written at once, so a killed process leaves the lines before. Only modules
that every interpreter loads anyway are imported here: starting costs milliseconds.
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
_state = {"path": None, "pid": 0, "image": "", "exited": False,
          "child": "0", "children": 0, "spawns": 0}
_readers = {}   # module name -> function that returns its settings as they are now
_wanted = {}    # setting -> value that the policy put there
_undone = {}    # setting -> what was reported, so that exit does not repeat it
at_child = []   # called in a forked child
at_exit = []    # called before the exit record
on_seed = []    # called with (library, value) when the program seeds a generator


def dumps(v):
    """JSON without importing json."""
    if v is None or v is True or v is False:
        return {None: "null", True: "true", False: "false"}[v]
    # Bytes of a name that are no UTF-8 are surrogates here, which readers refuse
    if isinstance(v, str):
        return _quote(v if v.isascii() else v.encode("utf-8", "replace").decode("utf-8"))
    if isinstance(v, int):
        # Readers have 64 bits and a sign
        return str(int(v)) if -2**63 <= v < 2**63 else _quote(str(int(v)))
    if isinstance(v, float):
        return repr(v) if v - v == 0 else _quote(repr(v))
    if isinstance(v, dict):
        return "{" + ",".join(dumps(str(k)) + ":" + dumps(x) for k, x in v.items()) + "}"
    if isinstance(v, (list, tuple)):
        return "[" + ",".join(dumps(x) for x in v) + "]"
    return _quote(str(v))


def emit(event, **fields):
    """Appends one line. The file is opened each time: a program that closes or reuses
    descriptors cannot divert it."""
    fields = dict({"event": event, "time": round(time.time(), 6)}, **fields)
    fd = os.open(_state["path"], os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        os.write(fd, (dumps(fields) + "\n").encode("ascii"))
    finally:
        os.close(fd)


def die(text):
    """The policy cannot be held: say so and stop, whatever the program would have made
    of an exception."""
    os.write(2, ("lockstep: %s\n" % text).encode("utf-8", "replace"))
    try:
        emit("failed", reason=text)
    finally:
        _end(4)


def frames(skip=(), limit=8, begin=None):
    """The program's own stack, innermost first, as "file:line function"; frames under
    the folders in skip left out."""
    out, f = [], begin or sys._getframe(1)
    while f is not None and len(out) < limit:
        name = f.f_code.co_filename
        if not name.startswith(("<frozen", _HOOK_DIR)) and not name.startswith(tuple(skip)):
            out.append("%s:%d %s" % (name, f.f_lineno, f.f_code.co_name))
        f = f.f_back
    return out


def user_frame(stack):
    """The innermost frame that belongs to no installed library, or the innermost of all.
    """
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


def _watch_environ():
    """The program's line is named when it changes a variable of the policy; with hold
    the change is refused."""
    cls = type(os.environ)
    set_one, delete_one = cls.__setitem__, cls.__delitem__

    def refused(key, value):
        name, value = _text(key), None if value is None else _text(value)
        if name not in POLICY["env"] or value == POLICY["env"][name]:
            return False
        try:
            note_undone("environment " + name, value, frames((os.__file__,)))
        except OSError:
            pass  # the run is over
        return POLICY["hold"]

    def setitem(self, key, value):
        if not refused(key, value):
            set_one(self, key, value)

    def delitem(self, key):
        if not refused(key, None):
            delete_one(self, key)
    cls.__setitem__, cls.__delitem__ = setitem, delitem


def _expect(name, settings):
    """Registers settings that were just applied and read back; what did not take hold
    ends the interpreter."""
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
    """Another file of the hook, whose folder is no longer on the path. Its bytecode is
    kept there, whatever the user's settings: the next interpreter of the run starts
    faster."""
    if name in sys.modules:
        return sys.modules[name]
    keep = sys.dont_write_bytecode, sys.pycache_prefix
    sys.path.insert(0, _HOOK_DIR)
    sys.dont_write_bytecode, sys.pycache_prefix = False, None
    try:
        return __import__(name)
    finally:
        sys.dont_write_bytecode, sys.pycache_prefix = keep
        sys.path.remove(_HOOK_DIR)


# --- the libraries -------------------------------------------------------------------------------------------------


def _on_random(module):
    if LEVEL < 2:
        return
    _part("lockstep_random").on_random(module)


def _on_numpy_random(module):
    if LEVEL < 2:
        return
    _part("lockstep_random").on_numpy(module)


def _next_child():
    _state["children"] += 1
    return "%s.%d" % (_state["child"], _state["children"])


def _on_posixsubprocess(module):
    """subprocess and multiprocessing's spawn start their children here: each gets its
    number in its environment."""
    real = module.fork_exec

    def fork_exec(args, executables, close_fds, pass_fds, cwd, env, *rest):
        name = b"LOCKSTEP_CHILD="
        if env is None:
            env = [k + b"=" + v for k, v in os.environb.items()]
        env = [e for e in env if not e.startswith(name)]
        env.append(name + _next_child().encode("ascii"))
        path = [e for e in env if e.startswith(b"PYTHONPATH=")]
        _note_spawn(args, path[0] if path else b"")
        return real(args, executables, close_fds, pass_fds, cwd, env, *rest)
    module.fork_exec = fork_exec


def _keeps_out(words):
    """A first look, which may be wrong, for options by which an interpreter ignores the
    hook; lockstep looks closer."""
    if len(words) > 2 and words[1] == "-c" and ("python" in words[2] or "pypy" in words[2]):
        return True
    return any(w[:1] == "-" and w[:2] != "--" and not set(w).isdisjoint("IESi") for w in words[:16])


def _note_spawn(argv, path):
    """Tells of a child that the hook may not reach, as it may be gone before anybody
    sees it."""
    words = [_text(a)[:4096] for a in argv[:64]]
    lost = _HOOK_DIR not in _text(path)
    if (lost or _keeps_out(words)) and _state["spawns"] < 64:
        _state["spawns"] += 1
        try:
            emit("spawn", argv=words, lost=lost)
        except OSError:
            pass  # the run is over


def _wrap_spawn():
    """Children that are started without subprocess get a number, too."""
    import posix
    for name in ("posix_spawn", "posix_spawnp"):
        if not hasattr(posix, name):
            continue

        def spawn(path, argv, env, *rest, _real=getattr(posix, name), **named):
            try:
                argv, env = list(argv), {_text(k): _text(v) for k, v in env.items()}
                env["LOCKSTEP_CHILD"] = _next_child()
                _note_spawn(argv, env.get("PYTHONPATH", ""))
            except (AttributeError, TypeError):
                pass  # posix says what is wrong with them
            return _real(path, argv, env, *rest, **named)
        spawn.__name__ = spawn.__qualname__ = name
        setattr(os, name, spawn)
        setattr(posix, name, spawn)
    real = posix.system

    def system(command):
        os.environ["LOCKSTEP_CHILD"] = _next_child()
        _note_spawn(["sh", "-c", command], os.environ.get("PYTHONPATH", ""))
        try:
            return real(command)
        finally:
            _name_unnumbered()
    os.system = posix.system = system


def _watch(what, *args):
    """Only an account is lost where a library is other than expected; the policy does
    not depend on it."""
    try:
        getattr(_part("lockstep_train"), what)(*args)
    except Exception as fault:  # pylint: disable=broad-except
        emit("unwatched", what=what, reason="%s: %s" % (type(fault).__name__, fault))


def _on_torch(module):
    _part("lockstep_torch").apply(module, POLICY)
    _watch("watch_optim", module)
    if POLICY["exact"]:
        _part("lockstep_exact").start(POLICY)
    if POLICY["trace"] == "ops":
        _part("lockstep_ops").start(module, POLICY)


def _on_inductor(module):
    if LEVEL >= 2:
        _part("lockstep_switches").set_inductor(module)


def _on_dataloader(module):
    _watch("watch_dataloader", module)


def _on_trainer(module):
    _watch("watch_trainer", module)


def _on_accelerator(module):
    _watch("watch_accelerator", module)


def _on_training_arguments(module):
    _watch("watch_training_arguments", module)


def _on_jax(module):
    _part("lockstep_others").on_jax(module)


def _on_tensorflow(module):
    _part("lockstep_others").on_tensorflow(module)


ACTIONS = {
    "_posixsubprocess": _on_posixsubprocess, "random": _on_random, "numpy.random": _on_numpy_random, "torch": _on_torch, "jax": _on_jax,
    "tensorflow": _on_tensorflow, "torch.utils.data.dataloader": _on_dataloader,
    "lightning.pytorch.trainer.trainer": _on_trainer, "pytorch_lightning.trainer.trainer": _on_trainer,
    "accelerate.accelerator": _on_accelerator, "torch._inductor.config": _on_inductor,
    "transformers.training_args": _on_training_arguments,
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


def _image():
    """Names this process image as src/run/procscan.h does: exec changes it, fork does
    not."""
    found = {9: 0, 25: 0, 33: 0}  # AT_ENTRY, AT_RANDOM, AT_SYSINFO_EHDR
    try:
        with open("/proc/self/auxv", "rb", 0) as f:
            vector = f.read()
    except OSError:
        return ""
    for at in range(0, len(vector) - 15, 16):
        kind = int.from_bytes(vector[at:at + 8], sys.byteorder)
        if kind in found:
            found[kind] = int.from_bytes(vector[at + 8:at + 16], sys.byteorder)
    return "%x-%x-%x" % (found[9], found[25], found[33])


def rank():
    """This process's number among the ranks of a distributed program, as its launcher
    tells it, or None."""
    for name in ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"):
        if name in os.environ:
            return os.environ[name]
    return None


def _open_record(parent):
    _state.update(pid=os.getpid(), exited=False, forked=parent is not None, started=time.time())
    _state["path"] = os.path.join(POLICY["seen"], "%s-%d-%d.jsonl" % (os.uname().nodename, os.getpid(), time.time_ns()))
    env = _env_now()
    emit("start", pid=os.getpid(), ppid=os.getppid(), forked_from=parent, host=os.uname().nodename,
         executable=sys.executable, argv=list(getattr(sys, "orig_argv", sys.argv if hasattr(sys, "argv") else [])),
         python="%d.%d.%d" % sys.version_info[:3], image=_state["image"], prefix=sys.prefix, hash_probe=hash("lockstep"),
         child=_state["child"], rank=rank(),
         world_size=os.environ.get("WORLD_SIZE", os.environ.get("SLURM_NTASKS")), env=env)
    for name, value in env.items():
        _wanted["environment " + name] = POLICY["env"][name]
        if value != POLICY["env"][name]:
            note_undone("environment " + name, value)


def nested(seen):
    """Another lockstep run is around this one: it gets to know that this interpreter has
    a policy, though not its own."""
    path = _state["path"]
    _state["path"] = os.path.join(seen, "%s-%d-%d.jsonl" % (os.uname().nodename, os.getpid(), time.time_ns()))
    try:
        emit("start", pid=os.getpid(), ppid=os.getppid(), host=os.uname().nodename, nested=True, image=_image(), executable=sys.executable,
             argv=list(getattr(sys, "orig_argv", ())), python="%d.%d.%d" % sys.version_info[:3])
    finally:
        _state["path"] = path


def _before_fork():
    _state["children"] += 1


def _in_child():
    parent = _state["pid"]
    _state.update(child="%s.%d" % (_state["child"], _state["children"]), children=0)
    _name_unnumbered()
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
    """An operation without a deterministic form raised and nobody caught it: keep its
    name and place."""
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


def _streams():
    """{library: state at the beginning} of the generators that this process drew from."""
    part = sys.modules.get("lockstep_random")
    return part.drawn() if part else {}


def _has_own():
    """Whether anything but the standard library was loaded."""
    library = os.path.dirname(os.__file__) + os.sep
    for name, module in list(sys.modules.items()):
        path = getattr(module, "__file__", None)
        if isinstance(path, str) and not path.startswith((library, _HOOK_DIR)) and name != "_distutils_hack":
            return True  # that one comes with every environment
    return getattr(getattr(sys.modules.get("__main__"), "__loader__", None), "path", None) is not None


def _sources():
    """Files and packages of the program; a forked child has those of its parent."""
    if _state["forked"] or not _has_own():
        return {}
    part = _part("lockstep_sources")
    return {"sources": part.own_files(_state["started"], _HOOK_DIR), "packages": part.packages()}


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
        emit("exit", settings=_read_back(), streams=_streams(), **_sources(), **more)
    except OSError:
        pass  # the folder is gone: the run is over and nobody waits for this record


def _wrap_os_exit():
    """multiprocessing ends its children with os._exit, which runs no atexit handlers."""
    def _exit_now(status):
        _exit()
        _end(status)
    os._exit = _exit_now


def _text(value):
    try:
        return os.fsdecode(value)
    except TypeError:
        return str(value)


def _name_unnumbered():
    """Children that C code starts have no number, but they are not this process either.
    """
    os.environ["LOCKSTEP_CHILD"] = _state["child"] + ".s"


def _wrap_exec():
    """exec replaces the interpreter without running its atexit handlers, and what
    follows in the same process needs a record of its own."""
    import posix
    for name in ("execv", "execve"):
        def execute(path, argv, *env, _real=getattr(posix, name), **named):
            if not isinstance(path, int) and not os.access(path, os.X_OK):
                # os.execvp tries one folder after the other
                return _real(path, argv, *env, **named)
            argv = list(argv)
            _exit()
            emit("exec", argv=[_text(path)] + [_text(a) for a in argv[1:]])
            os.environ["LOCKSTEP_CHILD"] = _state["child"]  # the same process goes on
            try:
                return _real(path, argv, *env, **named)
            except BaseException:
                emit("exec failed")
                _state["exited"] = False
                _name_unnumbered()
                raise
        execute.__name__ = execute.__qualname__ = name
        setattr(os, name, execute)
        setattr(posix, name, execute)


def start():
    if _state["path"]:
        return
    _state.update(image=_image(), child=os.environ.get("LOCKSTEP_CHILD", "0"))
    _name_unnumbered()
    _open_record(None)
    sys.meta_path.insert(0, _Finder)
    for name, action in ACTIONS.items():
        if name in sys.modules:
            _act(name, action, sys.modules[name])
    atexit.register(_exit)
    os.register_at_fork(before=_before_fork, after_in_child=_in_child)
    _wrap_os_exit()
    _wrap_exec()
    _wrap_spawn()
    _watch_environ()
