#!/usr/bin/env python3
"""tests/python/estimators.py: what the estimators promise beside scikit-learn's own checks
(checks.py)."""
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import warnings

import joblib
import lockstep
import numpy as np
import pandas
import polars
import scipy.sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

program = pathlib.Path(os.environ["LOCKSTEP_LIBRARY"]).resolve().parent / "lockstep"
CLASSIFIERS = [lockstep.FMClassifier, lockstep.FFMClassifier, lockstep.FwFMClassifier]
REGRESSORS = [lockstep.FMRegressor, lockstep.FFMRegressor, lockstep.FwFMRegressor]


def rows(n=600, seed=0):
    r = np.random.default_rng(seed)
    x = (r.random((n, 12)) < 0.3).astype(np.float32)
    return x, (x[:, 0] + x[:, 1] * x[:, 2] > 0).astype(int)


def digest(made, *args, **kw):
    return made.fit(*args, **kw).model_.digest()


class Data(unittest.TestCase):
    def test_one_model_for_all_forms(self):
        x, y = rows()
        names = ["c%d" % i for i in range(12)]
        for kind in CLASSIFIERS:
            want = digest(kind(epochs=2), x, y)
            for other in (x.astype(np.float64), np.asfortranarray(x), x.tolist(), scipy.sparse.csr_matrix(x),
                          scipy.sparse.csc_matrix(x), scipy.sparse.csr_array(x), pandas.DataFrame(x, columns=names),
                          polars.DataFrame(x, schema=names),
                          pandas.DataFrame(x, columns=names).astype(pandas.SparseDtype(np.float32, 0))):
                self.assertEqual(digest(kind(epochs=2), other, y), want, type(other))
            for labels in (y.tolist(), y.astype(bool), y.astype(np.int8), pandas.Series(y), polars.Series(y),
                           np.array(["no", "yes"])[y]):
                self.assertEqual(digest(kind(epochs=2), x, labels), want, type(labels))
            fields = None if kind is lockstep.FMClassifier else "columns"
            self.assertEqual(digest(kind(epochs=2), lockstep.Dataset(x, y, fields=fields)), want)

    def test_names_of_columns(self):
        x, y = rows()
        frame = pandas.DataFrame(x, columns=["c%d" % i for i in range(12)])
        made = lockstep.FFMClassifier(fields={c: c in ("c0", "c1") for c in frame}).fit(frame, y)
        self.assertEqual(list(made.feature_names_in_), list(frame))
        self.assertEqual(made.model_.info()["n_fields"], 2)
        self.assertEqual(made.model_.digest(), digest(lockstep.FFMClassifier(fields=[0] * 2 + [1] * 10), x, y))
        self.assertEqual(made.model_.digest(), digest(lockstep.FFMClassifier(fields=["u"] * 2 + ["i"] * 10), x, y))
        with self.assertRaisesRegex(ValueError, "feature names"):
            made.predict(frame[list(frame)[::-1]])
        with self.assertRaisesRegex(ValueError, "column c1 has none"):
            lockstep.FFMClassifier(fields={"c0": 0}).fit(frame, y)
        with self.assertRaisesRegex(ValueError, "11 fields for 12 columns"):
            lockstep.FFMClassifier(fields=[0] * 11).fit(x, y)
        with self.assertRaisesRegex(ValueError, "has none"):
            lockstep.FMClassifier(fields=[0] * 12).fit(x, y)

    def test_bad_input(self):
        x, y = rows()
        made = lockstep.FMClassifier()
        for fault, what in (("1 class", lambda: made.fit(x, np.zeros(len(y)))),
                            ("eight", lambda: made.fit(x, y, np.zeros(len(y)))),
                            ("factors", lambda: clone(made).set_params(factors=-1).fit(x, y)),
                            ("optimizer", lambda: clone(made).set_params(optimizer="none").fit(x, y)),
                            ("NaN", lambda: made.fit(np.where(x == 0, np.nan, x), y)),
                            ("not among the classes", lambda: made.fit(x, y, eval_set=(x, y + 1))),
                            ("no class 7", lambda: clone(made).set_params(class_weight={7: 1}).fit(x, y)),
                            ("nconsistent", lambda: made.fit(x, y[1:]))):
            with self.assertRaisesRegex(ValueError, fault):
                what()
        with self.assertRaises(NotFittedError):
            clone(made).predict(x)


