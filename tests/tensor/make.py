"""Tensor files made with the standard library alone, good ones and hostile ones, for
tests that have no torch.

python3 make.py KIND FILE [ARGUMENT…]; `import make` from tests. torch.save's zip layout
is written by a pickler that knows stand-ins for torch's functions by their real names.
"""
import collections
import io
import pickle
import struct
import sys
import types
import zipfile


def safetensors(path, tensors, metadata=None):
    """tensors: {name: (dtype, shape, bytes)}"""
    import json
    head, at = {}, 0
    if metadata:
        head["__metadata__"] = metadata
    for name, (dtype, shape, data) in tensors.items():
        head[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + b"".join(t[2] for t in tensors.values()))


def npy(descr, shape, data, fortran=False):
    head = repr({"descr": descr, "fortran_order": fortran, "shape": tuple(shape)}).encode() + b"\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + data


def floats(*values):
    return struct.pack(f"<{len(values)}f", *values)


# --- torch.save ---

def stand_in(module, name, kind=types.FunctionType):
    """A function or class of that name, or the real one where the module is loaded."""
    mod = sys.modules.setdefault(module, types.ModuleType(module))
    if hasattr(mod, name):
        return getattr(mod, name)
    made = type(name, (), {}) if kind is type else (lambda *a: None)
    made.__module__, made.__qualname__, made.__name__ = module, name, name
    setattr(mod, name, made)
    return made


FloatStorage = stand_in("torch", "FloatStorage", type)
rebuild = stand_in("torch._utils", "_rebuild_tensor_v2")


class Storage:
    def __init__(self, data, claim=None):
        self.data, self.claim = data, claim if claim is not None else len(data) // 4


class Tensor:
    def __init__(self, storage, shape, stride=None, offset=0):
        steps, step = [], 1
        for n in reversed(shape):
            steps.insert(0, step)
            step *= n
        self.args = (storage, offset, tuple(shape), tuple(stride or steps), False, collections.OrderedDict())

    def __reduce__(self):
        return rebuild, self.args


class Pickler(pickle.Pickler):
    def __init__(self, out, storages, protocol=2):
        super().__init__(out, protocol)
        self.storages = storages

    def persistent_id(self, obj):
        if not isinstance(obj, Storage):
            return None
        if obj not in self.storages:
            self.storages.append(obj)
        return "storage", FloatStorage, str(self.storages.index(obj)), "cpu", obj.claim


def torch_zip(path, obj=None, pickled=None, compress=zipfile.ZIP_STORED, extra=()):
    storages, out = [], io.BytesIO()
    if pickled is None:
        Pickler(out, storages).dump(obj)
        pickled = out.getvalue()
    with zipfile.ZipFile(path, "w", compress) as z:
        z.writestr("archive/data.pkl", pickled)
        z.writestr("archive/byteorder", "little")
        for i, s in enumerate(storages):
            z.writestr(f"archive/data/{i}", s.data)
        z.writestr("archive/version", "3\n")
        for name, data in extra:
            z.writestr(name, data)


def checkpoint(path, weight=0.5, epoch=7, lr=0.1, compress=zipfile.ZIP_STORED, strided=False):
    rows = [[1.0, weight, -2.0], [0.0, 4.0, 3e-5]]
    flat = [x for r in rows for x in r]
    turned = [rows[i][j] for j in range(3) for i in range(2)]
    w = Tensor(Storage(floats(*turned)), (2, 3), (1, 2)) if strided else Tensor(Storage(floats(*flat)), (2, 3))
    shared = Storage(floats(9, 8, 7, 6))
    torch_zip(path, {
        "epoch": epoch,
        "state_dict": collections.OrderedDict([("fc.weight", w), ("fc.bias", Tensor(shared, (2,), offset=2)),
                                               ("tied", Tensor(shared, (4,)))]),
        "optimizer_states": [{"state": {0: {"step": 12, "exp_avg": Tensor(Storage(floats(0, 0)), (2,))}},
                              "param_groups": [{"lr": lr, "betas": (0.9, 0.999), "params": [0, 1]}]}],
        "best": None, "tags": {"b", "a"}, "name": "run\n1",
    }, compress=compress)


