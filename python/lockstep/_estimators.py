"""Estimators for scikit-learn: FMClassifier, FFMRegressor and so on.

A parameter that is None leaves the choice to the library, as an option that is not given
does on the command line; those that are given have the names and meanings of the options
of `lockstep fm train`. The model of equal rows, labels and options is that of the command
line, to the last bit.
"""
import contextlib
import os
import sys
from typing import Any, Dict, Iterator, List, Optional, Tuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, column_or_1d, validate_data

from lockstep import _library
from lockstep._data import Dataset
from lockstep._library import InputError, Value
from lockstep._model import Model, Progress

__all__ = ["FMClassifier", "FMRegressor", "FFMClassifier", "FFMRegressor", "FwFMClassifier", "FwFMRegressor",
           "LinearExactClassifier", "LinearExactRegressor"]

# the options of `fm train` that are parameters under their own names
_OPTIONS = ["factors", "epochs", "batch", "optimizer", "lr", "l1", "l2", "l1_linear", "l2_linear", "l1_factors",
            "l2_factors", "l1_fields", "l2_fields", "l1_bias", "l2_bias", "scaling", "init_scale", "initial_sum",
            "beta1", "beta2", "eps", "ftrl_beta", "warmup_steps", "decay", "decay_steps", "normalize", "shuffle",
            "metric", "early_stop", "least_gain", "valid_fraction"]
_MOST_FIELDS = 16384


class _Reporter:
    """Keeps what the epochs said, and shows progress: a bar of tqdm where it is installed,
    otherwise a line an epoch."""

    def __init__(self, verbose: Any) -> None:
        self.verbose = bool(verbose)
        self.bar: Any = None
        self.history: List[Dict[str, Any]] = []

    def tell(self, p: Progress) -> None:
        if p.epoch_ended:
            self.history.append({"epoch": p.epoch, "loss": p.loss, **p.valid})
        if self.verbose:
            self._show(p)

    def _show(self, p: Progress) -> None:
        if self.bar is None:
            try:
                from tqdm.auto import tqdm
                self.bar = tqdm(total=p.total_steps, unit="step", desc="lockstep")
            except ImportError:
                self.bar = False
        if self.bar:
            self.bar.set_postfix(epoch=p.epoch, loss="%.5f" % p.loss, refresh=False,
                                 **{k: "%.5f" % v for k, v in p.valid.items()})
            self.bar.update(p.step - self.bar.n)
        elif p.epoch_ended:
            words = ["epoch %d" % p.epoch, "loss %.5f" % p.loss] + ["%s %.5f" % m for m in p.valid.items()]
            print("  ".join(words), file=sys.stderr, flush=True)

    @contextlib.contextmanager
    def open(self) -> Iterator["_Reporter"]:
        try:
            yield self
        finally:
            if self.bar:
                self.bar.close()


