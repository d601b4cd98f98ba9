"""real.py LOCKSTEP [TEST]: files that torch, safetensors, numpy and onnx write are read,
and what is said of them is compared with what those libraries say. Run by
tests/tensor/run-real in the environment of tools/venv."""
import collections
import io
import json
import os
import pathlib
import pickle
import struct
import subprocess
import sys
import tarfile
import tempfile
import zipfile

import numpy as np
import onnx
import safetensors.numpy
import safetensors.torch
import torch
from onnx import TensorProto, helper, numpy_helper

lockstep = os.path.abspath(sys.argv[1])
os.chdir(tempfile.mkdtemp(prefix="ls-real-"))
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import make  # noqa: E402  (its stand-ins must not replace torch: it keeps what is there)

rng = np.random.default_rng(7)


def compare(a, b, *options, status=None):
    r = subprocess.run([lockstep, "compare", "--json", *options, str(a), str(b)], capture_output=True, text=True)
    if status == 2:
        assert r.returncode == 2 and r.stdout == "", (r.returncode, r.stdout, r.stderr)
        return r.stderr
    assert r.returncode in (0, 1), (a, b, r.returncode, r.stderr)
    out = json.loads(r.stdout)
    assert out["identical"] == (r.returncode == 0)
    if status is not None:
        assert r.returncode == status, (a, b, json.dumps(out, indent=1)[:3000])
    return out


def differences(out):
    return {d["name"]: d for d in out["results"][0]["differences"]}


def raw(t):
    """A torch tensor's bytes, element by element in row-major order."""
    t = t.detach().contiguous()
    return t.reshape(-1).view(torch.uint8).numpy().reshape(t.numel(), t.element_size()) if t.numel() else np.zeros((0, 1), np.uint8)


def agrees_with_torch(a, b, out):
    """Which tensors differ, how many elements and which first: as torch has it."""
    found = differences(out)
    for name in a:
        x, y = raw(a[name]), raw(b[name])
        where = np.nonzero((x != y).any(axis=1))[0]
        if len(where) == 0:
            assert name not in found, name
        else:
            assert found[name]["differing"] == len(where), name
            assert found[name]["first_index"] == where[0], name
    return found


def tolerance():
    """A second verdict, as numpy has it: by absolute and relative distance and by ULP."""
    for kind in (np.float16, np.float32, np.float64, np.int8, np.uint8, np.int32, np.uint64, np.complex64):
        floats = kind if np.issubdtype(kind, np.floating) else np.float32
        if np.issubdtype(kind, np.inexact):
            x = rng.normal(size=2000).astype(kind)
            y = (x * (1 + rng.choice([0, 1e-3, 1e-6, 1e-9], 2000) * rng.normal(size=2000))).astype(kind)
            x[:6], y[:6] = [0.0, np.nan, np.nan, np.inf, np.inf, 1], [-0.0, np.nan, 1, -np.inf, 1, 1]
        else:
            x = rng.integers(0, np.iinfo(kind).max, 2000, dtype=kind)
            y = np.where(rng.random(2000) < 0.5, x, np.roll(x, 1)).astype(kind)
        np.save("x.npy", x)
        np.save("y.npy", y)
        p, q = (v.view(floats) if np.issubdtype(kind, np.complexfloating) else v for v in (x, y))
        whole = not np.issubdtype(kind, np.inexact)
        p, q = (v.astype(object) if whole else v.astype(np.float64) for v in (p, q))
        with np.errstate(invalid="ignore"):
            apart, scale = np.abs(p - q), np.maximum(np.abs(p), np.abs(q))
            good = np.ones(len(p), bool) if whole else (p == q) | np.isnan(p) & np.isnan(q)
            finite = np.ones(len(p), bool) if whole else np.isfinite(p) & np.isfinite(q)
            for rule, within in (("abs=0.001", apart <= 0.001), ("rel=1e-6", apart <= 1e-6 * scale), ("abs=3,rel=1e-3", (apart <= 3) | (apart <= 1e-3 * scale))):
                want = ~((within & finite | (p == q) | (good & ~whole)).astype(bool))
                if np.issubdtype(kind, np.complexfloating):
                    want = want.reshape(-1, 2).any(axis=1)
                out = compare("x.npy", "y.npy", "--tolerance", rule, status=1)
                got = next(iter(differences(out).values()))
                assert got["beyond"] == want.sum(), (kind, rule, got["beyond"], want.sum())
                assert out["tolerance"]["within"] == (not want.any())
        if np.issubdtype(kind, np.floating):
            np.save("y.npy", np.nextafter(x, x.dtype.type(np.inf)))
            assert compare("x.npy", "y.npy", "--tolerance", "ulp=1", status=1)["tolerance"]["within"]
            got = next(iter(differences(compare("x.npy", "y.npy", "--tolerance", "*:ulp=0", status=1)).values()))
            assert got["beyond"] == got["value"] + got["nan_one_side"]


# --- torch ---

def dtypes():
    quantized = {torch.qint8, torch.quint8, torch.qint32, torch.quint4x2, torch.quint2x4}
    every = {v for v in vars(torch).values() if isinstance(v, torch.dtype)} - quantized
    return sorted(every, key=str)


def every_dtype():
    a, b = {}, {}
    for dtype in dtypes():
        bits = torch.from_numpy(rng.integers(0, 256, 6 * dtype.itemsize, dtype=np.uint8))
        if dtype is torch.bool:
            bits = bits & 1
        other = bits.clone()
        other[4 * dtype.itemsize] ^= 1
        try:
            pair = bits.view(dtype).reshape(2, 3), other.view(dtype).reshape(2, 3)
            torch.save(pair, "pair.pt")
            a[str(dtype)], b[str(dtype)] = pair
        except (RuntimeError, KeyError) as e:
            print(f"  {dtype} cannot be saved by torch {torch.__version__}: {e}")
    torch.save(a, "a.pt")
    torch.save(b, "b.pt")
    out = compare("a.pt", "b.pt", status=1)
    assert out["tensors"] == out["tensors_differ"] == len(a) >= 20, out["verdict"]
    agrees_with_torch(a, b, out)
    assert compare("a.pt", "a.pt", status=0)["tensors"] == len(a)


