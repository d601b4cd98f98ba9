#!/usr/bin/env python3
"""tests/python/binding.py: the layer over ctypes against header, program and host."""
import ast
import ctypes
import os
import pathlib
import pickle
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import lockstep
import numpy as np
import scipy.sparse
from lockstep import _data, _library, _model

root = pathlib.Path(__file__).resolve().parents[2]
program = pathlib.Path(os.environ["LOCKSTEP_LIBRARY"]).resolve().parent / "lockstep"
svm = root / "tests/data/small.svm"

STRUCTS = {"ls_err": _library.Err, "ls_exact_where": _library.Where, "ls_exact_op_info": _library.Info,
           "ls_array": _data.Array, "ls_csr_arrays": _data.Csr, "ls_dataset_info": _data.Facts,
           "ls_metrics": _model.Metrics, "ls_train_event": _model.Event, "ls_training": _model.Training,
           "ls_train_result": _model.Result, "ls_model_tensor": _model.Tensor}


def rows(n=400, seed=0):
    r = np.random.default_rng(seed)
    x = (r.random((n, 12)) < 0.3).astype(np.float32)
    return x, (x[:, 0] + x[:, 1] * x[:, 2] > 0).astype(np.float32)


class Header(unittest.TestCase):
    def test_structures_lie_as_in_c(self):
        c = ["#include <lockstep.h>", "#include <stdio.h>", "int main(void)\n{"]
        want = []
        for name, structure in STRUCTS.items():
            fields = [f[0] for f in structure._fields_]
            c.append('printf("%s %%zu\\n", sizeof(struct %s));' % (name, name))
            c += ['printf("%s.%s %%zu\\n", offsetof(struct %s, %s));' % (name, f, name, f) for f in fields]
            want.append("%s %d" % (name, ctypes.sizeof(structure)))
            want += ["%s.%s %d" % (name, f, getattr(structure, f).offset) for f in fields]
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder, "t.c")
            source.write_text("\n".join(c + ["return 0;\n}\n"]))
            subprocess.run(["cc", "-I", root / "include", source, "-o", source.with_suffix("")], check=True)
            self.assertEqual(subprocess.check_output([source.with_suffix("")], text=True).splitlines(), want)

    def test_functions_have_the_arguments_of_the_header(self):
        text = re.sub(r"/\*.*?\*/", "", (root / "include/lockstep.h").read_text(), flags=re.S)
        there = {}
        for name, arguments in re.findall(r"LS_API [^;(]*?(ls_\w+)\(([^;]*)\);", text):
            there[name] = 0 if arguments.strip() == "void" else arguments.count(",") + 1
        for name, (_, arguments) in _library._PLAIN.items():
            self.assertEqual(len(arguments), there.pop(name), name)
        for name, arguments in _library._CALLS.items():
            self.assertEqual(len(arguments) + 1, there.pop(name), name)
        self.assertEqual(there, {}, "functions that _library.py does not declare")

    def test_sources_are_for_python_3_9(self):
        files = list((root / "python/lockstep").rglob("*.py"))
        self.assertGreater(len(files), 10)
        for path in files:
            ast.parse(path.read_text(), str(path), feature_version=(3, 9))

    def test_import_is_light(self):
        code = "import lockstep, sys; print(sorted({'numpy', 'scipy', 'sklearn', 'torch', 'ctypes'} & set(sys.modules)))"
        said = subprocess.check_output([sys.executable, "-c", code], text=True)
        self.assertEqual(said.strip(), "['ctypes']")


    def test_names(self):
        self.assertEqual(sorted(lockstep.__all__), sorted(["LockstepError", *lockstep._WHERE, *lockstep._MODULES]))
        for name in lockstep._WHERE:
            self.assertEqual(getattr(lockstep, name).__name__, name)


class Errors(unittest.TestCase):
    def test_they_are_pythons_as_well(self):
        for fault, what in ((ValueError, lambda: _library.Options("fm train", {"epoch": 3})),
                            (ValueError, lambda: lockstep.Model.train(lockstep.Dataset(*rows()), lr=-1)),
                            (FileNotFoundError, lambda: lockstep.Model.load("/nowhere/model")),
                            (ValueError, lambda: lockstep.Dataset(rows()[0], rows()[1][:-1]).handle)):
            with self.assertRaises(fault) as caught:
                what()
            self.assertIsInstance(caught.exception, lockstep.LockstepError)
            self.assertLess(caught.exception.code, 0)
        with self.assertRaisesRegex(ValueError, "did you mean --epochs"):
            _library.Options("fm train", {"epoch": 3})

    def test_they_can_be_pickled(self):
        with self.assertRaises(lockstep.LockstepError) as caught:
            lockstep.Model.load("/nowhere/model")
        again = pickle.loads(pickle.dumps(caught.exception))
        self.assertEqual((type(again), str(again), again.code),
                         (type(caught.exception), str(caught.exception), caught.exception.code))

    def test_numbers_keep_every_bit(self):
        for v in (0.1, 1e-300, np.float32(0.1), np.float64(2 / 3)):
            self.assertEqual(float(_library.option_text(v)), float(v))
        self.assertEqual(_library.option_text([1, np.float64(0.5)]), "1,0.5")