class Classes(unittest.TestCase):
    def test_probabilities(self):
        x, y = rows()
        for kind in CLASSIFIERS:
            for labels in (y, y + x[:, 3].astype(int)):
                made = kind(epochs=20, lr=0.3).fit(x, labels)
                p, k = made.predict_proba(x), len(np.unique(labels))
                self.assertEqual(p.shape, (len(x), k))
                self.assertLess(abs(p.sum(1) - 1).max(), 1e-6)
                self.assertGreater(made.score(x, labels), 0.8)
                raw = made.decision_function(x)
                self.assertEqual(raw.shape, (len(x),) if k == 2 else (len(x), k))

    def test_weights_of_classes(self):
        x, y = rows()
        a = digest(lockstep.FMClassifier(class_weight={-1: 1, 1: 2.5}), x, np.where(y, 1, -1))
        c = lockstep.FMClassifier(class_weight={"b": 2.5}).fit(x, np.array(["a", "b"])[y])
        self.assertEqual(c.predict(x[:3]).dtype.kind, "U")
        self.assertEqual(a, c.model_.digest())
        self.assertNotEqual(a, digest(lockstep.FMClassifier(class_weight="balanced"), x, y))
        self.assertNotEqual(a, digest(lockstep.FMClassifier(), x, y))


class Course(unittest.TestCase):
    def test_early_stopping(self):
        x, y = rows()
        vx, vy = rows(300, 1)
        flip = vy.copy()
        # the others are learnt: the start, which is a candidate, too, is no good for them
        flip[::5] = 1 - flip[::5]
        made = lockstep.FMClassifier(epochs=200, early_stop=2, lr=0.5, metric="logloss").fit(x, y, eval_set=(vx, flip))
        self.assertLess(made.n_iter_, 200)
        self.assertEqual(made.best_epoch_, min(made.history_, key=lambda e: e["logloss"])["epoch"])
        self.assertEqual(made.best_value_, min(e["logloss"] for e in made.history_))
        for same in ([(vx, flip)], [vx, flip, None], lockstep.Dataset(vx, flip)):
            self.assertEqual(clone(made).fit(x, y, eval_set=same).model_.digest(), made.model_.digest())

    def test_warm_start(self):
        x, y = rows()
        made = lockstep.FMClassifier(epochs=3, warm_start=True).fit(x, y)
        first = made.model_
        made.fit(x, y)
        want = lockstep.Model.train(lockstep.Dataset(x, y), start=first, epochs=3)
        self.assertEqual(made.model_.digest(), want.digest())
        with self.assertRaisesRegex(ValueError, "other classes"):
            made.fit(x, y + 5)
        self.assertEqual(made.classes_.tolist(), [0, 1])
        self.assertEqual(made.model_.digest(), want.digest())

    def test_partial_fit(self):
        x, y = rows()
        y = y + x[:, 3].astype(int)
        made = lockstep.FMClassifier(lr=0.3, batch=50)
        with self.assertRaisesRegex(ValueError, "classes"):
            made.partial_fit(x, y)
        made.partial_fit(x[y < 2][:100], y[y < 2][:100], classes=[0, 1, 2])
        for _ in range(30):
            made.partial_fit(x, y)
        self.assertGreater(made.score(x, y), 0.8)
        with self.assertRaisesRegex(ValueError, "not among the classes"):
            made.partial_fit(x, y + 1)
        r = lockstep.FMRegressor(lr=0.3, batch=50)
        for _ in range(30):
            r.partial_fit(x, y)
        self.assertGreater(r.score(x, y), 0.5)

    def test_calls_of_partial_fit_are_epochs(self):
        x, y = rows()
        for kind, optimizer in zip(CLASSIFIERS + REGRESSORS, ["adam", "adagrad", "ftrl", "sgd", "adam", "adagrad"]):
            p = dict(optimizer=optimizer, batch=100, shuffle="none", scaling="none", l2=0.01, factors=4, lr=0.1)
            want = kind(epochs=2, **p).fit(x, y).parameters()
            made = kind(**p)
            more = {} if kind in REGRESSORS else {"classes": [0, 1]}
            for _ in range(2):  # a pickle keeps the optimizer's state
                made = pickle.loads(pickle.dumps(made.partial_fit(x, y, **more)))
            for name, found in made.parameters().items():
                self.assertEqual(found.tobytes(), want[name].tobytes(), (kind, name))

    def test_threads_and_seeds(self):
        x, y = rows()
        want = digest(lockstep.FFMClassifier(), x, y)
        for n in (1, 2, 5, -1, -2):
            self.assertEqual(digest(lockstep.FFMClassifier(n_jobs=n), x, y), want)
        with unittest.mock.patch.dict(os.environ, OMP_NUM_THREADS="3"):
            self.assertEqual([lockstep.FMClassifier(n_jobs=n)._threads() for n in (None, -1, 2)], [3, None, 2])
        self.assertEqual(digest(lockstep.FFMClassifier(random_state=1337), x, y), want)
        a = digest(lockstep.FFMClassifier(random_state=np.random.RandomState(3)), x, y)
        self.assertEqual(a, digest(lockstep.FFMClassifier(random_state=np.random.RandomState(3)), x, y))
        self.assertNotEqual(a, want)

    def test_weights_of_powers_of_two_are_repeated_rows(self):
        x, y = rows()
        x = x * np.random.default_rng(1).normal(0, 1, x.shape)
        weight = np.array([0, 1, 2, 4])[np.arange(len(y)) % 4]
        # the start of classes, and the default of l2, know the number of rows
        for kind in REGRESSORS:
            made = kind(epochs=5, lr=0.3, batch=4096, l2=0)
            a = made.fit(x, y, sample_weight=weight).parameters()
            b = clone(made).fit(x.repeat(weight, axis=0), y.repeat(weight)).parameters()
            for name in a:
                self.assertEqual(a[name].tobytes(), b[name].tobytes())

    def test_progress(self):
        x, y = rows()
        for hidden in (False, True):
            code = """
import sys
sys.modules.update({"tqdm": None, "tqdm.auto": None} if %r else {})
import lockstep, numpy as np
lockstep.FMRegressor(epochs=3, verbose=True).fit(np.eye(9), np.arange(9))
""" % hidden
            p = subprocess.run([sys.executable, "-W", "error", "-c", code], stderr=subprocess.PIPE, text=True, check=True)
            self.assertIn("epoch 3" if hidden else "epoch=3", p.stderr)