def reference(x, y):
    """What two float arrays differ in, by numpy alone."""
    n = x.dtype.itemsize * 8
    u, v = x.view(f"u{n // 8}").astype(object), y.view(f"u{n // 8}").astype(object)
    differ = u != v
    nan = np.isnan(x.astype(np.float64)) | 0, np.isnan(y.astype(np.float64)) | 0
    both, one = differ & (nan[0] & nan[1] == 1), differ & (nan[0] ^ nan[1] == 1)
    zero = differ & (x == 0) & (y == 0)
    value = differ & ~both & ~one & ~zero
    sign = 1 << (n - 1)
    key = [np.array([-(int(k) & (sign - 1)) if int(k) & sign else int(k) for k in w], object) for w in (u, v)]
    ulp = np.abs(key[0] - key[1])[value.astype(bool)]
    with np.errstate(invalid="ignore", over="ignore"):
        apart = np.abs(x.astype(np.float64) - y.astype(np.float64))[value.astype(bool)]
    histogram = collections.Counter(0 if k <= 1 else (int(k) - 1).bit_length() for k in ulp)
    return {"differing": differ.sum(), "value": value.sum(), "zero_sign": zero.sum(), "nan_payload": both.sum(), "nan_one_side": one.sum(),
            "max_ulp": max(ulp, default=0), "max_abs": max(apart, default=0.0)}, histogram


def statistics_of_random_bits():
    for dtype in (np.float16, np.float32, np.float64):
        bits = rng.integers(0, 256, 5000 * np.dtype(dtype).itemsize, dtype=np.uint8)
        x, y = bits.view(dtype).copy(), bits.view(dtype).copy()
        near = y.view(f"u{np.dtype(dtype).itemsize}")
        near[::7] += rng.integers(0, 300, len(near[::7])).astype(near.dtype)
        y[1::11] = rng.integers(0, 256, len(y[1::11]) * y.itemsize, dtype=np.uint8).view(dtype)
        x[5:9], y[5:9] = [0, -0.0, np.nan, 1], [-0.0, 0, 1, np.inf]
        np.save("x.npy", x)
        np.save("y.npy", y)
        want, histogram = reference(x, y)
        got = next(iter(differences(compare("x.npy", "y.npy", status=1)).values()))
        for key, value in want.items():
            have = float("inf") if got[key] == "inf" else got[key]
            assert have == value or key == "max_ulp" and value > 2**63 and have == float(value), (dtype, key, have, value)
        assert {h["log2_max"]: h["elements"] for h in got["ulp_histogram"]} == dict(histogram), dtype


def small_floats():
    """float8 and bfloat16: every pair's distance as torch's own conversion to float64 has
    it."""
    for dtype in (torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz, torch.float8_e8m0fnu, torch.bfloat16):
        n = 256 if dtype.itemsize == 1 else 65536
        ints = np.arange(n, dtype=np.uint8 if n == 256 else np.uint16)
        x = torch.from_numpy(ints).view(dtype)
        y = torch.from_numpy(ints[rng.permutation(n)]).view(dtype)
        torch.save({"t": x}, "x.pt")
        torch.save({"t": y}, "y.pt")
        got = differences(compare("x.pt", "y.pt", status=1))["t"]
        p, q = x.to(torch.float64), y.to(torch.float64)
        differ = torch.from_numpy((raw(x) != raw(y)).any(axis=1))
        both, one = differ & p.isnan() & q.isnan(), differ & (p.isnan() ^ q.isnan())
        zero = differ & (p == 0) & (q == 0)
        value = differ & ~both & ~one & ~zero
        want = float((p - q).abs()[value].max())
        assert got["differing"] == int(differ.sum()) and got["nan_payload"] == int(both.sum()), dtype
        assert got["nan_one_side"] == int(one.sum()) and got["zero_sign"] == int(zero.sum()), dtype
        assert (float("inf") if got["max_abs"] == "inf" else got["max_abs"]) == want, (dtype, got["max_abs"], want)


def complex_and_integers():
    """The largest difference, as numpy has it: of a complex element by its larger part,
    of integers exactly."""
    for kind in (np.complex64, np.complex128, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64):
        x = rng.integers(0, 256, 3000 * np.dtype(kind).itemsize, dtype=np.uint8).view(kind)
        if np.issubdtype(kind, np.complexfloating):
            x = (rng.normal(size=3000) + 1j * rng.normal(size=3000)).astype(kind)
        y = np.where(rng.random(3000) < 0.5, x, np.roll(x, 1))
        torch.save({"t": torch.from_numpy(x.copy())}, "x.pt")
        torch.save({"t": torch.from_numpy(y)}, "y.pt")
        got = differences(compare("x.pt", "y.pt", status=1))["t"]
        if np.issubdtype(kind, np.complexfloating):
            wide = [v.astype(np.complex128) for v in (x, y)]
            want = max(np.abs(wide[0].real - wide[1].real).max(), np.abs(wide[0].imag - wide[1].imag).max())
        else:
            want = float(max(abs(int(p) - int(q)) for p, q in zip(x, y)))
        assert got["max_abs"] == want and got["differing"] == int((x != y).sum()), (kind, got, want)


