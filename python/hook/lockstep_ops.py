"""--trace ops: every PyTorch operation's inputs and outputs, digested, with the line of
the program that called it.

One text file a process. "H" says what the file is, "S id frames" names a stack once, "O
seq op stack inputs outputs time" is an operation, "E count digest" ends it; the digest
of the log leaves the times out, which are microseconds. A tensor reads
dtype[shape]@device:digest, or ~shared:digest after the device where other processes can
write it. The digest depends on order and is taken where the tensor lies: XXH3 over
memory on the CPU (BLAKE2b without our library), a sum of index-salted mixes elsewhere,
exact in any order. Device digests are fetched in batches, so that the program does not
wait.

Memory that nobody has written reads "unwritten", whatever it holds: reading it is told,
allocating and copying it is not. The program's seeds are operations, too
("seed.random"): a seed taken from the clock is the first thing that differs.
"""
import ctypes
import hashlib
import os
import sys
import threading
import time

import lockstep_hook as hook

_BATCH = 64
_SALTS = 1 << 22
_BLANK = ("empty", "new_empty")  # their result is memory that nobody has written yet
_UNREAD = _BLANK + ("resize_", "set_")  # nor is what these give read: it may be such memory, too
# A copy of unwritten memory is not written either
_COPIES = ("clone", "copy_", "_to_copy", "contiguous")
_FILLS = ("uniform_", "normal_", "random_", "fill_", "zero_", "copy_", "bernoulli_", "exponential_", "log_normal_",
          # What their first argument held before does not matter
          "geometric_", "cauchy_", "set_", "resize_")
_modes = []


def _signed(x):
    return x - (1 << 64) if x >= 1 << 63 else x


_K1, _K2 = _signed(0x9E3779B97F4A7C15), _signed(0xBF58476D1CE4E5B9)


