#!/usr/bin/env python3
"""tests/python/golden.py [REGEX]: the golden table through the estimators. The data of each
cell are read here and given as arrays, its options as parameters; the model's digest must
be the command line's."""
import pathlib
import re
import sys

import lockstep
import numpy as np
import scipy.sparse

root = pathlib.Path(__file__).resolve().parents[2]
KINDS = {"fm": "FM", "ffm": "FFM", "fwfm": "FwFM", "linear": "LinearExact"}


def read(path):
    """(matrix, fields of its entries or None, labels, weights or None)"""
    labels, weights, starts, fields, columns, values = [], [], [0], [], [], []
    for line in path.read_text().splitlines():
        words = line.split()
        labels.append(float(words.pop(0)))
        weights.append(float(words.pop(0)) if ":" not in words[0] else 1.0)
        for word in words:
            *field, column, value = word.split(":")
            fields += field
            columns.append(int(column))
            values.append(float(value))
        starts.append(len(columns))
    # made without csr_matrix's sums of equal columns: a feature may be in several fields
    x = scipy.sparse.csr_matrix((np.array(values, np.float32), np.array(columns, np.int32), np.array(starts)),
                                shape=(len(labels), max(columns) + 1))
    return (x, np.array(fields, np.int64) if fields else None, np.array(labels),
            np.array(weights) if set(weights) != {1.0} else None)


def parameters(words):
    found, words = {}, words[:]
    while words:
        name = words.pop(0)[2:].replace("-", "_")
        found[name] = words.pop(0) if words and not words[0].startswith("--") else True
    return found


def value(text):
    for kind in int, float:
        try:
            return kind(text)
        except (TypeError, ValueError):
            pass
    return text


def digest(file, options, cache={}):
    if file not in cache:
        cache[file] = read(root / "tests/data" / file)
    x, fields, y, weight = cache[file]
    p = {k: v if v is True else value(v) for k, v in parameters(options).items()}
    task, kind = p.pop("task", "binary"), p.pop("kind", "fm")
    if "seed" in p:
        p["random_state"] = p.pop("seed")
    # what estimators have no parameters for
    if kind == "linear" or any(name[:3] in ("l1_", "l2_") for name in p):
        rows = lockstep.Dataset(x, y, sample_weight=weight, entry_fields=None if kind in ("fm", "linear") else fields)
        return lockstep.Model.train(rows, kind=kind, task=task, **({"seed": p.pop("random_state")} if "random_state" in p else {}), **p).digest()
    made = getattr(lockstep, KINDS[kind] + ("Regressor" if task == "regression" else "Classifier"))(**p, n_jobs=3)
    rows = x if kind in ("fm", "linear") else lockstep.Dataset(x, entry_fields=fields)
    return made.fit(rows, y if task == "regression" else y.astype(int), sample_weight=weight).model_.digest()


def main():
    cells = [line.split() for line in (root / "tests/bitwise/cells.txt").read_text().splitlines()
             if line and not line.startswith("#")]
    golden = dict(line.split() for line in (root / "tests/bitwise/golden.txt").read_text().splitlines()
                  if line and not line.startswith("#"))
    pattern = sys.argv[1] if len(sys.argv) > 1 else "."
    done, wrong = 0, []
    for name, file, *options in cells:
        if re.search(pattern, name):
            done += 1
            if digest(file, options) != golden[name]:
                wrong.append(name)
    print("\n".join("%s: the digest is another one" % name for name in wrong), end="\n" if wrong else "")
    print("%d of %d cells of the golden table" % (done - len(wrong), done))
    return 1 if wrong or not done else 0


if __name__ == "__main__":
    sys.exit(main())
