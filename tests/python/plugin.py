"""The pytest plugin: assert_bitwise names what differs and refuses what cannot be compared;
requires_gpu skips without a GPU, and fails there where one is required.
"""
import collections
import contextlib
import dataclasses
import io
import os
import random
import tempfile

import numpy as np
import pytest
import torch

from lockstep import pytest_plugin
from lockstep.pytest_plugin import check_bitwise

NAN = [np.array([v], np.uint32).view(np.float32) for v in (0x7fc00000, 0x7fc00001)]


def in_turn(*values):
    left = list(values)
    return lambda: left.pop(0)


def differs(first, second, *words):
    try:
        check_bitwise(in_turn(first, second))
    except AssertionError as fault:
        assert all(w in str(fault) for w in words), fault
        return fault.difference
    raise AssertionError("%r and %r pass" % (first, second))


def refused(kind, call, *words):
    try:
        call()
    except kind as fault:
        assert not isinstance(fault, AssertionError) and all(w in str(fault) for w in words), fault
        return
    raise AssertionError("not refused")


@dataclasses.dataclass
class Result:
    loss: float
    weights: torch.Tensor


def values():
    """Equal bits pass, and each of these is told apart by name, place and both values."""
    Pair = collections.namedtuple("Pair", "a b")
    model = torch.nn.Linear(2, 2)
    for same in (torch.ones(2, 3), np.float32(2), 1.5, {"a": [torch.zeros(1), {"b": 2}], "c": None}, model, Pair(1, "x"),
                 Result(0.1, torch.ones(2)), torch.tensor([float("nan")]), torch.ones(3, dtype=torch.bfloat16), b"abc", torch.ones(0, 2)):
        assert check_bitwise(lambda same=same: same, runs=3) is same
    a, b = torch.ones(40, 30), torch.ones(40, 30)
    b[17, 4] = torch.nextafter(torch.tensor(1.0), torch.tensor(2.0))
    b[20, 1] = 7
    found = differs({"m": {"w": a}}, {"m": {"w": b}}, "m.w[17, 4]", "1.0 (0x3f800000)", "1.0000001192092896 (0x3f800001)", "2 of 1200")
    assert (found.name, found.index) == ("m.w", (17, 4))
    differs(torch.tensor(0.0), torch.tensor(-0.0), "0x00000000", "0x80000000")
    differs(NAN[0], NAN[1], "0x7fc00000", "0x7fc00001")
    differs(torch.ones(2, dtype=torch.bfloat16), torch.tensor([1, 2], dtype=torch.bfloat16), "[1]", "0x3f80", "0x4000")
    differs(0.1, 0.1 + 2**-55, "0.1", "0x")
    differs([1, 2], [1, 3], "1 differs", "'2'", "'3'")
    differs({"a": 1}, {"a": 1, "b": 2}, "b is in one")
    differs(torch.ones(2), torch.ones(2, dtype=torch.float64), "type", "float32", "float64")
    differs(torch.ones(2), torch.ones(2, 1), "shape", "[2, 1]")
    differs(torch.ones(2), np.ones(2, np.float32), "kind", "tensor", "array")
    differs(1, True, "kind")
    weights = torch.ones(2)

    def in_place():
        return weights.add_(1)  # one object, other values
    try:
        check_bitwise(in_place)
    except AssertionError:
        pass
    else:
        raise AssertionError("a result was compared with itself")
    refused(ValueError, lambda: check_bitwise(lambda: None), "nothing to compare")
    refused(ValueError, lambda: check_bitwise(lambda: {"a": [], "b": None}), "nothing to compare")
    refused(ValueError, lambda: check_bitwise(random.random, runs=1), "2 are the fewest")
    refused(TypeError, lambda: check_bitwise(lambda: {"s": {1, 2}}), "s: a set")
    refused(TypeError, lambda: check_bitwise(lambda: torch.eye(2).to_sparse()), "sparse")


TESTS = '''
import numpy as np
import pytest

def test_same(assert_bitwise):
    assert assert_bitwise(lambda: np.random.default_rng(3).random(4), runs=3).shape == (4,)

def test_differs(assert_bitwise):
    rng = np.random.default_rng(3)
    assert_bitwise(lambda: {"x": rng.random(4)})

@pytest.mark.requires_gpu
def test_gpu(assert_bitwise):
    assert_bitwise(lambda: 1)

@pytest.mark.requires_gpu
def test_own_skip():
    pytest.skip("no peer access")

@pytest.mark.requires_gpu
@pytest.mark.xfail(reason="known")
def test_known():
    raise ValueError
'''


def pytest_says(fault, *args, **env):
    """(exit status, what it prints) where GPUs are as `fault` says."""
    real, pytest_plugin.gpu_fault = pytest_plugin.gpu_fault, lambda: fault
    os.environ.update(env)
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            status = pytest.main(["-p", "lockstep.pytest_plugin", "-p", "no:cacheprovider", "--strict-markers", "-rA", "test_one.py", *args])
    finally:
        pytest_plugin.gpu_fault = real
        for name in env:
            del os.environ[name]
    return int(status), out.getvalue()


def has(text, *words):
    for w in words:
        assert w in text, "%s is not in\n%s" % (w, text)


def plugin():
    with open("test_one.py", "w", encoding="ascii") as f:
        f.write(TESTS)
    status, said = pytest_says("no GPU here")
    assert status == 1
    has(said, "1 failed, 1 passed, 3 skipped", "BitsDiffer: run 1 and run 2 differ: x[0]", "4 of 4 elements of float64 [4] differ",
        "requires a GPU: no GPU here", "not judged: test_one.py::test_gpu", "0 judged, 3 not")
    for how in ((["--lockstep-require-gpu"], {}), ([], {"LOCKSTEP_REQUIRE_GPU": "1"})):
        status, said = pytest_says("no GPU here", "-k", "test_gpu or own or known", *how[0], **how[1])
        assert status == 1
        has(said, "3 errors", "requires a GPU, and a GPU is required here: no GPU here", "0 judged, 3 not")
    status, said = pytest_says("no GPU here", "-k", "test_gpu", LOCKSTEP_REQUIRE_GPU="0")
    assert status == 0 and "1 skipped" in said
    status, said = pytest_says("", "-k", "test_gpu or own or known", "--lockstep-require-gpu")
    assert status == 1
    has(said, "1 failed, 1 passed", "1 xfailed", "was not judged, where a GPU is required: Skipped: no peer access",
        "judged: test_one.py::test_gpu", "judged: test_one.py::test_known", "not judged: test_one.py::test_own_skip", "2 judged, 1 not")
    status, said = pytest_says("", "-k", "same")
    assert status == 0 and "require a GPU" not in said


assert bool(pytest_plugin.gpu_fault()) != torch.cuda.is_available()
os.chdir(tempfile.mkdtemp())
values()
plugin()
print("assert_bitwise and requires_gpu judge")
