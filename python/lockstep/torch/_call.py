"""Calls an exact operation of liblockstep with torch's tensors.

The outputs are among the tensors and are allocated by the caller. On a CUDA device the
operation is put on torch's current stream and nothing waits for it.
"""
import ctypes
import os
import threading

import torch
from lockstep import _library as L

# enum ls_exact_type
TYPES = {torch.float32: 0, torch.bfloat16: 1, torch.float16: 2, torch.float64: 3, torch.int64: 4, torch.int32: 5,
         torch.uint8: 6, torch.bool: 7}
FLOATS = (torch.float32, torch.bfloat16, torch.float16)
_ROOM = 64  # tensors of one call


class Outside(Exception):
    """This call is outside of the contract: the reason. torch's own kernel runs."""


class _Room(threading.local):
    """What a call hands over, one for each thread."""

    def __init__(self):
        super().__init__()
        self.bytes = bytearray(_ROOM * L.TENSOR_BYTES)
        self.tensors = (ctypes.c_char * len(self.bytes)).from_buffer(self.bytes)
        self.at = ctypes.addressof(self.tensors)
        self.where, self.err, self.need = L.Where(), L.Err(), ctypes.c_size_t()
        self.where_at, self.err_at = ctypes.addressof(self.where), ctypes.addressof(self.err)
        self.cpu, self.cpu_at = L.Where(threads=0), 0
        self.cpu_at = ctypes.addressof(self.cpu)


_room = _Room()
_numbers = {m: ctypes.c_double * m for m in range(17)}
_lib = None
_cache = None
_names = {}
_known = set()        # CUDA devices that were used
on_new_device = None  # called with the name of one before its first operation


def start():
    global _lib, _cache
    _lib = L.library()
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    _cache = os.path.join(base, "lockstep", "kernels").encode()


def _pack(room, tensors, index):
    """index: of the device that all tensors must be on, as get_device() has it."""
    data, at = room.bytes, 0
    for t in tensors:
        if t is None:
            L.HEAD[0].pack_into(data, at, 0, 0, 0)
        else:
            shape = t.shape
            n = len(shape)
            if n > L.MOST_DIMS or t.get_device() != index:
                raise Outside("%d dimensions" % n if n > L.MOST_DIMS else "tensors on two devices")
            L.HEAD[n].pack_into(data, at, t.data_ptr(), TYPES[t.dtype], n, *shape)
            L.STRIDES[n].pack_into(data, at + L.STRIDES_AT, *t.stride())
        at += L.TENSOR_BYTES


_BELOW = torch._C._dispatch_keyset_full_after(torch._C.DispatchKey.BackendSelect)


def torchs(op, first, *args):
    """torch's own kernel, for the device of the first tensor."""
    return op.redispatch(torch._C._dispatch_keys(first) & _BELOW, first, *args)


def _refuse(room):
    """What the operation does not take is computed by torch, and told."""
    message = room.err.msg.decode("utf-8", "replace")
    if room.err.code == -1:
        raise Outside(message)
    if room.err.code == -4:
        raise MemoryError(message)
    raise L.LockstepError(message, room.err.code)


def call(name, tensors, numbers=()):
    """tensors in the operation's order, None for one that is left out."""
    room, first = _room, tensors[0]
    if len(tensors) > _ROOM:
        raise ValueError("%s: %d tensors" % (name, len(tensors)))
    index = first.get_device()
    if (index < 0 and not first.is_cpu) or (index >= 0 and not first.is_cuda):
        raise Outside("a tensor on " + first.device.type)
    try:
        _pack(room, tensors, index)
    except RuntimeError:
        raise Outside("a tensor without memory of its own, sparse or fake") from None
    m = len(numbers)
    values = _numbers[m](*numbers) if m in _numbers else (ctypes.c_double * m)(*numbers)
    word = _names.get(name)
    if word is None:
        word = _names[name] = name.encode()
    if index >= 0:
        _on_cuda(room, word, index, len(tensors), values, m)
        return
    room.cpu.threads = torch.get_num_threads()
    _with_scratch(room, word, len(tensors), values, m, room.cpu, room.cpu_at, "cpu")


def _with_scratch(room, word, n, values, m, where, where_at, device):
    """Scratch memory is torch's, which keeps it for what follows on the same stream."""
    rc = _lib.ls_exact_op_scratch(word, room.at, n, values, m, where_at, ctypes.byref(room.need), room.err_at)
    if rc:
        _refuse(room)
    need = room.need.value
    scratch = torch.empty(need + 256, dtype=torch.uint8, device=device) if need else None
    if need:
        where.scratch = (scratch.data_ptr() + 255) & ~255
    where.scratch_bytes = need
    if _lib.ls_exact_op(word, room.at, n, values, m, where_at, room.err_at):
        _refuse(room)


def _on_cuda(room, word, index, n, values, m):
    if index != torch.cuda.current_device():
        with torch.cuda.device(index):
            _on_cuda(room, word, index, n, values, m)
        return
    if torch.cuda.is_current_stream_capturing():
        raise Outside("CUDA graph capture")
    if index not in _known:
        _known.add(index)
        saved = bytes(room.bytes)  # the probe uses the same room
        on_new_device("cuda:%d" % index)
        room.bytes[:] = saved
    where = room.where
    where.device, where.cache = 1, _cache
    where.stream = torch._C._cuda_getCurrentRawStream(index)
    _with_scratch(room, word, n, values, m, where, room.where_at, "cuda:%d" % index)
