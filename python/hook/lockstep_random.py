"""Random numbers: what the policy seeds, what the program seeds itself, and which
streams a process drew from.

Where Python and numpy would take the operating system's entropy, they get numbers made
from the run's seed, the rank and the process's place among the processes of the run: "0"
is the first, "0.2" the second child that it made. So processes draw different numbers,
as they would without Lockstep, and the same ones in each run. The first process gets the
seed itself. torch's generators begin with one seed in every process, as they do without
Lockstep.
"""
import os
import sys

import lockstep_hook as hook

POLICY = hook.POLICY
SEED = POLICY["seed"]
_MOST = 16       # seeds of the program that are recorded
# Library -> [function that returns the state as a number, that number at the beginning]
_streams = {}
_entropy_drawn = [0]
_seeds = set()


def place():
    """Which stream this process has: "" for the first process, and for all with
    --same-streams."""
    rank = hook.rank() or "0"
    child = hook._state["child"]
    if POLICY["same_streams"] or (rank, child) == ("0", "0"):
        return ""
    return "rank %s child %s" % (rank, child)


def _block(*words):
    import hashlib
    return hashlib.sha256(" ".join(map(str, ("lockstep", SEED) + words)).encode("ascii")).digest()


def _seed_for(library):
    """The seed itself in the first process, else one made from it."""
    return int.from_bytes(_block(library, place())[:4], "little") if place() else SEED


def _entropy(k):
    """Stands in for the operating system's entropy where numpy takes it for a generator
    without a seed."""
    _entropy_drawn[0] += 1
    words = (_entropy_drawn[0],) if not place() else (_entropy_drawn[0], place())
    block = b"".join(_block(*words, i) for i in range(k // 256 + 1))
    return int.from_bytes(block, "little") & ((1 << k) - 1)


# --- streams --------------------------------------------------------------------------------------------------------


def begin(library, state):
    """From here on the library's generator counts as drawn from when its state is
    another one."""
    _streams[library] = [state, state()]


def drawn():
    found = {}
    for library, (state, first) in _streams.items():
        try:
            if state() != first:
                found[library] = "%x" % (first % 2**64)
        except Exception:  # pylint: disable=broad-except
            pass  # a generator that cannot be read at the end is not told
    if _entropy_drawn[0]:
        found["numpy entropy"] = place() or "the seed itself"
    return found


def _in_child():
    """A forked child has its parent's generators as they are; only random seeds itself
    anew."""
    _entropy_drawn[0] = 0
    for library, (state, _) in list(_streams.items()):
        begin(library, state)


# --- the program's own seeds ----------------------------------------------------------------------------------------


def _note(library, value):
    """What the program seeds a generator with, and where. The workers of torch's loaders
    are seeded by torch."""
    frame = sys._getframe(2)
    if frame.f_globals.get("__name__", "").startswith("torch.utils.data"):
        return
    value = value if isinstance(value, int) else "the operating system's entropy" if value is None else str(value)[:60]
    for call in hook.on_seed:
        call(library, value)
    if len(_seeds) < _MOST and (library, value) not in _seeds:
        _seeds.add((library, value))
        hook.emit("seeded", library=library, value=value, where=hook.user_frame(hook.frames(begin=frame)))


def watch(modules, name, library, state=None):
    """Replaces modules' function by one that notes its first argument."""
    real = getattr(modules[0], name)

    def seed(*args, **kwargs):
        value = args[0] if args else next(iter(kwargs.values()), None)
        result = real(*args, **kwargs)
        try:
            _note(library, value)
            if state:
                begin(library, state)
        except OSError:
            pass  # the run is over
        return result
    seed.__name__ = seed.__qualname__ = name
    seed.__module__, seed.__doc__ = modules[0].__name__, real.__doc__
    for module in modules:
        if getattr(module, name, None) is not None:
            setattr(module, name, seed)


# --- the libraries --------------------------------------------------------------------------------------------------


def _seed_random(module):
    seed = _seed_for("random")
    module.seed(seed)
    hook.module_loaded("random", None, {}, seed=seed)


def on_random(module):
    _seed_random(module)

    def state():
        return hash(module.getstate()[1])
    begin("random", state)
    real = module._inst.seed

    def in_child():  # after the handler of random itself, which seeds from the operating system
        real(_seed_for("random"))
        begin("random", state)
        hook.module_loaded("random", None, {}, seed=_seed_for("random"))
    os.register_at_fork(after_in_child=in_child)
    watch([module], "seed", "random", state)


def on_numpy(module):
    seed = _seed_for("numpy") % 2**32
    module.seed(seed)
    bits = sys.modules.get("numpy.random.bit_generator")
    if bits is not None and hasattr(bits, "randbits"):
        bits.randbits = _entropy
    numpy = sys.modules.get("numpy")
    hook.module_loaded("numpy", getattr(numpy, "__version__", None), {}, seed=seed)

    def state():
        legacy = module.get_state()
        return hash((tuple(legacy[1].tolist()), legacy[2:]))
    begin("numpy", state)
    watch([module, module.mtrand], "seed", "numpy", state)
    if hasattr(module, "default_rng"):
        watch_default_rng(module)


def watch_default_rng(module):
    real = module.default_rng

    def default_rng(seed=None):
        if isinstance(seed, int):
            _note("numpy default_rng", seed)
        return real(seed)
    default_rng.__module__, default_rng.__qualname__, default_rng.__doc__ = "numpy.random", "default_rng", real.__doc__
    module.default_rng = default_rng


def on_torch(module):
    """After the policy has seeded it."""
    def state():
        return hash(tuple(module.default_generator.get_state().tolist()))
    begin("torch", state)
    watch([module, module.random], "manual_seed", "torch", state)


hook.at_child.append(_in_child)
