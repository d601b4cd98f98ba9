"""lockstep.features.Hasher: of a table in memory the very rows and the very description that
`fm convert` makes of it as CSV, by digest and by ==; the command line reads what it saves,
and the other way round. Argument: the program lockstep.
"""
import csv
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.parquet
import scipy.sparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import lockstep
from lockstep import features
from lockstep.features import Hasher, hash_column, hash_values

PROGRAM = sys.argv[1]
CATEGORICAL, NUMERIC = ["city", "device", "Straße", "zip"], ["price", "age"]


def told(*words, status=0):
    r = subprocess.run([PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert r.returncode == status, (words, r.stdout)
    return r.stdout


def raises(kind, call, *words):
    try:
        call()
    except kind as fault:
        assert all(w in str(fault) for w in words), fault
        return
    raise AssertionError("no %s" % kind.__name__)


def table(rows, seed, classes):
    """Cells as a CSV file has them; numbers that binary32 holds."""
    rng = np.random.default_rng(seed)
    pick = lambda words, gaps: [None if rng.random() < gaps else words[rng.integers(len(words))] for _ in range(rows)]
    return {"city": pick(["Rome", "Paris, F", "Ö \"x\"", "a=b", "NA", " x "], 0.1), "device": pick(["d%d" % i for i in range(90)], 0.05),
            "Straße": pick(["Köln", "c"], 0), "zip": [int(v) for v in rng.integers(1, 30, rows)],
            "price": [None if rng.random() < 0.2 else float(v) / 8 for v in rng.integers(-80, 80, rows)],
            "age": [float(v) for v in rng.integers(0, 9, rows)], "label": pick(classes, 0),
            "weight": [float(v) / 4 for v in rng.integers(1, 9, rows)]}


def write_csv(path, columns):
    with open(path, "w", newline="", encoding="utf-8") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(columns)
        out.writerows(["" if v is None else v for v in row] for row in zip(*columns.values()))


def forms(columns):
    yield "dict", columns
    yield "pandas", pandas.DataFrame(columns)
    yield "pandas categories", pandas.DataFrame(columns).astype({"city": "category", "zip": "Int64", "age": "float32"})
    yield "polars", polars.DataFrame(columns)
    yield "pyarrow", pyarrow.table(columns)
    pyarrow.parquet.write_table(pyarrow.table(columns), "t.parquet")
    yield "parquet", "t.parquet"
    yield "csv", "t.csv"


def same_rows():
    """Every form of a table, with labels in words and in numbers, and few bits."""
    for seed, classes, bits in ((1, ["yes", "no", "Z"], 18), (2, [0, 1], 6)):
        columns = table(300, seed, classes)
        write_csv("t.csv", columns)
        told("fm", "convert", "t.csv", "--label", "label", "--weight", "weight", "--categorical", ",".join(CATEGORICAL),
             "--numeric", ",".join(NUMERIC), "--hash-bits", str(bits), "-o", "t.lsd")
        with open("t.lsd.columns.json", encoding="utf-8") as f:
            description = json.load(f)
        wanted = lockstep.Dataset.load("t.lsd").digest()
        for name, form in forms(columns):
            hasher = Hasher(CATEGORICAL, NUMERIC, label="label", weight="weight", bits=bits)
            assert clone(hasher).get_params() == hasher.get_params()
            rows = hasher.fit_transform(form)
            data = hasher.dataset(form)
            assert data.digest() == wanted, name
            assert scipy.sparse.issparse(rows) and rows.shape == (300, 1 << bits) and rows.dtype == np.float32
            assert (rows.indptr[-1], rows.nnz) == (len(hasher.entries(form).fields),) * 2
            if name in ("parquet", "csv"):
                continue  # labels of a file are read by dataset()
            hasher.save("mine.json")
            with open("mine.json", encoding="utf-8") as f:
                mine = json.load(f)
            assert mine == dict(description, delimiter=""), name
        assert bool(hasher.collisions_) == (bits == 6)
        names = hasher.get_feature_names_out()
        assert len(names) == 1 << bits and all(names[int(k)] == v for k, v in description["names"].items())
        # by the description of the program, the rows of another table
        other = table(50, seed + 10, classes)
        write_csv("u.csv", other)
        told("fm", "convert", "u.csv", "--columns", "mine.json", "-o", "u.lsd")
        assert Hasher.load("t.lsd.columns.json").dataset(other).digest() == lockstep.Dataset.load("u.lsd").digest()


def hashes():
    """The table of docs/FORMATS.md."""
    assert hash_values("city", ["Rome", "", "Paris, F"], 1337, 18).tolist() == [172999, 0xffffffff, 4422]
    assert hash_values("Straße", ["Köln"], 1337, 18).tolist() == [134428] and hash_column("price", 1337, 18) == 98620
    assert hash_values("a", ["b=c"], 1337, 10).tolist() == [17] and hash_values("a=b", ["c"], 1337, 10).tolist() == [783]


def most_names():
    """Beyond the limit the names that come first are kept, as the program keeps them."""
    most, features._MOST_NAMES = features._MOST_NAMES, 3
    try:
        names = Hasher(["a", "b"], ["n"]).fit({"a": ["x", "y"], "b": ["p", "q"], "n": [1, 2]}).names_
    finally:
        features._MOST_NAMES = most
    assert sorted(names.values()) == ["a=x", "b=p", "n"], names


def pipeline():
    """In a pipeline of scikit-learn: the frame in, probabilities out."""
    frame = pandas.DataFrame(table(200, 3, [0, 1]))
    made = make_pipeline(Hasher(CATEGORICAL, NUMERIC, bits=12), lockstep.FMClassifier(factors=2, epochs=2, n_jobs=1))
    chances = made.fit(frame, frame["label"].to_numpy()).predict_proba(frame)
    assert chances.shape == (200, 2) and np.isfinite(chances).all()


def refusals():
    frame = pandas.DataFrame({"c": ["a", "b"], "n": [1.0, 2.0], "f": [1.5, 2.5], "y": ["u", 1]})
    raises(ValueError, lambda: Hasher(["none"]).fit(frame), '"none"', "c, n, f, y")
    raises(ValueError, lambda: Hasher(["f"]).fit(frame), '"f"', "1.5")
    raises(ValueError, lambda: Hasher(numeric=["c"]).fit(frame), '"c"', "'a'")
    raises(ValueError, lambda: Hasher(["c"], ["c"]).fit(frame), "twice")
    raises(ValueError, lambda: Hasher(["c"], label="c").fit(frame), "both")
    raises(ValueError, lambda: Hasher().fit(frame), "no columns")
    raises(ValueError, lambda: Hasher(["c"]).fit([["a"]]), "no table")
    raises(ValueError, lambda: Hasher(["c"], bits=40).fit(frame), "bits")
    raises(ValueError, lambda: Hasher(numeric=["n"]).fit({"n": [1e300]}), "binary32")
    raises(ValueError, lambda: Hasher(["c"]).fit({"c": ["a\0b"]}), "zero byte")
    raises(ValueError, lambda: Hasher(["c"], ["n"]).fit({"c": ["a"], "n": [1, 2]}), "lengths")
    raises(ValueError, lambda: Hasher(["c"]).fit(frame, frame["y"]), "in words and in numbers")
    raises(ValueError, lambda: Hasher(["c"]).fit(frame, ["u", "v"]).save("x.json"), "label")
    raises(ValueError, lambda: Hasher(["c"], label="y").fit(frame, ["u", "v"]).dataset(frame, ["u", "w"]), '"w"')
    raises(ValueError, lambda: Hasher(["c"]).fit("t.txt"), "t.txt")
    raises(ValueError, lambda: Hasher(["c"], seed=-1).fit(frame), "seed")
    raises(ValueError, lambda: Hasher(["c"], bits="8").fit(frame), "bits")
    raises(ValueError, lambda: Hasher(["c"]).fit(pandas.concat([frame, frame], axis=1)), "two columns", '"c"')
    raises(ValueError, lambda: Hasher(["c"]).fit({"c": "abc"}), "'abc'")
    for text, word in (("1 2", "JSON"), ('{"format": "%s", "version": 1, "hash": "xxh3-64"}' % features._FORMAT, '"columns"')):
        with open("part.json", "w", encoding="utf-8") as f:
            f.write(text)
        raises(ValueError, lambda: Hasher.load("part.json"), "part.json", word)
    raises(Exception, lambda: Hasher(["c"]).get_feature_names_out(), "not fitted")


os.chdir(tempfile.mkdtemp())
hashes()
same_rows()
most_names()
pipeline()
refusals()
print("a Hasher makes the rows of fm convert")