class _Digester:
    def __init__(self, torch, library):
        self.torch, self.method, self.xxh3, self.salts = torch, "blake2b", None, {}
        try:
            self.xxh3 = ctypes.CDLL(library).ls_inject_digest if library else None
        except (OSError, AttributeError):
            pass
        if self.xxh3:
            self.method = "xxh3"
            self.xxh3.argtypes, self.xxh3.restype = (ctypes.c_void_p, ctypes.c_size_t), ctypes.c_uint64

    def on_cpu(self, t):
        n = t.numel() * t.element_size()
        if self.xxh3:
            return "%016x" % self.xxh3(t.data_ptr(), n)
        data = (ctypes.c_char * n).from_address(t.data_ptr()) if n else b""
        return hashlib.blake2b(data, digest_size=8).hexdigest()

    def on_device(self, t):
        """A 0-d int64 tensor on t's device: the sum over 8-byte words of mix(word +
        index * K)."""
        torch = self.torch
        data = t.reshape(-1).view(torch.uint8)
        if data.numel() % 8:
            data = torch.nn.functional.pad(data, (0, 8 - data.numel() % 8))
        if data.data_ptr() % 8:
            data = data.clone()
        words, salt = data.view(torch.int64), self.salt(t.device, data.numel() // 8)
        sums = []
        for at in range(0, words.numel(), _SALTS):
            part = words[at:at + _SALTS]
            z = part + salt[:part.numel()]
            if at:
                z += _signed(at * _K1 % (1 << 64))
            z ^= z >> 30
            z *= _K2
            z ^= z >> 27
            sums.append(z.sum())
        if len(sums) == 1:
            return sums[0]
        return torch.stack(sums).sum() if sums else torch.zeros((), dtype=torch.int64, device=t.device)

    def salt(self, device, n):
        """i * K1 for the first words, kept from one tensor to the next; it grows as they
        do."""
        have = self.salts.get(device)
        if have is None or have.numel() < min(n, _SALTS):
            size = min(_SALTS, max(1024, 1 << (n - 1).bit_length() if n else 0))
            have = self.salts[device] = self.torch.arange(size, device=device) * _K1
        return have

    def __call__(self, t):
        """(text before the digest, digest as text or as a tensor still on its device)"""
        shared = "~shared" if t.device.type == "cpu" and t.layout is self.torch.strided and t.is_shared() else ""
        head = "%s[%s]@%s%s:" % (str(t.dtype).replace("torch.", ""), "x".join(map(str, t.shape)), t.device, shared)
        if t.layout is not self.torch.strided:
            return head, "unread"
        if t.device.type == "meta" or type(t).__name__ == "FakeTensor":
            return head, "none"
        t = t.detach()
        if t.dtype.is_complex:
            t = t.resolve_conj()
        t = t.resolve_neg().contiguous()
        return head, (self.on_cpu(t) if t.device.type == "cpu" else self.on_device(t))


class _Blank:
    """The storages that nobody has written since they were allocated."""

    def __init__(self, torch, digest):
        from torch.multiprocessing.reductions import StorageWeakRef
        self.torch, self.digest, self.weak, self.known = torch, digest, StorageWeakRef, {}

    def _bytes(self, t):
        """numpy and others write memory without torch knowing; on a device only torch's
        operations are seen."""
        storage = t.untyped_storage()
        if t.device.type != "cpu":
            return None
        whole = self.torch.empty(0, dtype=self.torch.uint8).set_(storage)
        return self.digest.on_cpu(whole)

    def add(self, t):
        if t.device.type == "meta" or t.layout is not self.torch.strided or not t.untyped_storage().nbytes():
            return
        self.known[t.untyped_storage().data_ptr()] = self.weak(t.untyped_storage()), self._bytes(t)

    def forget(self, t):
        if self.known and t.layout is self.torch.strided and t.device.type != "meta":
            self.known.pop(t.untyped_storage().data_ptr(), None)

    def has(self, t):
        if not self.known or t.layout is not self.torch.strided or t.device.type == "meta":
            return False
        at = t.untyped_storage().data_ptr()
        weak, was = self.known.get(at, (None, None))
        if weak is None:
            return False
        if weak.expired() or (was is not None and was != self._bytes(t)):
            del self.known[at]
            return False
        return True


class Log:
    def __init__(self, torch, policy):
        self.torch, self.policy, self.digest = torch, policy, _Digester(torch, policy["inject"])
        self.blank = _Blank(torch, self.digest)
        self.package = os.path.dirname(torch.__file__) + os.sep
        self.reset()

    def reset(self):
        self.lock = threading.RLock()  # backward passes of several GPUs run in threads of their own
        self.closed = False
        self.path, self.count, self.stacks = None, 0, {}
        self.lines, self.waiting = [], []
        self.rolling = hashlib.blake2b(digest_size=16)

    def _open(self):
        name = "%s-%d-%d.ops" % (os.uname().nodename, os.getpid(), time.time_ns())
        self.path = os.path.join(self.policy["trace_dir"], name)
        self.lines.insert(0, ["H\tlockstep-ops\t3\t%s\t%d\t%.6f\t%s\t%s\t%s\n" % (
            hook.rank() or "0", os.getpid(), time.time(), self.digest.method, hook._state["child"], os.uname().nodename)])

    def stack_id(self):
        frames = hook.frames((self.package,), 12)
        # A thread of the autograd engine: the caller of backward waits in another one
        if not frames:
            frames = hook.frames((self.package,), 12, _backward_caller())
        text = "|".join(f.replace("\t", " ").replace("|", "/").replace("\n", " ") for f in frames)
        with self.lock:
            if text not in self.stacks:
                self.stacks[text] = len(self.stacks)
                self.lines.append(["S\t%d\t%s\n" % (self.stacks[text], text)])
            return self.stacks[text]

    def describe(self, value, into):
        """Appends text parts and waiting digests of a value to a line."""
        torch = self.torch
        if isinstance(value, torch.Tensor):
            try:
                head, digest = self.digest(value)
                if self.blank.has(value):
                    digest = "unwritten"
            except Exception as fault:  # pylint: disable=broad-except
                head, digest = "tensor:", "unread-" + type(fault).__name__
            into.append(" " + head)
            if isinstance(digest, str):
                into.append(digest)
            else:
                with self.lock:
                    self.waiting.append((into, len(into), digest))
                    into.append(None)
        elif isinstance(value, (list, tuple)):
            for v in value:
                self.describe(v, into)
        elif isinstance(value, dict):
            for k in value:
                self.describe(value[k], into)
        elif isinstance(value, torch.storage.UntypedStorage):
            into.append(" =storage-%d" % value.nbytes())
        elif isinstance(value, torch.Generator):
            into.append(" =generator-%d-%s" % (value.initial_seed(), self.digest.on_cpu(value.get_state())))
        elif isinstance(value, (bool, int, float, complex, str, torch.dtype, torch.device, torch.layout)):
            into.append(" =" + "".join(c if c > " " else "_" for c in str(value))[:60])

    def write(self, name, stack, before, after):
        with self.lock:
            line = ["O\t%d\t%s\t%d\t" % (self.count, name, stack)] + before + ["\t"] + after
            line.append("\t%d\n" % (time.time_ns() // 1000))
            self.lines.append(line)
            for n, (parts, at, digest) in enumerate(self.waiting):
                if parts is before or parts is after:
                    self.waiting[n] = (line, at + (1 if parts is before else 2 + len(before)), digest)
            self.count += 1
            if self.count % _BATCH == 0:
                self.flush()

    def _fetch(self):
        """Digests that wait on a device, one transfer a device."""
        by_device, self.waiting = self.waiting, []
        by_device = {d: [w for w in by_device if w[2].device == d] for d in {w[2].device for w in by_device}}
        for items in by_device.values():
            values = self.torch.stack([i[2] for i in items]).tolist()
            for (parts, at, _), v in zip(items, values):
                parts[at] = "%016x" % (v & 0xFFFFFFFFFFFFFFFF)

    def flush(self):
        self._fetch()
        if self.path is None and self.lines:
            self._open()
        lines, self.lines = self.lines, []
        for parts in lines:
            if parts[0].startswith("O"):
                self.rolling.update("".join(parts[:-1]).encode("utf-8", "replace"))
        if lines:
            with open(self.path, "ab") as f:
                f.write("".join("".join(parts) for parts in lines).encode("utf-8", "replace"))

    def seeded(self, library, value):
        """A seed of the program's as an operation."""
        if not self.closed:
            self.write("seed." + library.replace(" ", "."), self.stack_id(), [" =%s" % str(value).replace(" ", "_")[:60]], [])

    def finish(self):
        with self.lock:
            # The mode is still on: fetching the last digests would be logged as the
            # program's own
            self.closed = True
            if not self.count:
                return None
            self.flush()
            self.lines.append(["E\t%d\t%s\n" % (self.count, self.rolling.hexdigest())])
            self.flush()
            return {"ops": self.count}


def _backward_caller():
    """The frame of the thread that called backward, else of the main thread."""
    all_frames = sys._current_frames()
    for frame in all_frames.values():
        if frame.f_code.co_name == "_engine_run_backward":
            return frame
    return all_frames.get(threading.main_thread().ident)


def _written(func, args, kwargs):
    """The arguments that an operation writes into; some operations return nothing."""
    out = []
    for n, a in enumerate(func._schema.arguments):
        if a.alias_info is not None and a.alias_info.is_write:
            value = args[n] if n < len(args) else kwargs.get(a.name)
            if value is not None:
                out.append(value)
    return out


def _inputs(func, base, args, kwargs):
    """What an operation reads: not the buffers it only fills."""
    if base in _FILLS:
        args = args[1:]
    outs = {a.name for a in func._schema.arguments if a.kwarg_only and a.alias_info is not None and a.alias_info.is_write}
    return args, {k: v for k, v in kwargs.items() if k not in outs}


def _outputs(func, result, args, kwargs):
    returned = result if isinstance(result, (list, tuple)) else [result]
    return [result] + [w for w in _written(func, args, kwargs) if not any(w is r for r in returned)]


def _tensors(torch, value):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for v in value:
            yield from _tensors(torch, v)


def _note_memory(log, func, base, result, args, kwargs):
    """Keeps account of which memory was written by an operation."""
    if base.startswith(("set_", "resize_")):
        return  # they write no memory
    torch = log.torch
    copied = list(_tensors(torch, args[1:] if base in _FILLS else args)) if base in _COPIES else []
    blank = base.startswith(_BLANK) or (copied and all(log.blank.has(t) for t in copied))
    for t in _tensors(torch, [result] + _written(func, args, kwargs)):
        (log.blank.add if blank else log.blank.forget)(t)


def _watch_generators(torch, log):
    """torch.Generator with a manual_seed that is logged. Only while operations are
    traced."""
    real = torch.Generator

    class Kind(type(real)):
        def __instancecheck__(cls, instance):
            return isinstance(instance, real)

    class Generator(real, metaclass=Kind):
        def manual_seed(self, seed):
            log.seeded("torch.Generator", seed)
            return super().manual_seed(seed)
    Generator.__module__, Generator.__qualname__ = "torch", "Generator"
    torch.Generator = Generator


def start(torch, policy):
    from torch.utils._python_dispatch import TorchDispatchMode
    log = Log(torch, policy)

    class Trace(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            if log.closed or func.is_view or func.namespace == "prim":
                return func(*args, **kwargs)
            base = func.__name__.split(".")[0]
            stack, before, after = log.stack_id(), [], []
            with torch.no_grad():
                log.describe(_inputs(func, base, args, kwargs), before)
            result = func(*args, **kwargs)
            with torch.no_grad():
                _note_memory(log, func, base, result, args, kwargs)
                # a collective writes its buffers later, from another thread: reading them
                # here would be a race
                if not base.startswith(_UNREAD) and func.namespace not in ("c10d", "_c10d_functional"):
                    log.describe(_outputs(func, result, args, kwargs), after)
            log.write("%s.%s" % (func.namespace, func.__name__), stack, before, after)
            return result

    # Torch's stack of modes borrows it: without a reference here, printing a tensor
    # crashed
    _modes.append(Trace())
    _modes[0].__enter__()
    _watch_generators(torch, log)
    hook.at_child.append(log.reset)
    hook.at_exit.append(log.finish)
    hook.on_seed.append(log.seeded)