def views_and_shared_storages():
    base = torch.randn(6, 8)
    views = {"t": base.t(), "cols": base[:, 1:6:2], "row": base[3], "one": base[2, 5], "none": base[:0], "wide": base[:1].expand(5, 8),
             "flip": base.flip(0), "same": base, "perm": torch.randn(2, 3, 4).permute(2, 0, 1), "channels": torch.randn(2, 3, 4, 5).to(
                 memory_format=torch.channels_last), "param": torch.nn.Parameter(base[1:3]), "c": torch.randn(4, dtype=torch.complex64)}
    torch.save(views, "views.pt")
    torch.save({k: v.detach().clone().contiguous() for k, v in views.items()} | {"param": torch.nn.Parameter(base[1:3].clone())}, "packed.pt")
    assert compare("views.pt", "packed.pt", status=0)["tensors"] == len(views)
    safetensors.torch.save_file({k: v.detach().clone().contiguous() for k, v in views.items() if k != "c"}, "packed.safetensors")
    compare("views.pt", "packed.safetensors", "--ignore", "c", status=0)
    other = dict(views, perm=views["perm"].clone())
    other["perm"][3, 1, 2] += 1
    torch.save(other, "other.pt")
    assert list(agrees_with_torch(views, other, compare("views.pt", "other.pt", status=1))) == ["perm"]


def pair(x, y, status):
    """Saves both and compares; x is also saved with its dict turned around, so that the
    same values have other bytes."""
    torch.save(x, "x.pt")
    torch.save(y, "y.pt")
    return compare("x.pt", "y.pt", status=status)


def values_of_other_kinds():
    """What Python calls different is different: the type of a value, of a key, of a
    container."""
    for x, y in [(1, "1"), (None, "None"), (True, "True"), (True, 1), (1, 1.0), ([1], (1,)), ({1: 2}, {"1": 2}), ({None: 1}, {"None": 1}),
                 ({True: 1}, {"True": 1}), ({1, 2}, {1, "2"}), ({1}, [1]), ([], ()), ([], {}), ([1, 2], {"0": 1, "1": 2}), ({"a": {"b": 1}}, {"a.b": 1}),
                 ({(1, 2): 3}, {(1, 3): 3}), ({b"a\0b"}, {b"a\0c"}), ({"a\0b": 1}, {"a\0c": 1}), (b"a\0b", b"a\0c"), (1 << 70, 1 << 71),
                 ({1}, frozenset({1})), (set(), frozenset()), ({"a": 1}, collections.OrderedDict(a=1)), ({}, collections.OrderedDict()),
                 (collections.defaultdict(int, a=1), collections.defaultdict(list, a=1)), (b"a", bytearray(b"a")), (torch.Size([1, 2]), (1, 2)),
                 (np.matrix(np.eye(2)), np.eye(2)), (np.ones(2, np.float32), torch.ones(2)), (np.float32(1), torch.tensor(1.0))]:
        pair({"v": x}, {"v": y}, 1)
        pair({"v": x, "w": 0}, {"w": 0, "v": x}, 0)
    t = torch.ones(2, 2)
    noted = torch.nn.Parameter(t.clone())
    noted.note = "x"
    for x, y in [(t, t.clone().requires_grad_()), (t, torch.nn.Parameter(t)), (torch.nn.Parameter(t), noted), ([t], (t,)), ({1: t}, {"1": t})]:
        pair({"v": x}, {"v": y}, 1)
        pair({"v": x, "w": 0}, {"w": 0, "v": x}, 0)


def tensors_of_other_layouts():
    base, c = torch.randn(3, 4), torch.randn(3, dtype=torch.complex64)
    eye, points = torch.eye(3).to_sparse(), torch.tensor([[0, 1, 2], [0, 1, 2]])
    pair(eye, torch.sparse_coo_tensor(points, torch.ones(3), (4, 4)).coalesce(), 1)
    pair(torch.eye(3).to_sparse_csr(), torch.eye(3).to_sparse_csc(), 1)
    pair(torch.quantize_per_tensor(base, 0.1, 0, torch.qint8), torch.quantize_per_tensor(base, 0.2, 0, torch.qint8), 1)
    nested = [torch.nested.nested_tensor([torch.ones(2, 3), torch.full((4, 3), float(k))]) for k in (1, 2)]
    pair(*nested, 1)
    scales, zeros = torch.tensor([0.1, 0.2, 0.3]), torch.tensor([0, 0, 0])
    for x in (eye, torch.eye(3).to_sparse_csr(), torch.eye(4).to_sparse_bsr((2, 2)), nested[0], torch.quantize_per_tensor(base, 0.1, 0, torch.qint8),
              torch.quantize_per_tensor(base, 0.1, 0, torch.qint32), torch.quantize_per_channel(base, scales, zeros, 0, torch.quint8),
              torch.quantize_per_channel(base, scales, zeros.double(), 0, torch.quint4x2)):
        assert pair({"v": x, "w": 0}, {"w": 0, "v": x}, 0)["tensors"] >= 1
    for x, y in [(c.conj(), c.conj().resolve_conj()), (c.conj().imag, c.conj().resolve_conj().imag.clone())]:
        assert pair(x, y, 0)["tensors"] == 1 and pair(x, y + 1, 1)["tensors_differ"] == 1
    assert pair(c.conj(), c, 1)["tensors_differ"] == 1


def modules_before_torch_1_6():
    """Their pickle names classes of the program by persistent ids."""
    torch.manual_seed(3)
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU())
    torch.save(model, "new.pt")
    torch.save(model, "old.pt", _use_new_zipfile_serialization=False)
    assert compare("old.pt", "new.pt", status=0)["tensors"] == 2


class Config:
    """A class that the reader has never heard of, with slots, a cycle and a set."""
    __slots__ = ("parent", "__dict__")

    def __init__(self, width):
        self.parent, self.width, self.names = self, width, {"a", "b"}


