"""Lockstep: machine-learning runs repeatable to the last bit.

Names are imported when they are first used: `import lockstep` itself needs no other
package. `lockstep.torch` gives PyTorch the same bits on a CPU and on a GPU.
"""
from typing import TYPE_CHECKING, Any, List

from lockstep._library import LockstepError

if TYPE_CHECKING:
    from lockstep import callbacks, features
    from lockstep._data import Dataset
    from lockstep._digest import digest, digest_file
    from lockstep._enforce import Enforcement, NotEnforced, enforce
    from lockstep._estimators import (FFMClassifier, FFMRegressor, FMClassifier, FMRegressor, FwFMClassifier,
                                      FwFMRegressor, LinearExactClassifier, LinearExactRegressor)
    from lockstep._judge import Answer, Comparison, Diagnosis, Report, compare, doctor, manifest_diff, plan, spec_check
    from lockstep._manifest import RunManifest, read_manifest, run_manifest
    from lockstep._model import Model
    __version__: str

# name: the module that has it
_WHERE = {"Dataset": "lockstep._data", "Model": "lockstep._model"}
_WHERE.update(dict.fromkeys(["FMClassifier", "FMRegressor", "FFMClassifier", "FFMRegressor", "FwFMClassifier",
                             "FwFMRegressor", "LinearExactClassifier", "LinearExactRegressor"],
                            "lockstep._estimators"))
for _names, _module in (("digest digest_file", "_digest"), ("Enforcement NotEnforced enforce", "_enforce"),
                        ("Answer Comparison Diagnosis Report compare doctor manifest_diff plan spec_check", "_judge"),
                        ("RunManifest read_manifest run_manifest", "_manifest")):
    _WHERE.update(dict.fromkeys(_names.split(), "lockstep." + _module))
_MODULES = ("callbacks", "features")

# Written out, as checkers of types read it.
__all__ = [
    "LockstepError", "Dataset", "Model", "FMClassifier", "FMRegressor", "FFMClassifier", "FFMRegressor", "FwFMClassifier",
    "FwFMRegressor", "LinearExactClassifier", "LinearExactRegressor", "digest", "digest_file", "Enforcement",
    "NotEnforced", "enforce", "Answer", "Comparison", "Diagnosis", "Report", "compare", "doctor", "manifest_diff", "plan", "spec_check", "RunManifest", "read_manifest", "run_manifest",
    "callbacks", "features"]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from lockstep import _library
        return _library.version()
    if name in _MODULES:
        import importlib
        return importlib.import_module("lockstep." + name)
    if name in _WHERE:
        import importlib
        return getattr(importlib.import_module(_WHERE[name]), name)
    raise AttributeError("module 'lockstep' has no attribute %r" % name)


def __dir__() -> List[str]:
    return sorted(__all__ + ["__version__"])