class _Machine(BaseEstimator):  # type: ignore[misc]
    """What classifiers and regressors share."""

    _kind = "fm"

    # --- rows ---

    def _fields(self, x: Any) -> Any:
        """For Dataset: a number a column, or "columns"; None for kinds without fields."""
        if self._kind in ("fm", "linear"):
            if self.fields is not None:
                raise InputError("fields: this kind of model has none; ffm and fwfm have", _library.EINPUT)
            return None
        if self.fields is None:
            if x.shape[1] > _MOST_FIELDS:
                raise InputError("%d columns, each a field of its own, are more than %d: say by fields which belong "
                                 "together" % (x.shape[1], _MOST_FIELDS), _library.EINPUT)
            return "columns"
        given = self.fields
        if isinstance(given, dict):
            if not hasattr(self, "feature_names_in_"):
                raise InputError("fields by the names of columns need rows whose columns have names", _library.EINPUT)
            missing = [str(n) for n in self.feature_names_in_ if n not in given]
            if missing:
                raise InputError("fields: column %s has none" % missing[0], _library.EINPUT)
            given = [given[n] for n in self.feature_names_in_]
        given = np.asarray(given)
        if given.dtype.kind in "iu":
            return given
        numbers: Dict[Any, int] = {}
        return np.array([numbers.setdefault(word, len(numbers)) for word in given.tolist()], np.int64)

    def _rows(self, x: Any, y: Any = None, weight: Any = None, reset: bool = False) -> Dataset:
        """Checked rows with numbers as labels; reset: of a fit, which learns their form."""
        if isinstance(x, Dataset):
            if reset:
                self.n_features_in_ = x.shape[1]
                if hasattr(self, "feature_names_in_"):
                    del self.feature_names_in_
            elif x.indptr is not None and x.shape[1] != self.n_features_in_:
                raise InputError("X has %d features, but %s is expecting %d features as input" %
                                 (x.shape[1], type(self).__name__, self.n_features_in_), _library.EINPUT)
            return x if y is None and weight is None else x.with_labels(y, weight)
        x = validate_data(self, x, accept_sparse="csr", dtype=[np.float32, np.float64], reset=reset)
        if weight is not None:
            weight = _check_sample_weight(weight, x, dtype=[np.float32, np.float64])
        return Dataset(x, y, weight, fields=self._fields(x))

    def _valid(self, eval_set: Any) -> Optional[Dataset]:
        if eval_set is None:
            return None
        if not isinstance(eval_set, (Dataset, tuple, list)):
            raise InputError("eval_set is (X, y) or (X, y, sample_weight)", _library.EINPUT)
        one = [eval_set, eval_set.y, eval_set.sample_weight] if isinstance(eval_set, Dataset) else list(eval_set)
        if len(one) == 1 and isinstance(one[0], (tuple, list)):  # as other packages have it
            one = list(one[0])
        if len(one) not in (2, 3):
            raise InputError("eval_set is (X, y) or (X, y, sample_weight)", _library.EINPUT)
        return self._rows(one[0], self._labels(one[1]), one[2] if len(one) == 3 else None)

    # --- training ---

    def _seed(self) -> Optional[int]:
        if self.random_state is None or isinstance(self.random_state, (int, np.integer)):
            return None if self.random_state is None else int(self.random_state)
        return int(check_random_state(self.random_state).randint(2 ** 31 - 1))

    def _options(self) -> Dict[str, Value]:
        o: Dict[str, Value] = {name: getattr(self, name) for name in _OPTIONS}
        o.update(kind=self._kind, seed=self._seed(), device=self.device, threads=self._threads())
        return o

    def _threads(self) -> Optional[int]:
        """None: as many as there are processors. No number of them changes a bit."""
        n = self.n_jobs
        if n is None:  # joblib sets this in its processes, so that they share the processors
            limit = os.environ.get("OMP_NUM_THREADS", "")
            return int(limit) if limit.isdigit() and int(limit) > 0 else None
        if n == -1:
            return None
        if n < 0:
            return max(1, (os.cpu_count() or 1) + 1 + int(n))
        return int(n)

    def _train(self, rows: Dataset, valid: Optional[Dataset], start: Optional[Model], options: Dict[str, Value]) -> None:
        with _Reporter(self.verbose).open() as reporter:
            try:
                model = Model.train(rows, valid, start, reporter.tell, **options)
            except KeyboardInterrupt as fault:
                if getattr(fault, "model", None) is not None:
                    self._keep(fault.model, reporter)  # type: ignore[attr-defined]
                raise
        self._keep(model, reporter)

    def _keep(self, model: Model, reporter: _Reporter) -> None:
        outcome = model.outcome
        assert outcome is not None
        self.model_, self.history_ = model, reporter.history
        self.n_iter_, self.best_epoch_ = max(1, outcome.epochs), outcome.best_epoch or None
        self.best_value_, self.notes_ = outcome.best_value, outcome.notes
        model.keep_state = bool(self.warm_start)

    def _start(self) -> Optional[Model]:
        return self.model_ if self.warm_start and hasattr(self, "model_") else None

    def _labels(self, y: Any) -> Any:
        raise NotImplementedError

    # --- scores ---

    def _predict(self, x: Any, raw: bool) -> Any:
        check_is_fitted(self, "model_")
        return self.model_.predict(self._rows(x), raw, self.device, self._threads())

    # --- what it has learnt ---

    def parameters(self) -> Dict[str, Any]:
        """Copies of the model's tensors by name: bias, linear, factors, field_weights."""
        check_is_fitted(self, "model_")
        return self.model_.tensors()

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class _Classifier(ClassifierMixin, _Machine):  # type: ignore[misc]
    def __init__(self, *, factors: Optional[int] = None, epochs: Optional[int] = None,
                 batch: Optional[int] = None, optimizer: Optional[str] = None, lr: Optional[float] = None,
                 l1: Optional[float] = None, l2: Optional[float] = None, l1_linear: Optional[float] = None,
                 l2_linear: Optional[float] = None, l1_factors: Optional[float] = None, l2_factors: Optional[float] = None,
                 l1_fields: Optional[float] = None, l2_fields: Optional[float] = None, l1_bias: Optional[float] = None,
                 l2_bias: Optional[float] = None, scaling: Optional[str] = None, init_scale: Optional[float] = None,
                 initial_sum: Optional[float] = None, beta1: Optional[float] = None,
                 beta2: Optional[float] = None, eps: Optional[float] = None,
                 ftrl_beta: Optional[float] = None, warmup_steps: Optional[int] = None,
                 decay: Optional[str] = None, decay_steps: Optional[int] = None, normalize: bool = False,
                 shuffle: Optional[str] = None, label_smoothing: Optional[float] = None,
                 class_weight: Any = None, metric: Optional[str] = None, early_stop: Optional[int] = None,
                 least_gain: Optional[float] = None, valid_fraction: Optional[float] = None,
                 fields: Any = None, warm_start: bool = False, random_state: Any = None,
                 n_jobs: Optional[int] = None, device: Optional[str] = "auto", verbose: Any = False) -> None:
        self.factors, self.epochs, self.batch, self.optimizer = factors, epochs, batch, optimizer
        self.lr, self.l1, self.l2, self.init_scale = lr, l1, l2, init_scale
        self.l1_linear, self.l2_linear, self.l1_factors, self.l2_factors = l1_linear, l2_linear, l1_factors, l2_factors
        self.l1_fields, self.l2_fields, self.l1_bias, self.l2_bias = l1_fields, l2_fields, l1_bias, l2_bias
        self.scaling = scaling
        self.initial_sum, self.beta1, self.beta2, self.eps = initial_sum, beta1, beta2, eps
        self.ftrl_beta, self.warmup_steps, self.decay, self.decay_steps = ftrl_beta, warmup_steps, decay, decay_steps
        self.normalize, self.shuffle, self.label_smoothing, self.class_weight = normalize, shuffle, label_smoothing, class_weight
        self.metric, self.early_stop, self.least_gain, self.valid_fraction = metric, early_stop, least_gain, valid_fraction
        self.fields, self.warm_start, self.random_state, self.n_jobs = fields, warm_start, random_state, n_jobs
        self.device, self.verbose = device, verbose

    def _labels(self, y: Any) -> Any:
        """Numbers of classes; -1 and 1 stay what they are, as on the command line."""
        y = column_or_1d(y)
        at = np.searchsorted(self.classes_, y)
        known = self.classes_[np.minimum(at, len(self.classes_) - 1)] == y
        if not np.all(known):
            raise InputError("there are labels that are not among the classes of the training: %s" %
                             np.unique(np.asarray(y)[~known])[:10], _library.EINPUT)
        if self._has_signs():
            return np.asarray(y, np.float32)
        return at.astype(np.float32)

    def _has_signs(self) -> bool:
        return self.classes_.dtype.kind in "if" and self.classes_.tolist() == [-1, 1]

    def _learn_classes(self, y: Any, classes: Any = None) -> Any:
        """Sets classes_, and gives the numbers of y's."""
        y = column_or_1d(y, warn=True)
        if y.dtype.kind == "O" and len({isinstance(v, (str, bytes)) for v in y.tolist()}) > 1:
            raise InputError("some labels are words and some are not: make all of them words", _library.EINPUT)
        check_classification_targets(y)
        if classes is None:
            self.classes_, at = np.unique(y, return_inverse=True)
        else:
            self.classes_ = np.unique(classes)
            at = None
        if len(self.classes_) < 2:
            raise InputError("the labels have 1 class: %s; a classifier needs at least 2 classes" % self.classes_.tolist(),
                             _library.EINPUT)
        if at is None or self._has_signs():
            return self._labels(y)
        return at.astype(np.float32)

    def _class_weights(self) -> Any:
        weight = self.class_weight
        if weight is None or isinstance(weight, str):
            return weight
        if isinstance(weight, dict):
            unknown = [c for c in weight if c not in self.classes_]
            if unknown:
                raise InputError("class_weight: there is no class %r" % (unknown[0],), _library.EINPUT)
            return [float(weight.get(c, 1.0)) for c in self.classes_.tolist()]
        return [float(w) for w in weight]

    def _task(self) -> Dict[str, Value]:
        k = len(self.classes_)
        return {"task": "binary" if k == 2 else "multiclass", "classes": None if k == 2 else k,
                "label_smoothing": self.label_smoothing, "class_weight": self._class_weights()}

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, eval_set: Any = None) -> Any:
        """Trains. eval_set: (X, y), (X, y, sample_weight) or a Dataset to validate on after each
        epoch; the model of the best epoch is kept. After Ctrl-C the model so far is."""
        start = self._start()
        y, sample_weight = _of_dataset(X, y, sample_weight)
        rows = self._rows(X, None, None, reset=True)
        old: Any = self.classes_ if start else None
        labels = self._learn_classes(y)
        if start and not np.array_equal(old, self.classes_):
            self.classes_ = old
            raise InputError("warm_start: the labels have other classes than before", _library.EINPUT)
        labels, sample_weight = _fitting(rows, labels, sample_weight)
        _demand_two_classes(labels, sample_weight)
        rows = rows.with_labels(labels, sample_weight)
        self._train(rows, self._valid(eval_set), start, {**self._options(), **self._task()})
        return self

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Any:
        """One epoch over these rows, from where the model is. classes: all that will come;
        needed at the first call."""
        start = getattr(self, "model_", None)
        if self.class_weight == "balanced":
            raise InputError("class_weight \"balanced\" is of all rows, which partial_fit does not see: give a weight "
                             "for each class", _library.EINPUT)
        y, sample_weight = _of_dataset(X, y, sample_weight)
        rows = self._rows(X, None, None, reset=start is None)
        if start is None:
            if classes is None:
                raise InputError("classes must be given at the first call of partial_fit", _library.EINPUT)
            labels = self._learn_classes(y, classes)
        else:
            if classes is not None and not np.array_equal(np.unique(classes), self.classes_):
                raise InputError("classes are not those of the first call of partial_fit", _library.EINPUT)
            labels = self._labels(y)
        rows = rows.with_labels(*_fitting(rows, labels, sample_weight))
        self._train(rows, None, start, {**_one_epoch(self._options()), **self._task()})
        self.model_.keep_state = True
        return self

    def decision_function(self, X: Any) -> Any:
        """Scores: of the second class, or (rows, classes)."""
        return self._predict(X, True)

    def predict_proba(self, X: Any) -> Any:
        """Probabilities, (rows, classes)."""
        p = self._predict(X, False)
        return np.stack([1 - p, p], axis=1) if p.ndim == 1 else p

    def predict_log_proba(self, X: Any) -> Any:
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> Any:
        """The class with the highest score."""
        scores = self._predict(X, True)
        return self.classes_[(scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)]


