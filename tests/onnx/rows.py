"""Rows for the tests of fm export: random, empty, with features and fields that no model
knows, with a feature twice, with values from tiny to huge. As text for lockstep, as padded
arrays for ONNX Runtime."""
import numpy as np

FEATURES, FIELDS = 60, 7


def random_rows(seed, n, scale=1.0, beyond=0):
    """[(label, [(field, index, value)])]; beyond: how far numbers may be beyond what
    training has."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(n):
        entries = [(int(rng.integers(FIELDS + (beyond > 0))), int(rng.integers(FEATURES + beyond)), np.float32(rng.normal() * scale))
                   for _ in range(int(rng.integers(12)))]
        rows.append((int(rng.integers(3)), entries))
    return rows


def one_of_each(seed, n):
    """Rows with one entry of value 1 for each field, in order."""
    rng = np.random.default_rng(seed)
    return [(int(rng.integers(3)), [(f, int(rng.integers(FEATURES)), np.float32(1)) for f in range(FIELDS)]) for _ in range(n)]


def extreme_rows():
    big = [np.float32(x) for x in (1e-30, 1e-6, 1, 1000.5, 1e4, -1e5, 3e6)]
    rows = [(1, [])]  # the bias alone
    rows += [(1, [(k % FIELDS, k, x)]) for k, x in enumerate(big)]
    rows += [(1, [(k % FIELDS, 2 * k, x) for k, x in enumerate(big)])]
    # a feature thrice, unknown features
    rows += [(1, [(0, 3, np.float32(0.5)), (0, 3, np.float32(0.25)), (1, 3, np.float32(-2))])]
    rows += [(1, [(0, 5000, np.float32(1)), (1, 2, np.float32(2)), (2, 4000000000, np.float32(7))])]
    rows += [(1, [(40, 3, np.float32(1)), (1, 2, np.float32(2))])]  # a field that is unknown
    rows += [(1, [(0, 5000, np.float32(1))])]  # and nothing else
    rows += [(1, [(0, 1, np.float32(0)), (1, 2, np.float32(-0.0))])]
    # long
    rows += [(1, [(k % FIELDS, k % FEATURES, np.float32(0.1 * (k % 7))) for k in range(60)])]
    return rows


def write(path, rows, fields, labels):
    """labels: a function of the class 0, 1 or 2."""
    with open(path, "w") as f:
        for label, entries in rows:
            text = [f"{labels(label)}"]
            text += [(f"{a}:" if fields else "") + f"{i}:{float(x)!r}" for a, i, x in entries]
            f.write(" ".join(text) + "\n")


def arrays(rows, pad=3):
    """index, field and value, padded by -1 (with values that must not count)."""
    longest = max((len(e) for _, e in rows), default=0) + pad
    index = np.full((len(rows), longest), -1, np.int64)
    field = np.full((len(rows), longest), -1, np.int64)
    value = np.full((len(rows), longest), np.nan, np.float32)
    for r, (_, entries) in enumerate(rows):
        for k, (f, i, x) in enumerate(entries):
            index[r, k], field[r, k], value[r, k] = i, f, x
    return index, field, value