# --- hostile ---

class Evil:
    def __reduce__(self):
        import os
        return os.system, ("touch pwned",)


def nested(depth):
    obj = []
    for _ in range(depth):
        obj = [obj]
    return obj


def laughs():
    obj = [0.0] * 10
    for _ in range(20):
        obj = [obj] * 10
    return obj


def deep_pickle():
    return b"\x80\x02" + b"]" * 300000 + b"a" * 299999 + b"."


def cyclic():
    loop = []
    loop.append(loop)
    return loop


def zip_with(path, name, data=b"x", compress=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", compress) as z:
        z.writestr(name, data)


def bomb(path):
    """512 MiB of zeros in half a MiB, an honest deflate stream."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z, z.open("a.npy", "w", force_zip64=True) as f:
        size = 1 << 29
        f.write(npy("|u1", (size,), b""))
        block = bytes(1 << 20)
        for _ in range(size >> 20):
            f.write(block)


HOSTILE = {
    "evil-call.pt": lambda p: torch_zip(p, {"x": Evil()}),
    "cyclic.pt": lambda p: torch_zip(p, cyclic()),
    "deep.pt": lambda p: torch_zip(p, pickled=deep_pickle()),
    "laughs.pt": lambda p: torch_zip(p, laughs()),
    "claim.pt": lambda p: torch_zip(p, {"w": Tensor(Storage(b"1234", 2621440000), (2621440000,))}),
    "stretch.pt": lambda p: torch_zip(p, {"w": Tensor(Storage(b"1234"), (1 << 40,), (0,))}),
    "outside.pt": lambda p: torch_zip(p, {"w": Tensor(Storage(floats(1, 2)), (2, 2))}),
    "offset.pt": lambda p: torch_zip(p, {"w": Tensor(Storage(floats(1, 2)), (2,), offset=1)}),
    "memo.pt": lambda p: torch_zip(p, pickled=b"\x80\x02Nr\xff\xff\xff\xff."),
    "length.pt": lambda p: torch_zip(p, pickled=b"\x80\x02X\xff\xff\xff\x7fabc."),
    "inst.pt": lambda p: torch_zip(p, pickled=b"(ios\nsystem\n."),
    "cut.pt": lambda p: torch_zip(p, pickled=b"\x80\x02]"),
    "script.pt": lambda p: torch_zip(p, {}, extra=[("archive/code/model.py", "x")]),
    "traversal.npz": lambda p: zip_with(p, "../../etc/cron.d/x.npy"),
    "absolute.npz": lambda p: zip_with(p, "/etc/passwd"),
    "object.npz": lambda p: zip_with(p, "a.npy", npy("|O", (1,), pickle.dumps([Evil()]))),
    "claim.npz": lambda p: zip_with(p, "a.npy", npy("<f4", (2684354560,), b"1234")),
    "claim.safetensors": lambda p: safetensors(p, {"w": ("F32", [2684354560], b"1234")}),
    "header.safetensors": lambda p: open(p, "wb").write(struct.pack("<Q", 10 << 30) + b"{}"),
    "length.onnx": lambda p: open(p, "wb").write(b"\x3a\xff\xff\xff\xff\x0fabc"),
    "bomb.npz": bomb,
}

if __name__ == "__main__":
    kind, path, *rest = sys.argv[1:]
    if kind == "hostile":
        for name in [path] + rest:
            HOSTILE[name](name)
    elif kind == "checkpoint":
        checkpoint(path, **{k: (v if k == "name" else eval(v)) for k, v in (r.split("=") for r in rest)})
    elif kind == "safetensors":
        safetensors(path, {"w": ("F32", [len(rest)], floats(*map(float, rest)))})
    elif kind == "npy":
        open(path, "wb").write(npy("<f4", [len(rest)], floats(*map(float, rest))))
    else:
        sys.exit(f"make.py: unknown kind {kind}")
