"""Models of liblockstep: `Model`, and how they are trained."""
import ctypes
import json
import os
import signal
import sys
import tempfile
import threading
from typing import Any, Callable, Dict, List, Optional

import numpy as np

from lockstep import _library
from lockstep._data import Dataset
from lockstep._library import Err, Handle, InputError, LockstepError, Options, Value, call, call_hex, call_text, path_bytes

_METRICS = 5
_NOTES, _NOTE = 3, 240


class Metrics(ctypes.Structure):
    """struct ls_metrics"""
    _fields_ = [("has", ctypes.c_bool * _METRICS), ("value", ctypes.c_double * _METRICS)]


class Event(ctypes.Structure):
    """struct ls_train_event"""
    _fields_ = [("what", ctypes.c_int), ("step", ctypes.c_uint64), ("steps_per_epoch", ctypes.c_uint64),
                ("total_steps", ctypes.c_uint64), ("epoch", ctypes.c_uint32), ("loss", ctypes.c_double),
                ("has_valid", ctypes.c_bool), ("is_best", ctypes.c_bool), ("valid", Metrics),
                ("seconds", ctypes.c_double), ("at_work", ctypes.c_int)]


_Tell = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(Event))


class Training(ctypes.Structure):
    """struct ls_training"""
    _fields_ = [("options", ctypes.c_void_p), ("rows", ctypes.c_void_p), ("valid", ctypes.c_void_p),
                ("start", ctypes.c_void_p), ("tell", _Tell), ("context", ctypes.c_void_p),
                ("stop", ctypes.POINTER(ctypes.c_int))]


class Result(ctypes.Structure):
    """struct ls_train_result"""
    _fields_ = [("steps", ctypes.c_uint64), ("epochs", ctypes.c_uint32), ("best_epoch", ctypes.c_uint32),
                ("best_value", ctypes.c_double), ("resumed", ctypes.c_bool), ("digest", ctypes.c_char * 65),
                ("data_digest", ctypes.c_char * 65), ("engine", ctypes.c_char * 128),
                ("last_loss", ctypes.c_double), ("notes", (ctypes.c_char * _NOTE) * _NOTES),
                ("n_notes", ctypes.c_size_t), ("folds", ctypes.c_uint32), ("fold_mean", ctypes.c_double),
                ("fold_deviation", ctypes.c_double)]


class Tensor(ctypes.Structure):
    """struct ls_model_tensor"""
    _fields_ = [("name", ctypes.c_char_p), ("type", ctypes.c_char_p), ("dimensions", ctypes.c_int),
                ("shape", ctypes.c_uint64 * 4), ("stride", ctypes.c_int64 * 4), ("data", ctypes.c_void_p)]


def _metrics(m: Metrics) -> Dict[str, float]:
    lib = _library.library()
    return {_library.text_of(lib.ls_metric_name(i)): m.value[i] for i in range(_METRICS) if m.has[i]}