class _Regressor(RegressorMixin, _Machine):  # type: ignore[misc]
    def __init__(self, *, factors: Optional[int] = None, epochs: Optional[int] = None,
                 batch: Optional[int] = None, optimizer: Optional[str] = None, lr: Optional[float] = None,
                 l1: Optional[float] = None, l2: Optional[float] = None, l1_linear: Optional[float] = None,
                 l2_linear: Optional[float] = None, l1_factors: Optional[float] = None, l2_factors: Optional[float] = None,
                 l1_fields: Optional[float] = None, l2_fields: Optional[float] = None, l1_bias: Optional[float] = None,
                 l2_bias: Optional[float] = None, scaling: Optional[str] = None, init_scale: Optional[float] = None,
                 initial_sum: Optional[float] = None, beta1: Optional[float] = None,
                 beta2: Optional[float] = None, eps: Optional[float] = None,
                 ftrl_beta: Optional[float] = None, warmup_steps: Optional[int] = None,
                 decay: Optional[str] = None, decay_steps: Optional[int] = None, normalize: bool = False,
                 shuffle: Optional[str] = None, metric: Optional[str] = None,
                 early_stop: Optional[int] = None, least_gain: Optional[float] = None,
                 valid_fraction: Optional[float] = None, fields: Any = None, warm_start: bool = False,
                 random_state: Any = None, n_jobs: Optional[int] = None, device: Optional[str] = "auto",
                 verbose: Any = False) -> None:
        self.factors, self.epochs, self.batch, self.optimizer = factors, epochs, batch, optimizer
        self.lr, self.l1, self.l2, self.init_scale = lr, l1, l2, init_scale
        self.l1_linear, self.l2_linear, self.l1_factors, self.l2_factors = l1_linear, l2_linear, l1_factors, l2_factors
        self.l1_fields, self.l2_fields, self.l1_bias, self.l2_bias = l1_fields, l2_fields, l1_bias, l2_bias
        self.scaling = scaling
        self.initial_sum, self.beta1, self.beta2, self.eps = initial_sum, beta1, beta2, eps
        self.ftrl_beta, self.warmup_steps, self.decay, self.decay_steps = ftrl_beta, warmup_steps, decay, decay_steps
        self.normalize, self.shuffle, self.metric, self.early_stop = normalize, shuffle, metric, early_stop
        self.least_gain, self.valid_fraction, self.fields, self.warm_start = least_gain, valid_fraction, fields, warm_start
        self.random_state, self.n_jobs, self.device, self.verbose = random_state, n_jobs, device, verbose

    def _labels(self, y: Any) -> Any:
        y = column_or_1d(y, warn=True)
        if y.dtype.kind in "cOSU":
            y = y.astype(np.float64)
        return y

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, eval_set: Any = None) -> Any:
        """Trains. eval_set: (X, y), (X, y, sample_weight) or a Dataset to validate on after each
        epoch; the model of the best epoch is kept. After Ctrl-C the model so far is."""
        return self._fit(X, y, sample_weight, eval_set, self._start(), self._options(), True)

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """One epoch over these rows, from where the model is."""
        start = getattr(self, "model_", None)
        self._fit(X, y, sample_weight, None, start, _one_epoch(self._options()), start is None)
        self.model_.keep_state = True
        return self

    def _fit(self, x: Any, y: Any, weight: Any, eval_set: Any, start: Optional[Model], options: Dict[str, Value],
             reset: bool) -> Any:
        y, weight = _of_dataset(x, y, weight)
        rows = self._rows(x, None, None, reset)
        rows = rows.with_labels(*_fitting(rows, self._labels(y), weight))
        self._train(rows, self._valid(eval_set), start, {**options, "task": "regression"})
        return self

    def predict(self, X: Any) -> Any:
        return self._predict(X, True)


