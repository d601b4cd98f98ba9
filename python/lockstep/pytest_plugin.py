"""What pytest gets with this package.

assert_bitwise(fn, runs=2): a fixture; fn is called that many times, and all results must
have the same bits. It seeds its generators itself. Returns the first result.

@pytest.mark.requires_gpu: the test is skipped where there is no GPU. With
--lockstep-require-gpu, or LOCKSTEP_REQUIRE_GPU=1, it fails there, and so does a marked test
that skips itself: what was not judged has not passed. The summary names both kinds.
"""
import ctypes
import importlib
import importlib.util
import os
from typing import Any, Callable, Generator, List, TypeVar

import pytest

from lockstep import _bits

T = TypeVar("T")
_PROPERTY = "lockstep_gpu"


# --- the fixture ---


class BitsDiffer(AssertionError):
    """difference: the first one."""

    def __init__(self, message: str, difference: _bits.Difference) -> None:
        super().__init__(message)
        self.difference = difference


def check_bitwise(fn: Callable[[], T], runs: int = 2) -> T:
    """The fixture, for a program without pytest's fixtures."""
    __tracebackhide__ = True
    if runs < 2:
        raise ValueError("assert_bitwise: %d runs cannot be compared; 2 are the fewest" % runs)
    result = fn()
    first = _bits.snapshot(result)
    if not first:
        raise ValueError("assert_bitwise: the function returned %r: there is nothing to compare; return the tensors that must "
                         "be the same" % (result,))
    for run in range(2, runs + 1):
        found = _bits.first_difference(first, _bits.snapshot(fn()))
        if found is not None:
            raise BitsDiffer("run 1 and run %d differ: %s" % (run, found), found)
    return result


@pytest.fixture
def assert_bitwise() -> Callable[..., Any]:
    """assert_bitwise(fn, runs=2): every run of fn returns the same bits."""
    return check_bitwise


# --- the marker ---


def gpu_fault() -> str:
    """Why there is no GPU; empty where there is one."""
    if importlib.util.find_spec("torch") is not None:
        torch = importlib.import_module("torch")
        return "" if torch.cuda.is_available() else "torch finds no GPU"
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return "there is no NVIDIA driver"
    count = ctypes.c_int(0)
    if cuda.cuInit(0) or cuda.cuDeviceGetCount(ctypes.byref(count)) or not count.value:
        return "the driver finds no GPU"
    return ""


def _required(config: pytest.Config) -> bool:
    return bool(config.getoption("lockstep_require_gpu")) or os.environ.get("LOCKSTEP_REQUIRE_GPU", "") not in ("", "0")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("lockstep").addoption("--lockstep-require-gpu", action="store_true", default=False,
                                          help="tests marked requires_gpu fail where they would be skipped")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "requires_gpu: skipped without a GPU; a failure there with --lockstep-require-gpu "
                                       "or LOCKSTEP_REQUIRE_GPU=1")


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("requires_gpu") is None:
        return
    fault = gpu_fault()
    if fault and _required(item.config):
        pytest.fail("requires a GPU, and a GPU is required here: " + fault, pytrace=False)
    if fault:
        pytest.skip("requires a GPU: " + fault)


@pytest.hookimpl(hookwrapper=True, tryfirst=True)  # after pytest's own view of xfail
def pytest_runtest_makereport(item: pytest.Item, call: "pytest.CallInfo[None]") -> Generator[None, Any, None]:
    outcome = yield
    report = outcome.get_result()
    if item.get_closest_marker("requires_gpu") is None:
        return
    ran = report.when == "call" and (not report.skipped or hasattr(report, "wasxfail"))
    if report.when == "teardown" or (report.when == "setup" and report.passed):
        return
    report.user_properties.append((_PROPERTY, "judged" if ran else "not judged"))
    if not ran and not report.failed and _required(item.config):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        report.outcome = "failed"
        report.longrepr = "was not judged, where a GPU is required: %s" % reason
        if hasattr(report, "wasxfail"):
            del report.wasxfail


def _having(reporter: Any, what: str) -> List[str]:
    """Names of tests by what became of them, from all processes of pytest-xdist."""
    reports = [r for found in reporter.stats.values() for r in found if hasattr(r, "user_properties")]
    return sorted({r.nodeid for r in reports if (_PROPERTY, what) in [tuple(p) for p in r.user_properties]})


def pytest_terminal_summary(terminalreporter: Any) -> None:
    judged, missed = _having(terminalreporter, "judged"), _having(terminalreporter, "not judged")
    missed = [name for name in missed if name not in judged]
    if not judged and not missed:
        return
    terminalreporter.section("tests that require a GPU")
    for title, names in (("judged", judged), ("not judged", missed)):
        for name in names:
            terminalreporter.write_line("%s: %s" % (title, name))
    terminalreporter.write_line("%d judged, %d not" % (len(judged), len(missed)))