def host_options() -> Dict[str, Value]:
    """Where things are on this machine, for GPUs: a program looks these up in its
    environment, a library does not. Compiled kernels are kept, and shared with the program."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return {"kernel-cache": os.path.join(cache, "lockstep", "kernels"), "prefix": [sys.prefix]}


def engine_options(device: Optional[str], threads: Optional[int]) -> Dict[str, Value]:
    gpu = {} if device == "cpu" else host_options()
    return {**gpu, "device": device, "threads": threads}


class Progress:
    """What a training has reached: of an epoch that has ended (epoch_ended), or within one."""

    def __init__(self, e: Event) -> None:
        self.epoch_ended = bool(e.what == 1)
        self.step, self.steps_per_epoch, self.total_steps = int(e.step), int(e.steps_per_epoch), int(e.total_steps)
        self.epoch, self.loss, self.seconds = int(e.epoch), float(e.loss), float(e.seconds)
        self.is_best = bool(e.is_best)
        self.valid = _metrics(e.valid) if e.has_valid else {}


Tell = Callable[[Progress], Any]


class Outcome:
    """How a training went. notes: sentences that its user should read."""

    def __init__(self, r: Result) -> None:
        self.steps, self.epochs, self.best_epoch = int(r.steps), int(r.epochs), int(r.best_epoch)
        self.best_value = float(r.best_value) if r.best_epoch else None
        self.data_digest, self.engine = _library.text_of(r.data_digest), _library.text_of(r.engine)
        self.last_loss = float(r.last_loss)
        self.notes: List[str] = [_library.text_of(r.notes[i].value) for i in range(min(r.n_notes, _NOTES))]
        self.stopped = False


class _Run:
    """One call of ls_model_train. In the main thread it is made by another one, so that this
    one sees Ctrl-C, and stops it."""

    def __init__(self, t: Training, tell: Optional[Tell], keep: List[Any]) -> None:
        self.t, self.tell = t, tell
        self.keep = keep  # what t only has addresses of
        self.stop = ctypes.c_int(0)
        self.model, self.result, self.err = Handle("ls_model_free"), Result(), Err()
        self.code = 0
        self.fault: Optional[BaseException] = None
        self.t.stop = ctypes.pointer(self.stop)
        if tell:
            self.t.tell = _Tell(self._told)

    def _told(self, _context: Any, event: Any) -> int:
        assert self.tell is not None
        try:
            self.tell(Progress(event.contents))
        except BaseException as fault:
            self.fault = fault
            return 1
        return 0

    def _call(self) -> None:
        train = _library.library().ls_model_train
        self.code = train(ctypes.byref(self.t), self.model.ret, ctypes.byref(self.result), ctypes.byref(self.err))

    def _call_beside(self) -> None:
        done = threading.Event()

        def work() -> None:
            try:
                self._call()
            except BaseException as fault:
                self.fault = fault
            finally:
                done.set()

        thread = threading.Thread(target=work, name="lockstep-train", daemon=True)
        while not done.is_set():
            try:
                if thread.ident is None:
                    thread.start()
                done.wait()
            except BaseException as fault:
                # KeyboardInterrupt, or what a handler of a signal raises, at any place of
                # this loop; the training ends soon
                self.stop.value = 1
                self.fault = fault

    def __call__(self) -> None:
        if threading.current_thread() is threading.main_thread() and self._is_watched():
            self._call_beside()
        else:
            self._call()

    @staticmethod
    def _is_watched() -> bool:
        return signal.getsignal(signal.SIGINT) not in (signal.SIG_IGN, signal.SIG_DFL, None)


class Model:
    """A factorization machine. Model.load(path), or Model.train(...)."""

    def __init__(self, handle: Handle, outcome: Optional[Outcome] = None) -> None:
        self._handle = handle
        self.outcome = outcome
        self.keep_state = False  # whether a pickle has the optimizer's state, if there is one

    @classmethod
    def load(cls, path: Any) -> "Model":
        handle = Handle("ls_model_free")
        call("ls_model_load", path_bytes(path), handle.ret)
        return cls(handle)

    @classmethod
    def load_state(cls, path: Any) -> "Model":
        """What save_state wrote."""
        handle = Handle("ls_model_free")
        call("ls_model_load_state", path_bytes(path), handle.ret)
        model = cls(handle)
        model.keep_state = True
        return model

    @classmethod
    def from_bytes(cls, data: bytes, state: bool = False) -> "Model":
        """What to_bytes gave, or a model's file has."""
        with tempfile.TemporaryDirectory(prefix="lockstep-") as folder:
            path = os.path.join(folder, "model.safetensors")
            with open(path, "wb") as f:
                f.write(data)
            return cls.load_state(path) if state else cls.load(path)

    @classmethod
    def train(cls, rows: Dataset, valid: Optional[Dataset] = None, start: "Optional[Model]" = None,
              tell: Optional[Tell] = None, **options: Value) -> "Model":
        """Trains as `fm train` does, with its options by name (`_` for `-`), and gives the
        model that it would write. tell gets a Progress several times a second; what it
        raises stops the training. Ctrl-C stops it, too: the exception that then comes has
        the model so far as its attribute `model`."""
        for given in [rows] if valid is None else [rows, valid]:
            if not isinstance(given, Dataset):
                raise TypeError("Model.train takes a Dataset, not a %s" % type(given).__name__)
        o = Options("fm train", {**engine_options(None, None), **options})
        t = Training(options=o.address, rows=rows.handle.address,
                     valid=valid.handle.address if valid is not None else None,
                     start=start._handle.address if start is not None else None)
        run = _Run(t, tell, [o, rows, valid, start])
        run()
        model = None
        if run.model.address:
            model = cls(run.model, Outcome(run.result))
            assert model.outcome is not None
            model.outcome.stopped = run.code != 0
        fault = run.fault or (_library.error(run.err) if run.code else None)
        if fault is not None:
            try:
                fault.model = model  # type: ignore[attr-defined]
            except AttributeError:
                pass
            raise fault
        if model is None:  # the option output: it has been written, and read from there
            raise LockstepError("the training gave no model")
        return model

    def save(self, path: Any) -> None:
        call("ls_model_save", self._handle, path_bytes(path))

    def save_state(self, path: Any) -> None:
        """The model with the optimizer's state, for a training that goes on. One that was
        chosen by validation, or loaded without it, has none: ValueError."""
        call("ls_model_save_state", self._handle, path_bytes(path))

    def to_bytes(self, state: bool = False) -> bytes:
        """The bytes of the file that save writes, which are those that `fm train` writes; or
        of the one that save_state writes."""
        with tempfile.TemporaryDirectory(prefix="lockstep-") as folder:
            path = os.path.join(folder, "model.safetensors")
            (self.save_state if state else self.save)(path)
            with open(path, "rb") as f:
                return f.read()

    def digest(self) -> str:
        """What must agree everywhere; as `fm digest`."""
        return call_hex("ls_model_digest", self._handle)

    def info(self) -> Dict[str, Any]:
        """Kind, task, all options, sizes, steps, digests."""
        info = json.loads(call_text("ls_model_info", self._handle))
        assert isinstance(info, dict)
        return info

    @property
    def outputs(self) -> int:
        return int(_library.library().ls_model_outputs(self._handle))

    def predict(self, rows: Dataset, raw: bool = False, device: Optional[str] = None,
                threads: Optional[int] = None) -> Any:
        """What `fm predict` prints: (rows,) float32, or (rows, classes). raw: scores, not
        probabilities."""
        outputs = self.outputs
        scores = np.empty((len(rows), outputs) if outputs > 1 else len(rows), np.float32)
        if len(rows):
            o = Options("fm predict", {**engine_options(device, threads), "raw": raw})
            call("ls_model_predict", self._handle, rows.handle, o, scores.ctypes.data)
        return scores

    def eval(self, rows: Dataset, device: Optional[str] = None, threads: Optional[int] = None) -> Dict[str, float]:
        """Every metric that the task and the labelled rows define, by name."""
        m = Metrics()
        o = Options("fm eval", engine_options(device, threads))
        call("ls_model_eval", self._handle, rows.handle, o, ctypes.byref(m))
        return _metrics(m)

    def tensors(self) -> Dict[str, Any]:
        """Copies of the parameters by name: bias, linear, factors, field_weights."""
        found = {}
        for i in range(_library.library().ls_model_tensors(self._handle)):
            t = Tensor()
            call("ls_model_tensor_at", self._handle, i, ctypes.byref(t))
            found[_library.text_of(t.name)] = self._copy(t)
        return found

    @staticmethod
    def _copy(t: Tensor) -> Any:
        shape, stride = tuple(t.shape[:t.dimensions]), tuple(t.stride[:t.dimensions])
        if 0 in shape:
            return np.empty(shape, np.float32)
        span = sum((n - 1) * s for n, s in zip(shape, stride)) + 4
        block = (ctypes.c_char * span).from_address(t.data)
        return np.ndarray(shape, np.float32, block, 0, stride).copy()

    def __reduce__(self) -> Any:
        if self.keep_state:
            try:
                return Model.from_bytes, (self.to_bytes(True), True)
            except InputError:
                pass  # it has none
        return Model.from_bytes, (self.to_bytes(),)