def _of_dataset(x: Any, y: Any, weight: Any) -> Tuple[Any, Any]:
    """Labels and weights, which a Dataset may bring itself."""
    if isinstance(x, Dataset):
        y, weight = x.y if y is None else y, x.sample_weight if weight is None else weight
    if y is None:
        raise InputError("requires y to be passed, but the target y is None", _library.EINPUT)
    return y, weight


def _fitting(rows: Dataset, y: Any, weight: Any) -> Tuple[Any, Any]:
    """Labels and weights, as many as there are rows."""
    if len(y) != len(rows):
        raise InputError("Found input variables with inconsistent numbers of samples: %s" % [len(rows), len(y)],
                         _library.EINPUT)
    if weight is None:
        return y, None
    return y, _check_sample_weight(weight, np.empty((len(rows), 0)), dtype=[np.float32, np.float64])


def _demand_two_classes(labels: Any, weight: Any) -> None:
    """Of rows that count, that is."""
    if weight is not None and np.any(weight > 0) and len(np.unique(labels[weight > 0])) < 2:
        raise InputError("the sample weights leave rows of 1 class; a classifier needs at least 2 classes", _library.EINPUT)


def _one_epoch(options: Dict[str, Value]) -> Dict[str, Value]:
    """Of partial_fit: what concerns validation has no meaning in it."""
    return {**options, "epochs": 1, "metric": None, "early_stop": None, "least_gain": None, "valid_fraction": None}


class FMClassifier(_Classifier):
    """A factorization machine that tells classes apart."""

    _kind = "fm"


class FMRegressor(_Regressor):
    """A factorization machine that estimates a number."""

    _kind = "fm"


class FFMClassifier(_Classifier):
    """A field-aware factorization machine that tells classes apart.

    Each column is a field, or fields has a number or a name for each.
    """

    _kind = "ffm"


class FFMRegressor(_Regressor):
    """A field-aware factorization machine that estimates a number.

    Each column is a field, or fields has a number or a name for each.
    """

    _kind = "ffm"


class FwFMClassifier(_Classifier):
    """A field-weighted factorization machine that tells classes apart.

    Each column is a field, or fields has a number or a name for each.
    """

    _kind = "fwfm"


class FwFMRegressor(_Regressor):
    """A field-weighted factorization machine that estimates a number.

    Each column is a field, or fields has a number or a name for each.
    """

    _kind = "fwfm"


class LinearExactClassifier(_Classifier):
    """Logistic regression, or softmax regression, with the same bits everywhere."""

    _kind = "linear"


class LinearExactRegressor(_Regressor):
    """Linear regression by gradient descent, with the same bits everywhere."""

    _kind = "linear"
