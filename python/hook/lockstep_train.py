"""What a training is, as the program has it: loaders, optimizers, schedulers, and what
its framework was told.

Nothing of it is changed. Each wrapper adds a count or keeps a few plain values, so a
step costs no more than before.
"""
import functools
import sys
import weakref

import lockstep_hook as hook

_MOST = 16
_loaders = []     # {"batch_size", …}, as the program makes them
_optimizers = []
_schedulers = []
_trainer = {}     # what a framework says of itself: "accumulate", "world_size", "max_steps", …
# Of an object; an attribute would get into the program's checkpoints
_entry = weakref.WeakKeyDictionary()
_backward = [0]   # since the last step of any optimizer


def _of(thing):
    """The entry of an object, or None; a class that defines equality alone has no hash.
    """
    try:
        return _entry.get(thing)
    except TypeError:
        return None


def _keep(thing, entry):
    try:
        _entry[thing] = entry
    except TypeError:
        pass  # only an account is lost


def _plain(value, depth=0):
    """A value as the manifest can hold it, or None."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)) and len(value) <= _MOST and depth < 2:
        return [_plain(v, depth + 1) for v in value]
    if isinstance(value, functools.partial):
        return dict({"function": getattr(value.func, "__name__", "?")},
                    **{k: _plain(v, depth + 1) for k, v in value.keywords.items() if _is_plain(v)})
    if callable(value):
        return getattr(value, "__qualname__", type(value).__name__)
    return None


def _is_plain(value):
    return isinstance(value, (bool, int, float, str)) or value is None


def _extend(cls, name, after):
    """Calls after(self, result) once cls.name has run."""
    real = cls.__dict__.get(name)
    if real is None:
        return

    @functools.wraps(real)
    def method(self, *args, **kwargs):
        result = real(self, *args, **kwargs)
        after(self)
        return result
    setattr(cls, name, method)


def _count(counts, n):
    if n in counts or len(counts) < _MOST:
        counts[n] = counts.get(n, 0) + 1


def _usual(counts):
    """The number that four in five steps had, or None: a last batch or a skipped step
    may have another one."""
    total = sum(counts.values())
    for n, times in counts.items():
        if 5 * times >= 4 * total:
            return n
    return None


# --- loaders --------------------------------------------------------------------------------------------------------


def watch_dataloader(module):
    def made(self):
        if len(_loaders) < _MOST and _of(self) is None:
            entry = {"batch_size": getattr(self, "batch_size", None), "num_workers": self.num_workers,
                     "sampler": type(getattr(self, "sampler", None)).__name__,
                     "where": hook.user_frame(hook.frames(limit=64)), "drawn": 0, "before": 0, "counts": {}}
            _keep(self, entry)
            _loaders.append(entry)

    def iterated(self):
        entry = _of(self)
        if entry is not None:
            entry["drawn"] += 1
    _extend(module.DataLoader, "__init__", made)
    base = module._BaseDataLoaderIter
    real = base.__init__

    @functools.wraps(real)
    def init(self, loader):
        real(self, loader)
        _keep(self, _of(loader))
    base.__init__ = init
    _extend(base, "__next__", iterated)


# --- optimizers and schedulers --------------------------------------------------------------------------------------


def watch_optim(torch):
    optim, optimizer = torch.optim, sys.modules["torch.optim.optimizer"]

    def made(self):
        if len(_optimizers) < _MOST and _of(self) is None:
            entry = {
                "class": type(self).__name__, "where": hook.user_frame(hook.frames(limit=64)),
                "defaults": {k: _plain(v) for k, v in self.defaults.items() if _plain(v) is not None},
                "groups": len(self.param_groups), "steps": 0, "last_lr": None, "backward": {}}
            _keep(self, entry)
            _optimizers.append(entry)
    _extend(optim.Optimizer, "__init__", made)
    register = getattr(optimizer, "register_optimizer_step_post_hook", None)
    if register:
        register(_stepped)
    real = torch.autograd.backward

    @functools.wraps(real)
    def backward(*args, **kwargs):
        _backward[0] += 1
        return real(*args, **kwargs)
    torch.autograd.backward = backward
    schedulers = optim.lr_scheduler
    for name in ("LRScheduler", "_LRScheduler", "ReduceLROnPlateau"):
        cls = getattr(schedulers, name, None)
        if cls is not None and "__init__" in vars(cls) and not hasattr(vars(cls)["__init__"], "__wrapped__"):
            _extend(cls, "__init__", _scheduler_made)
    for cls in list(vars(schedulers).values()):
        if isinstance(cls, type) and issubclass(cls, schedulers.LRScheduler):
            _extend(cls, "step", _scheduler_stepped)


def _stepped(optimizer, *_):
    entry = _of(optimizer)
    if entry is None:
        return
    entry["steps"] += 1
    lr = optimizer.param_groups[0].get("lr")
    entry["last_lr"] = lr if isinstance(lr, float) else None
    _count(entry["backward"], _backward[0])
    _backward[0] = 0
    for loader in _loaders:
        new = loader["drawn"] - loader["before"]
        if new:
            _count(loader["counts"], new)
            loader["before"] = loader["drawn"]


def _scheduler_made(self):
    if len(_schedulers) < _MOST and _of(self) is None:
        settings = {k: _plain(v) for k, v in vars(self).items() if k[0] != "_" and k not in ("optimizer", "last_epoch")}
        entry = {"class": type(self).__name__, "where": hook.user_frame(hook.frames(limit=64)), "steps": 0,
                 "settings": {k: v for k, v in settings.items() if v is not None}}
        _keep(self, entry)
        _schedulers.append(entry)


def _scheduler_stepped(self):
    entry = _of(self)
    if entry is not None:
        entry["steps"] += 1


# --- frameworks -----------------------------------------------------------------------------------------------------


def _take(framework, source, names):
    _trainer["framework"] = framework
    for name, key in names.items():
        value = getattr(source, name, None)
        if _is_plain(value) and value is not None:
            _trainer[key] = value


def watch_trainer(module):
    _extend(module.Trainer, "__init__", lambda self: _take("lightning", self, {
        "accumulate_grad_batches": "accumulate", "world_size": "world_size", "max_steps": "max_steps",
        "max_epochs": "max_epochs", "precision": "precision", "gradient_clip_val": "gradient_clip"}))


def watch_accelerator(module):
    def made(self):
        if _trainer.get("framework") != "transformers":
            _take("accelerate", self, {"gradient_accumulation_steps": "accumulate", "num_processes": "world_size",
                                       "mixed_precision": "precision"})
    _extend(module.Accelerator, "__init__", made)


def watch_training_arguments(module):
    _extend(module.TrainingArguments, "__post_init__", lambda self: _take("transformers", self, {
        "gradient_accumulation_steps": "accumulate", "world_size": "world_size", "max_steps": "max_steps",
        "num_train_epochs": "max_epochs", "warmup_steps": "warmup_steps", "seed": "seed",
        "max_grad_norm": "gradient_clip"}))


# --- the account ----------------------------------------------------------------------------------------------------


def at_exit():
    more = {}
    if _loaders:
        more["loaders"] = [dict({k: e[k] for k in ("batch_size", "num_workers", "sampler", "where")},
                                batches_per_step=_usual(e["counts"])) for e in _loaders]
    if _trainer:
        more["batch"] = {k: _trainer[k] for k in ("accumulate", "world_size") if k in _trainer}
    training = {}
    if _optimizers:
        training["optimizers"] = [dict({k: e[k] for k in ("class", "where", "defaults", "groups", "steps", "last_lr")},
                                       backward_per_step=_usual(e["backward"])) for e in _optimizers]
    if _schedulers:
        training["schedulers"] = _schedulers
    if _trainer:
        training["framework"] = _trainer
    if training:
        more["training"] = training
    return more


hook.at_exit.append(at_exit)