def whole_modules():
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
    model.config, model.note = Config(3), [1, {2: "x"}]
    torch.save(model, "a.pt")
    again = torch.load("a.pt", weights_only=False)
    out = pair({"m": model, "e": 1}, {"e": 1, "m": again}, 0)
    assert out["tensors"] == 7 and out["values"] > 5 and out["values_not_read"] == 0
    again.config.width = 4
    assert list(differences(pair(model, again, 1))) == ["config.width"]
    again.config.width, again[1].eps = 3, 2e-5
    assert list(differences(pair(model, again, 1))) == ["1.eps"]
    names = {d["name"] for d in compare("a.pt", "y.pt", "--ignore", "*.eps", status=0)["results"][0]["differences"]}
    assert not names
    plain = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
    torch.save(plain, "plain.pt")
    torch.save(plain.state_dict(), "state.pt")
    # the names are those of the state_dict
    assert compare("plain.pt", "state.pt", status=1)["tensors_differ"] == 0


def programs():
    for seed, name in ((1, "a.pt"), (1, "b.pt"), (2, "c.pt")):
        torch.manual_seed(seed)
        torch.jit.save(torch.jit.script(torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU())), name)
    torch.jit.save(torch.jit.load("a.pt"), "d.pt")
    assert compare("a.pt", "b.pt", status=0)["tensors"] == 2
    assert compare("a.pt", "d.pt", status=0)["tensors"] == 2
    assert compare("a.pt", "c.pt", status=1)["tensors_differ"] == 2
    torch.jit.save(torch.jit.script(torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh())), "e.pt")
    found = differences(compare("c.pt", "e.pt", status=1))
    assert any(name.startswith("code/") for name in found), found


def pickles():
    a = {"a": np.arange(3), "o": np.array([{}, None, "x"], dtype=object), "t": torch.ones(2), "f": np.asfortranarray(rng.normal(size=(2, 3))),
         "r": np.array([(1, 2.0)], dtype=np.dtype([("i", "<i2"), ("x", "<f8")], align=True)), "d": np.datetime64("2026-01-01"), "c": Config(1)}
    pathlib.Path("a.pkl").write_bytes(pickle.dumps(a))
    a["e"] = "a\\b\n\u00e9\u20ac\U0001f600"
    pathlib.Path("a.pkl").write_bytes(pickle.dumps(a))
    for protocol in (2, 3, 4, 5):
        pathlib.Path("b.pkl").write_bytes(pickle.dumps(dict(reversed(a.items())), protocol))
        out = compare("a.pkl", "b.pkl", status=0)
        assert out["tensors"] == 6 and out["values"] > 5, out["verdict"]
    simple = {k: v for k, v in a.items() if k != "c"}  # slots need protocol 2
    pathlib.Path("s.pkl").write_bytes(pickle.dumps(simple))
    for protocol in (0, 1):
        pathlib.Path("b.pkl").write_bytes(pickle.dumps(dict(reversed(simple.items())), protocol))
        compare("s.pkl", "b.pkl", status=0)
    a["r"]["x"] = 3
    pathlib.Path("b.pkl").write_bytes(pickle.dumps(a))
    assert list(differences(compare("a.pkl", "b.pkl", status=1))) == ["r.x"]
    for name, unit in (("a.pkl", "D"), ("b.pkl", "h")):
        pathlib.Path(name).write_bytes(pickle.dumps(np.array([3], f"M8[{unit}]")))
    compare("a.pkl", "b.pkl", status=1)
    # a reference out of the file is not read, and does not refuse it

    class Outward(pickle.Pickler):
        def persistent_id(self, obj):
            return ("model", 7) if obj is Config else None

    for name, value in (("a.pkl", {"c": Config, "n": 1}), ("b.pkl", {"n": 1, "c": Config}), ("c.pkl", {"n": 2, "c": Config})):
        with open(name, "wb") as f:
            Outward(f).dump(value)
    for other, status, verdict in (("b.pkl", 3, "undecided: "), ("c.pkl", 1, "differs: ")):
        r = subprocess.run([lockstep, "compare", "a.pkl", other], capture_output=True, text=True)
        assert r.returncode == status and r.stdout.startswith(verdict) and "1 value not read" in r.stdout, (other, r.stdout)


def shards_of_torch():
    tensors = {f"w{i}": torch.randn(3, i + 1) for i in range(4)}
    for folder, cut in (("one", 1), ("two", 3)):
        os.makedirs(folder)
        names = list(tensors)
        parts = {f"pytorch_model-{i + 1}-of-2.bin": part for i, part in enumerate((names[:cut], names[cut:]))}
        for file, keys in parts.items():
            torch.save({k: tensors[k] for k in keys}, f"{folder}/{file}")
        index = {"metadata": {}, "weight_map": {k: f for f, keys in parts.items() for k in keys}}
        pathlib.Path(folder, "pytorch_model.bin.index.json").write_text(json.dumps(index))
    assert compare("one", "two", status=0)["tensors"] == 4
    torch.save(tensors, "whole.pt")
    assert compare("one/pytorch_model.bin.index.json", "whole.pt", status=0)["tensors"] == 4
    torch.save({k: tensors[k] + 1 for k in names[3:]}, "two/pytorch_model-2-of-2.bin")
    assert compare("one", "two", status=1)["tensors_differ"] == 1


def on_two_ranks(work):
    """Runs work(rank) in two processes that know each other by a file."""
    children = []
    for rank in range(2):
        child = os.fork()
        if child == 0:
            status = 1
            try:
                torch.distributed.init_process_group("gloo", init_method=f"file://{os.getcwd()}/meet", rank=rank, world_size=2)
                work(rank)
                status = 0
            finally:
                sys.stderr.flush()
                os._exit(status)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0]
    pathlib.Path("meet").unlink(missing_ok=True)