class Rows(unittest.TestCase):
    def test_a_file_and_arrays_have_one_digest(self):
        x, y = rows()
        m = scipy.sparse.csr_matrix(x)
        want = lockstep.Dataset(m, y).digest()
        for other in (x, np.asfortranarray(x), x.astype(np.float64), scipy.sparse.csc_matrix(x),
                      scipy.sparse.coo_array(x), x.astype(bool), x[::-1][::-1]):
            self.assertEqual(lockstep.Dataset(other, y.astype(np.float64)).digest(), want)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "t.svm")
            path.write_text("".join("%g %s\n" % (y[i], " ".join("%d:1" % j for j in np.flatnonzero(x[i])))
                                    for i in range(len(y))))
            self.assertEqual(lockstep.Dataset.load(path).digest(), want)

    def test_a_part_of_them(self):
        x, y = rows()
        w = np.arange(len(y)) % 3 + 1.0
        for part in (slice(10, 50), np.array([5, 3, 3]), y > 0):
            for fields, entry in (("columns", None), (np.arange(12) // 3, None), (None, True)):
                if entry:
                    entry = np.arange(np.count_nonzero(x)) % 7
                whole = lockstep.Dataset(x, y, w, fields=fields, entry_fields=entry)
                if entry is not None:
                    spread = np.zeros(x.shape, int)
                    spread[x != 0] = entry
                    entry = spread[part][x[part] != 0]
                want = lockstep.Dataset(x[part], y[part], w[part], fields=fields, entry_fields=entry)
                self.assertEqual(whole[part].digest(), want.digest())

    def test_types_that_the_library_does_not_read(self):
        x, y = rows()
        want = lockstep.Dataset(x, y).digest()
        self.assertEqual(lockstep.Dataset(x.astype(np.float16), y.astype(">f8")).digest(), want)
        self.assertEqual(lockstep.Dataset(x.astype(">i4"), y.astype(object)).digest(), want)


class Training(unittest.TestCase):
    def test_bytes_of_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "m")
            subprocess.run([program, "fm", "train", svm, "-o", out, "-q", "--factors", "5", "--epochs", "2", "--l2", "1e-3"],
                           check=True)
            model = lockstep.Model.train(lockstep.Dataset.load(svm), factors=5, epochs=2, l2=1e-3)
            self.assertEqual(model.to_bytes(), pathlib.Path(out).read_bytes())
            told = subprocess.check_output([program, "fm", "predict", out, svm], text=True).split()
            scores = model.predict(lockstep.Dataset.load(svm))
            self.assertEqual(np.array([float(t) for t in told], np.float32).tobytes(), scores.tobytes())
            self.assertEqual(pickle.loads(pickle.dumps(model)).digest(), model.digest())
            self.assertEqual(lockstep.Model.load(out).info()["factors"], 5)

    def test_tensors_are_the_models(self):
        x, y = rows()
        model = lockstep.Model.train(lockstep.Dataset(x, y), factors=3, epochs=3, lr=0.5)
        t = {k: v.astype(float) for k, v in model.tensors().items()}
        v = t["factors"].reshape(12, 3)
        scores = t["bias"].ravel()[0] + x @ t["linear"].ravel() + ((x @ v) ** 2 - (x ** 2) @ v ** 2).sum(1) / 2
        self.assertLess(abs(scores - model.predict(lockstep.Dataset(x), raw=True)).max(), 1e-5)

    def test_what_a_call_back_raises_stops_it(self):
        def tell(p):
            if p.epoch == 2:
                raise KeyError("enough")
        with self.assertRaises(KeyError) as caught:
            lockstep.Model.train(lockstep.Dataset(*rows()), tell=tell, epochs=1000000)
        self.assertIsInstance(caught.exception.model, lockstep.Model)

    def test_other_threads_run_meanwhile(self):
        counted, stop = [0], threading.Event()

        def count():
            while not stop.is_set():
                counted[0] += 1
                time.sleep(0.001)

        def tell(p):
            if counted[0] >= before + 20:
                raise StopIteration

        threading.Thread(target=count, daemon=True).start()
        before = counted[0]
        with self.assertRaises(StopIteration):
            lockstep.Model.train(lockstep.Dataset(*rows()), tell=tell, epochs=1000000)
        stop.set()

    def test_ctrl_c(self):
        code = """
import lockstep, numpy as np, sys, time
from lockstep import _estimators
x = np.eye(12, dtype=np.float32)[np.arange(100000) % 12]
c = lockstep.FMClassifier(epochs=1000000)
tell, told = _estimators._Reporter.tell, []
def first(self, p):
    told or print("begin", flush=True)
    told.append(1)
    tell(self, p)
_estimators._Reporter.tell = first
try:
    c.fit(x, np.arange(100000) % 2)
except KeyboardInterrupt:
    print("stopped", time.time(), len(c.predict(x)), c.n_iter_ > 0, flush=True)
"""
        p = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        self.assertEqual(p.stdout.readline(), "begin\n")
        sent = time.time()
        p.send_signal(signal.SIGINT)
        said = p.communicate(timeout=60)[0].split()
        self.assertEqual((said[0], said[2:], p.returncode), ("stopped", ["100000", "True"], 0))
        self.assertLess(float(said[1]) - sent, 1.0 * max(1, os.getloadavg()[0] / (os.cpu_count() or 1)))


if __name__ == "__main__":
    unittest.main()