class Tools(unittest.TestCase):
    def test_pickles(self):
        x, y = rows()
        for kind in CLASSIFIERS + REGRESSORS:
            made = kind().fit(x, y)
            state = pickle.dumps(made)
            self.assertIn(made.model_.to_bytes(), state)
            again = pickle.loads(state)
            self.assertEqual(again.predict(x).tobytes(), made.predict(x).tobytes())
            self.assertEqual(again.model_.digest(), made.model_.digest())

    def test_search_with_processes(self):
        x, y = rows()
        grid = {"lr": [0.05, 0.5], "factors": [2, 4]}
        found = []
        for jobs in (1, 2):
            search = GridSearchCV(lockstep.FFMClassifier(epochs=2, n_jobs=1), grid, n_jobs=jobs, cv=2)
            search.fit(lockstep.Dataset(x, fields="columns") if jobs == 2 else x, y)
            found.append((search.best_params_, search.best_estimator_.model_.digest()))
        self.assertEqual(found[0], found[1])

    def test_joblib_file(self):
        x, y = rows()
        made = make_pipeline(MinMaxScaler(), lockstep.FwFMRegressor()).fit(x, y)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "m.joblib")
            joblib.dump(made, path)
            self.assertEqual(joblib.load(path).predict(x).tobytes(), made.predict(x).tobytes())

    def test_refusals_are_sentences(self):
        x, _ = rows()
        mixed = np.array([1, "yes"] * len(x), object)[:len(x)]
        with self.assertRaisesRegex(ValueError, "words"):
            lockstep.FMClassifier().fit(x, mixed)
        with self.assertRaisesRegex(ValueError, "eval_set"):
            lockstep.FMRegressor().fit(x, x[:, 0], eval_set=5)
        with self.assertRaisesRegex(TypeError, "Dataset"):
            lockstep.Model.train(x)

    def test_the_program_reads_what_they_save(self):
        x, y = rows()
        made = lockstep.FMRegressor(factors=3).fit(x, y)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "m.safetensors")
            made.model_.save(path)
            said = subprocess.check_output([program, "fm", "digest", path], text=True)
            self.assertEqual(said.split()[0], made.model_.digest())


if __name__ == "__main__":
    warnings.simplefilter("error")
    unittest.main()