def tensorboard_logs():
    """Scalars by tag, whatever the time and the process."""
    from torch.utils.tensorboard import SummaryWriter
    for folder, value, suffix in (("tb1", 1.0, ".x"), ("tb2", 1.0, ".y"), ("tb3", 2.0, ".z")):
        with SummaryWriter(folder, filename_suffix=suffix) as log:
            for step in range(20):
                log.add_scalar("train/loss", value / (step + 1), step * 10)
                log.add_scalar("new", 0.5, step, new_style=True)
                log.add_scalar("double", 0.5, step, new_style=True, double_precision=True)
            log.add_histogram("h", np.arange(10.0), 3)
            log.add_text("t", "hello")
    out = compare("tb1", "tb2", status=0)
    assert out["files"] == 1 and out["tensors"] == 6 and out["values"] > 2, out["verdict"]
    found = differences(compare("tb1", "tb3", status=1))
    assert list(found) == ["train/loss"] and found["train/loss"]["differing"] == 20
    log = next(pathlib.Path("tb1").iterdir())
    data = log.read_bytes()
    # a step later, a damaged byte, a record cut short
    with SummaryWriter("tb4") as other:
        other.add_scalar("s", 1.0, 1)
    with SummaryWriter("tb5") as other:
        other.add_scalar("s", 1.0, 2)
    assert list(differences(compare("tb4", "tb5", status=1))) == ["s: steps"]
    for bad in (data[:-1], data[:100] + bytes([data[100] ^ 1]) + data[101:]):
        pathlib.Path("bad").write_bytes(bad)
        assert "damaged or cut short" in compare(log, "bad", status=2)


def distributed_checkpoints():
    """Every save has an id of its own in .metadata; tensors and values decide."""
    import torch.distributed.checkpoint as dcp
    from torch.distributed.tensor import Shard, distribute_tensor, init_device_mesh

    def work(rank):
        mesh = init_device_mesh("cpu", (2,))
        for folder, value, step in (("dcp1", 1.0, 3), ("dcp2", 1.0, 3), ("dcp3", 2.0, 3), ("dcp4", 1.0, 4)):
            whole = torch.full((4, 2), value)
            dcp.save({"m": {"w": whole, "d": distribute_tensor(whole, mesh, [Shard(0)])}, "step": step, "o": [1, {"a": torch.ones(2)}]},
                     checkpoint_id=folder)
            torch.save(distribute_tensor(whole, mesh, [Shard(0)]), f"{folder}-{rank}.pt")

    on_two_ranks(work)
    out = compare("dcp1", "dcp2", status=0)
    assert out["files"] == 1 and out["tensors"] == 4, out["verdict"]
    compare("dcp1-0.pt", "dcp2-0.pt", status=0)
    assert set(differences(compare("dcp1", "dcp3", status=1))) == {"m.w", "m.d[0, 0]", "m.d[2, 0]"}
    assert compare("dcp1-1.pt", "dcp3-1.pt", status=1)["tensors_differ"] == 1
    assert set(differences(compare("dcp1", "dcp4", status=1))) == {"step"}
    os.truncate("dcp4/__1_0.distcp", 100)
    assert "ends before" in compare("dcp1", "dcp4", status=1)["results"][0]["note"]


def checkpoint(seed, steps=3):
    torch.manual_seed(seed)
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.Flatten(), torch.nn.Linear(144, 5))
    optimizers = [torch.optim.AdamW(model.parameters(), amsgrad=True), torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)]
    schedule = torch.optim.lr_scheduler.StepLR(optimizers[0], 2)
    for _ in range(steps):
        model(torch.randn(2, 3, 8, 8)).square().sum().backward()
        for o in optimizers:
            o.step()
        schedule.step()
    return {"epoch": 2, "global_step": steps, "pytorch-lightning_version": "2.5.0", "state_dict": model.state_dict(),
            "loops": {"fit_loop": {"state_dict": {}, "epoch_progress": {"total": {"ready": 1}}}},
            "callbacks": {"ModelCheckpoint{'monitor': 'val/f1'}": {"best_model_score": torch.tensor(0.75), "best_k_models": {},
                                                                   "best_model_path": "x.ckpt"}},
            "optimizer_states": [o.state_dict() for o in optimizers], "lr_schedulers": [schedule.state_dict()],
            "hyper_parameters": {"lr": 0.1, "shape": torch.Size([2, 3]), "device": torch.device("cuda:0"), "dtype": torch.bfloat16,
                                 "layers": (1, 2), "np": np.float32(1.5), "arr": np.arange(6).reshape(2, 3), "path": pathlib.Path("a/b")},
            "rng": torch.get_rng_state(), "best": float("nan"), "big": 1 << 100, "z": 1 + 2j, "tags": {"b", "a"}, "raw": b"\x00\xff"}


def checkpoints():
    one = checkpoint(1)
    torch.save(one, "1.ckpt")
    torch.save(torch.load("1.ckpt", weights_only=False), "2.ckpt")
    out = compare("1.ckpt", "2.ckpt", status=0)
    count = len([0 for _, v in walk(one) if isinstance(v, (torch.Tensor, np.ndarray, np.generic))])
    assert out["tensors"] == count, (out["tensors"], count)
    for protocol in (3, 4, 5):
        torch.save(one, "p.ckpt", pickle_protocol=protocol)
        compare("1.ckpt", "p.ckpt", status=0)
    torch.save(checkpoint(1), "again.ckpt")
    compare("1.ckpt", "again.ckpt", status=0)
    torch.save(checkpoint(2), "seed.ckpt")
    assert compare("1.ckpt", "seed.ckpt", status=1)["tensors_differ"] > 20
    changed = torch.load("1.ckpt", weights_only=False)
    changed["epoch"] = 3
    changed["optimizer_states"][0]["param_groups"][0]["lr"] = 0.5
    changed["hyper_parameters"]["dtype"] = torch.float16
    torch.save(changed, "c.ckpt")
    found = differences(compare("1.ckpt", "c.ckpt", status=1))
    assert set(found) == {"epoch", "optimizer_states.0.param_groups.0.lr", "hyper_parameters.dtype"}, found
    torch.save(one, "old.pt", _use_new_zipfile_serialization=False)
    assert compare("old.pt", "1.ckpt", status=0)["tensors"] == count


