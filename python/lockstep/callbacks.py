"""Callbacks that record a training: `LightningCallback` for Lightning's Trainer,
`TransformersCallback` for that of transformers. A framework is imported when its callback
is asked for.

    Trainer(callbacks=[lockstep.callbacks.LightningCallback("out")])

Each writes OUT/run_manifest.json when the training begins and completes it at the end, and
appends a line of JSON to OUT/checkpoint_digests.jsonl for every checkpoint: step, epoch,
and the digests of its tensors, equal in two runs exactly where the bits are.
"""
import importlib
import json
import os
import sys
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple, Union

from lockstep import _digest, _library, _manifest

DIGESTS = "checkpoint_digests.jsonl"

if TYPE_CHECKING:
    LightningCallback: Any
    TransformersCallback: Any

__all__ = ["LightningCallback", "TransformersCallback", "read_digests"]


def _digests(**states: Any) -> Dict[str, Any]:
    """None where there are no tensors, as of an optimizer without state. A state that cannot
    be digested, such as one in shards, does not end the training: "unknown" says why."""
    found: Dict[str, Any] = {}
    for name, state in states.items():
        try:
            found[name] = _digest.digest(state) if _digest.leaves(state) else None
        except (TypeError, ValueError) as fault:
            found[name] = None
            found.setdefault("unknown", {})[name] = str(fault)
    return found


def read_digests(out: "Union[str, os.PathLike[str]]") -> List[Dict[str, Any]]:
    """The lines of OUT/checkpoint_digests.jsonl."""
    with open(os.path.join(out, DIGESTS), encoding="utf-8") as f:
        return [json.loads(line) for line in f]


class _Recorder:
    """What both have. Only the first process of a distributed training records."""

    def __init__(self, out: Optional[str] = None, inputs: Tuple[str, ...] = ()) -> None:
        super().__init__()
        self.out = out
        self.inputs = tuple(inputs)
        self.manifest: Optional[_manifest.RunManifest] = None
        self._begun = False

    def _begin(self, folder: str) -> None:
        """A folder of `lockstep run` has its manifest already."""
        self.out = os.path.abspath(self.out or folder)
        os.makedirs(self.out, exist_ok=True)
        path = os.path.join(self.out, DIGESTS)
        if os.path.exists(path):
            os.remove(path)
        self._begun = True
        run = os.environ.get("LOCKSTEP_OUT")
        if not run or not os.path.isdir(run) or not os.path.samefile(run, self.out):
            self.manifest = _manifest.run_manifest(self.out, inputs=self.inputs)

    def _note(self, **fields: Any) -> None:
        if not self._begun or self.out is None:
            return  # a checkpoint that is saved outside of a training
        with open(os.path.join(self.out, DIGESTS), "a", encoding="utf-8") as f:
            f.write(json.dumps(fields) + "\n")
            f.flush()
            os.fsync(f.fileno())

    def _end(self, status: int) -> None:
        if self.manifest is not None:
            self.manifest.finish(status)
            self.manifest = None


class _Lightning(_Recorder):
    def on_fit_start(self, trainer: Any, pl_module: Any) -> None:
        # all processes of the training ask for log_dir, which waits for each of them
        folder = self.out or trainer.log_dir or trainer.default_root_dir
        if trainer.is_global_zero:
            self._begin(folder)

    def on_save_checkpoint(self, trainer: Any, pl_module: Any, checkpoint: Dict[str, Any]) -> None:
        if trainer.is_global_zero:
            self._note(step=int(checkpoint["global_step"]), epoch=int(checkpoint["epoch"]),
                       **_digests(weights=checkpoint["state_dict"], optimizers=checkpoint.get("optimizer_states", [])))

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        if trainer.is_global_zero:
            self._end(1)

    def on_fit_end(self, trainer: Any, pl_module: Any) -> None:
        if trainer.is_global_zero:
            self._end(0)


# Files of a checkpoint of transformers that hold tensors; the others are in the manifest.
_WEIGHTS = ("model", "pytorch_model", "adapter_model")


def _tensor_files(folder: str) -> Dict[str, Any]:
    """Their digests, by name; "unknown" says why there is none."""
    files: Dict[str, str] = {}
    unknown: Dict[str, str] = {}
    try:
        names = sorted(os.listdir(folder))
    except OSError as fault:
        return {"files": files, "unknown": {"files": str(fault)}}
    for name in names:
        if name.startswith(_WEIGHTS) and name.endswith((".safetensors", ".bin")) or name == "optimizer.pt":
            try:
                files[name] = _digest.digest_file(os.path.join(folder, name))
            except _library.LockstepError as fault:
                if "no tensors" not in str(fault):  # as of an optimizer without state
                    unknown[name] = str(fault)
    return {"files": files, "unknown": unknown} if unknown else {"files": files}


class _Transformers(_Recorder):
    def on_train_begin(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        if state.is_world_process_zero:
            self._begin(args.output_dir)

    def on_save(self, args: Any, state: Any, control: Any, model: Any = None, **more: Any) -> None:
        if state.is_world_process_zero:
            folder = os.path.join(args.output_dir, "checkpoint-%d" % state.global_step)
            noted = _digests(weights={} if model is None else model.state_dict())
            files = _tensor_files(folder)
            unknown = {**noted.pop("unknown", {}), **files.pop("unknown", {})}
            self._note(step=int(state.global_step), epoch=state.epoch, **noted, **files, **({"unknown": unknown} if unknown else {}))

    def on_train_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        if state.is_world_process_zero:
            self._end(0)


def _lightning_bases() -> Tuple[Any, ...]:
    """Of both packages that Lightning is called by, where both are imported."""
    names = ("lightning.pytorch", "pytorch_lightning")
    loaded = [sys.modules[n] for n in names if n in sys.modules]
    if not loaded:
        try:
            loaded = [importlib.import_module(names[0])]
        except ModuleNotFoundError:
            loaded = [importlib.import_module(names[1])]
    return tuple(module.Callback for module in loaded)


def __getattr__(name: str) -> Any:
    if name == "LightningCallback":
        made: Any = type(name, (_Lightning, *_lightning_bases()), {"__module__": __name__, "__doc__": __doc__})
    elif name == "TransformersCallback":
        base = importlib.import_module("transformers").TrainerCallback
        made = type(name, (_Transformers, base), {"__module__": __name__, "__doc__": __doc__})
    else:
        raise AttributeError("module %r has no attribute %r" % (__name__, name))
    globals()[name] = made
    return made