def tar_of_2016(path, value, pax):
    """The four members that torch.save wrote before 0.2; torch.load still reads them."""
    storages, tensors, state = io.BytesIO(), io.BytesIO(), io.BytesIO()
    pickle.dump(1, storages, 2)
    pickle.dump((1, "cpu", torch.FloatStorage), storages, 2)
    storages.write(struct.pack("<q", value.numel()) + value.numpy().tobytes())
    pickle.dump([], storages, 2)
    pickle.dump(1, tensors, 2)
    pickle.dump((2, 1, torch.FloatTensor), tensors, 2)
    tensors.write(struct.pack("<ii2q2qq", 2, 0, *value.shape, *value.stride(), 0))

    class Pickler(pickle.Pickler):
        def persistent_id(self, obj):
            return "2" if isinstance(obj, torch.Tensor) else None
    Pickler(state, 2).dump({"w": value})
    with tarfile.open(path, "w:", format=tarfile.PAX_FORMAT) as tar:
        for name, data in (("sys_info", pickle.dumps({"protocol_version": 1000})), ("pickle", state.getvalue()), ("tensors", tensors.getvalue()),
                           ("storages", storages.getvalue())):
            info = tarfile.TarInfo(name)
            # a time with a fraction needs an extended header
            info.size, info.mtime = len(data), 1.5 if pax else 1
            tar.addfile(info, io.BytesIO(data))


def legacy_files():
    value = torch.arange(6.0).reshape(2, 3)
    for pax in (False, True):
        tar_of_2016("2016.pt", value, pax)
        assert torch.equal(torch.load("2016.pt", weights_only=False)["w"], value)
        compare("2016.pt", "2016.pt", status=0)
        tar_of_2016("other.pt", value + 1, pax)
        assert "tar format of 2016" in compare("2016.pt", "other.pt", status=2)


class Holes(io.FileIO):
    """Zeros are not written but left out: a large file that takes no room."""
    def write(self, data):
        if len(data) >= 1 << 16 and not any(memoryview(data)[:64]) and not any(memoryview(data)[-64:]):
            self.seek(len(data), 1)
            return len(data)
        return super().write(data)


def zip64():
    """A checkpoint of 4.4 GiB, whose archive needs 64-bit sizes and offsets, as torch
    lays it out and reads it."""
    n, block = 1100 << 20, bytes(16 << 20)
    storages, pickled = [], io.BytesIO()
    value = {"big": make.Tensor(make.Storage(b"", n), (n,)), "small": make.Tensor(make.Storage(make.floats(1, 2)), (2,))}
    make.Pickler(pickled, storages).dump(value)
    with Holes("big.pt", "wb") as file, zipfile.ZipFile(file, "w") as z:
        z.writestr("archive/data.pkl", pickled.getvalue())
        with z.open("archive/data/0", "w", force_zip64=True) as f:
            for _ in range(4 * n // len(block)):
                f.write(block)
        z.writestr("archive/data/1", storages[1].data)
        z.writestr("archive/version", "3\n")
        places = {i.filename: i.header_offset for i in z.infolist()}
    loaded = torch.load("big.pt", mmap=True)
    assert loaded["small"].tolist() == [1, 2] and loaded["big"][-1] == 0 and os.path.getsize("big.pt") > 1 << 32
    subprocess.run(["cp", "--sparse=always", "big.pt", "other.pt"], check=True)
    assert compare("big.pt", "other.pt", status=0)["tensors"] == 2
    with open("other.pt", "r+b") as f:
        f.seek(places["archive/data/1"] - 4)
        f.write(make.floats(3))
    found = differences(compare("big.pt", "other.pt", status=1))
    assert set(found) == {"big"} and found["big"]["first"] == f"[{n - 1}]" and found["big"]["max_abs"] == 3, found


def walk(obj, path=()):
    if isinstance(obj, dict):
        for k, v in obj.items():
            yield from walk(v, path + (k,))
    elif isinstance(obj, (list, tuple)):
        for i, v in enumerate(obj):
            yield from walk(v, path + (i,))
    else:
        yield path, obj


# --- safetensors ---

def safetensors_files():
    kinds = [torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64,
             torch.bool, torch.float8_e4m3fn, torch.float8_e5m2, torch.uint16, torch.uint32, torch.uint64]
    tensors = {str(k): torch.from_numpy(rng.integers(0, 2, 6 * k.itemsize, dtype=np.uint8)).view(k).reshape(3, 2) for k in kinds}
    tensors["empty"], tensors["scalar"] = torch.zeros(0, 3), torch.tensor(2.5)
    safetensors.torch.save_file(tensors, "all.safetensors", metadata={"format": "pt"})
    torch.save(tensors, "all.pt")
    assert compare("all.safetensors", "all.pt", status=0)["tensors"] == len(tensors)
    names = list(tensors)
    parts = {"model-1-of-2.safetensors": names[:7], "model-2-of-2.safetensors": names[7:]}
    for file, keys in parts.items():
        safetensors.torch.save_file({k: tensors[k] for k in keys}, file)
    index = {"metadata": {"total_size": 1}, "weight_map": {k: f for f, keys in parts.items() for k in keys}}
    pathlib.Path("model.safetensors.index.json").write_text(json.dumps(index))
    assert compare("model.safetensors.index.json", "all.safetensors", status=0)["tensors"] == len(tensors)
    safetensors.torch.save_file(tensors, "meta.safetensors", metadata={"format": "pt", "x": "1"})
    assert list(differences(compare("all.safetensors", "meta.safetensors", status=1))) == ["x"]


def what_lockstep_writes():
    data = pathlib.Path(__file__).parent.parent / "data" / "small.svm"
    subprocess.run([lockstep, "fm", "train", data, "-o", "model.safetensors", "--epochs", "1"], check=True, capture_output=True)
    with safetensors.safe_open("model.safetensors", "np") as f:
        assert len(f.keys()) > 0 and f.metadata()
        arrays = {k: f.get_tensor(k) for k in f.keys()}
    safetensors.numpy.save_file(arrays, "again.safetensors")
    assert "nothing was compared" in compare("model.safetensors", "again.safetensors", "--ignore", "*", status=2)
    out = compare("model.safetensors", "again.safetensors")
    assert out["tensors"] == len(arrays) and out["tensors_differ"] == 0


# --- numpy ---

def numpy_files():
    arrays = {"f": np.asfortranarray(rng.normal(size=(4, 5))), "big": rng.normal(size=7).astype(">f4"), "i": np.arange(-3, 3, dtype=">i8"),
              "b": np.array([True, False]), "c": rng.normal(size=3) * 1j, "empty": np.zeros((0, 2), np.float16), "scalar": np.array(3.5),
              "text": np.array(["ab", "c"]), "bytes": np.array([b"x", b"yz"]), "date": np.array(["2026-01-01"], "M8[D]"),
              "rec": np.array([(1, 2.0)], dtype=[("a", "<i4"), ("b", "<f8")]), "big_c": (rng.normal(size=3) * 1j).astype(">c16")}
    np.savez("plain.npz", **arrays)
    np.savez_compressed("packed.npz", **arrays)
    assert compare("plain.npz", "packed.npz", status=0)["tensors"] == len(arrays)
    native = {k: np.ascontiguousarray(v.astype(v.dtype.newbyteorder("<"))) if k not in ("rec",) else v for k, v in arrays.items()}
    np.savez("native.npz", **native)
    native["scalar"] = np.array(3.5)
    np.savez("native.npz", **native)
    compare("packed.npz", "native.npz", status=0)
    changed = dict(arrays, f=arrays["f"].copy(order="F"))
    changed["f"][2, 3] = 7
    np.savez_compressed("changed.npz", **changed)
    found = differences(compare("plain.npz", "changed.npz", status=1))
    assert list(found) == ["f"] and found["f"]["first"] == "[2, 3]" and found["f"]["differing"] == 1
    plain = {k: v for k, v in native.items() if k in ("f", "big", "i", "b", "scalar")}
    safetensors.numpy.save_file(plain, "np.safetensors")
    np.savez("np.npz", **plain)
    compare("np.npz", "np.safetensors", status=0)
    np.savez("object.npz", o=np.array([{}], dtype=object))
    np.savez("object2.npz", o=np.array([{1: 2}], dtype=object))
    assert "Python objects" in compare("object.npz", "object2.npz", status=2)
    damaged = bytearray(pathlib.Path("packed.npz").read_bytes())
    damaged[damaged.index(b"f.npy") + 60] ^= 0x40
    pathlib.Path("damaged.npz").write_bytes(damaged)
    assert "f.npy" in compare("packed.npz", "damaged.npz", status=2)


def matlab_files():
    """The header has the time of the save."""
    import scipy.io
    import scipy.sparse
    a = {"f": rng.normal(size=(3, 4)), "z": rng.normal(size=4) * 1j, "i": np.arange(5, dtype=np.int16), "s": "text \u00e9", "b": np.array([True, False]),
         "c": np.array([1, "a", np.eye(2)], dtype=object), "t": {"x": 1, "y": {"n": "m"}}, "e": np.zeros((0, 3)), "p": scipy.sparse.eye(4, format="csc"),
         "d": np.arange(24.0).reshape(2, 3, 4), "h": np.float32(2.5), "r": np.array([(1, 2.0), (3, 4.0)], dtype=[("u", "i4"), ("v", "f8")])}
    scipy.io.savemat("a.mat", a)
    data = bytearray(pathlib.Path("a.mat").read_bytes())
    data[60:64] = b"1999"
    pathlib.Path("b.mat").write_bytes(data)
    out = compare("a.mat", "b.mat", status=0)
    assert out["tensors"] > 15 and out["values_not_read"] == 0, out["verdict"]
    scipy.io.savemat("packed.mat", a, do_compression=True)
    compare("a.mat", "packed.mat", status=0)
    scipy.io.savemat("named.mat", dict(reversed(a.items())), long_field_names=True)
    compare("a.mat", "named.mat", status=0)
    for change in ({"f": a["f"].T}, {"f": a["f"] + 1}, {"z": a["z"].conj()}, {"i": a["i"].astype(np.int32)}, {"s": "text \u00e8"}, {"b": np.uint8([1, 0])},
                   {"c": a["c"][:2]}, {"t": {"x": 1, "y": {"n": "o"}}}, {"t": {"x": 1}}, {"e": np.zeros((3, 0))},
                   {"p": scipy.sparse.csc_matrix((np.ones(4), np.arange(4), np.arange(5)), shape=(5, 4))}, {"d": a["d"].reshape(4, 3, 2)}):
        scipy.io.savemat("c.mat", a | change)
        assert set(change) >= {name[0] for name in differences(compare("a.mat", "c.mat", status=1))}, change
    damaged = bytearray(data)
    damaged[136] ^= 0x7f
    for bad in (data[:-9], damaged):
        pathlib.Path("bad.mat").write_bytes(bad)
        assert "bad.mat" in compare("a.mat", "bad.mat", status=2)


# --- YAML ---

def yaml_files():
    """A configuration in PyYAML's styles, and what Lightning writes of hyperparameters.
    """
    import yaml
    from lightning.pytorch.core.saving import save_hparams_to_yaml
    a = {"lr": 1e-4, "big": 2**60, "switch": "off", "flag": True, "none": None, "texts": ["1", "1.5", "null", "", " lead", "it's", 'a "b"', "a: b", "a #b", "- x", "[x]"],
         "long": "word " * 40, "lines": "one\n\n  two\nthree\n", "umlaut": "\u00e9\u20ac\U0001f600\t", "nested": [[1, {"a": [], "b": {}}], [{"c": 2.5, "d": [3]}]],
         1: "key", "inf": float("inf"), "nan": float("nan"), "path": "C:\\x", "address": "http://a/b?c=d&e#f", "shared": [1, 2]}
    a["again"] = a["shared"]
    styles = ({}, {"default_flow_style": None}, {"default_flow_style": True}, {"width": 20}, {"sort_keys": False, "allow_unicode": True},
              {"indent": 4, "explicit_start": True, "explicit_end": True})
    pathlib.Path("a.yaml").write_text(yaml.safe_dump(a))
    count = sum(1 for _ in walk(a)) + 2  # and an empty list and an empty dict
    for style in styles:
        pathlib.Path("b.yml").write_text(yaml.safe_dump(a, **style))
        assert compare("a.yaml", "b.yml", status=0)["values"] == count, style
        for change in ({"lr": 2e-4}, {"big": 2**60 + 1}, {"switch": False}, {"flag": "true"}, {"none": "null"}, {"lines": "one\n\n  two\nthree"}, {"1": "x"}, {"nan": 1.0},
                       {"umlaut": "\u00e8"}):
            pathlib.Path("c.yml").write_text(yaml.safe_dump(a | change, **style))
            found = set(differences(compare("a.yaml", "c.yml", status=1)))
            assert found == ({'"1"'} if "1" in change else set(change)), (style, change, found)
    for name, layers in (("h.yaml", (1, 2)), ("i.yaml", (1, 2)), ("j.yaml", (1, 3))):
        save_hparams_to_yaml(name, {"layers": layers, "lr": 0.1, "name": name[:0]})
    pathlib.Path("i.yaml").write_text("# the same\n" + pathlib.Path("i.yaml").read_text())
    compare("h.yaml", "i.yaml", status=0)
    assert len(differences(compare("h.yaml", "j.yaml", status=1))) == 1


# --- onnx ---

def model(tensors):
    return helper.make_model(helper.make_graph([], "g", [], [], initializer=tensors))


def onnx_files():
    arrays = {"f": rng.normal(size=(2, 3)).astype(np.float32), "d": rng.normal(size=3), "i8": np.array([-1, 2], np.int8),
              "u8": np.array([200], np.uint8), "i16": np.array([-300], np.int16), "i32": np.array([[-5, 6]], np.int32),
              "i64": np.array([-7, 8]), "u64": np.array([9], np.uint64), "b": np.array([True, False]), "h": np.array([1.5, -0.0], np.float16)}
    onnx.save(model([numpy_helper.from_array(v, k) for k, v in arrays.items()]), "raw.onnx")
    typed = [helper.make_tensor(k, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape, v.flatten().tolist()) for k, v in arrays.items()]
    onnx.save(model(typed), "typed.onnx")
    compare("raw.onnx", "typed.onnx", status=0)
    np.savez("onnx.npz", **arrays)
    out = compare("raw.onnx", "onnx.npz", "--ignore", "*without*", status=0)
    assert out["tensors"] == len(arrays)
    os.makedirs("ext")
    onnx.save(model([numpy_helper.from_array(v, k) for k, v in arrays.items()]), "ext/m.onnx", save_as_external_data=True, location="w.bin",
              size_threshold=0)
    compare("raw.onnx", "ext/m.onnx", status=0)
    odd = [helper.make_tensor("i4", TensorProto.INT4, [3], [1, -2, 3]), helper.make_tensor("bf", TensorProto.BFLOAT16, [2], [1.0, -2.0]),
           helper.make_tensor("f8", TensorProto.FLOAT8E4M3FN, [2], [1.0, 2.0])]
    onnx.save(model(odd), "odd.onnx")
    assert compare("odd.onnx", "odd.onnx", status=0)["tensors"] == 3
    outside = onnx.load("ext/m.onnx", load_external_data=False)
    outside.graph.initializer[0].external_data[0].value = "../raw.onnx"
    pathlib.Path("ext/out.onnx").write_bytes(outside.SerializeToString())
    assert "outside of the model's folder" in compare("ext/out.onnx", "ext/out.onnx", status=2)
    nodes = onnx.load("raw.onnx")
    nodes.graph.name = "other"
    onnx.save(nodes, "nodes.onnx")
    assert list(differences(compare("raw.onnx", "nodes.onnx", status=1))) == ["graph without initializers"]


# --- hostile files: refused, and in little memory ---

def hostile():
    """In 256 MiB of address space, program and libraries included. Programs are data:
    they differ from the good file."""
    bounded = 'ulimit -v 262144; exec "$0" compare "$1" "$2"'
    torch.save({"w": torch.ones(2)}, "good.pt")
    np.savez("good.npz", w=np.ones(2, np.float32))
    safetensors.numpy.save_file({"w": np.ones(2, np.float32)}, "good.safetensors")
    onnx.save(model([numpy_helper.from_array(np.ones(2, np.float32), "w")]), "good.onnx")
    for name, build in make.HOSTILE.items():
        build(name)
        data = name in ("evil-call.pt", "cyclic.pt", "script.pt")
        r = subprocess.run(["bash", "-c", bounded, lockstep, name, "good" + pathlib.Path(name).suffix], capture_output=True, text=True)
        assert r.returncode == (1 if data else 2), (name, r.returncode, r.stdout, r.stderr)
        assert data or name in r.stderr and len(r.stderr) > 30, (name, r.stderr)
    assert not os.path.exists("pwned")


tests = [every_dtype, statistics_of_random_bits, tolerance, small_floats, complex_and_integers,
         views_and_shared_storages, values_of_other_kinds, tensors_of_other_layouts, whole_modules,
         modules_before_torch_1_6, programs, pickles,
         shards_of_torch, tensorboard_logs, distributed_checkpoints, checkpoints, legacy_files, safetensors_files, what_lockstep_writes,
         numpy_files, matlab_files, yaml_files, onnx_files, hostile]
for test in [globals()[name] for name in sys.argv[2:]] or tests:
    test()
    print("ok", test.__name__)
subprocess.run(["rm", "-r", os.getcwd()], check=True)
