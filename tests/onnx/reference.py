"""The exact score (docs/NUMERICS.md, "Exact ONNX models") in Python's whole numbers, from a
model's safetensors file: written from the definition, without a look at the graph."""
import json
import math
import struct

import numpy as np


def load(path):
    raw = open(path, "rb").read()
    n = struct.unpack("<Q", raw[:8])[0]
    head = json.loads(raw[8:8 + n])
    meta = head.pop("__metadata__")
    tensors = {}
    for name, t in head.items():
        a, b = t["data_offsets"]
        tensors[name] = np.frombuffer(raw[8 + n + a:8 + n + b], "<f4").reshape(t["shape"])
    return json.loads(meta["options"]), int(meta["n_features"]), int(meta["n_fields"]), tensors


def exponent(values):
    """e of the power of two above the largest magnitude of parameters, at least -126."""
    top = float(np.max(np.abs(values), initial=0))
    return max(math.frexp(top)[1], -126) if top else -126


def on_grid(values, e):
    """Whole numbers of steps of 2^(e - 22), to nearest even. Scaling a binary64 by a power of
    two is exact, and so is rint."""
    return [int(v) for v in np.rint(np.ldexp(np.ravel(values).astype(np.float64), 22 - e))]


def row_grid(values):
    """A row's values on their own grid, and what its step is."""
    top = max((abs(v) for v in values), default=0.0)
    e = math.frexp(top)[1] if top else -280
    return on_grid(np.array(values, np.float64), e), 2.0**(e - 22)


def to_double(total):
    """Limbs of 28 bits from the low end, each from -2^27 on and below 2^27; then two at a
    time in binary64."""
    limbs = []
    for _ in range(4):
        low = (total + 2**27) % 2**28 - 2**27
        limbs.append(low)
        total = (total - low) >> 28
    return (float(total) * 2.0**56 + float(limbs[3] * 2**28 + limbs[2])) * 2.0**56 + float(limbs[1] * 2**28 + limbs[0])


class Exact:
    def __init__(self, path):
        self.options, self.features, self.fields, t = load(path)
        self.kind, self.k = self.options["kind"], self.options["factors"]
        self.outputs = self.options["classes"] if self.options["task"] == "multiclass" else 1
        blocks = self.fields if self.kind == "ffm" else 1
        self.bias = np.ravel(t["bias"])
        linear, factors = t["linear"].reshape(self.features, -1), t["factors"].reshape(self.features, -1)
        self.e_linear, self.e_factors = [exponent(w) for w in linear], [exponent(v) for v in factors]
        self.linear = [on_grid(w, e) for w, e in zip(linear, self.e_linear)]
        self.factors = [np.array(on_grid(v, e), dtype=object).reshape(self.outputs, blocks, self.k) for v, e in zip(factors, self.e_factors)]
        if self.kind == "fwfm":
            self.e_fields = exponent(t["field_weights"])
            self.pairs = np.array(on_grid(t["field_weights"], self.e_fields), dtype=object).reshape(self.outputs, -1)

    def weight(self, o, f, g):
        f, g = min(f, g), max(f, g)
        return self.pairs[o][f * self.fields - f * (f + 1) // 2 + g]

    def pair(self, o, a, b):
        """The product of two entries' factors, times the weight of their fields."""
        (f, i, _), (g, j, _) = a, b
        v = self.factors[i][o][g if self.kind == "ffm" else 0]
        w = self.factors[j][o][f if self.kind == "ffm" else 0]
        return sum(x * y for x, y in zip(v, w)) * (self.weight(o, f, g) if self.kind == "fwfm" else 1)

    def row(self, entries):
        known = [e for e in entries if e[1] < self.features and (self.kind == "fm" or e[0] < self.fields)]
        plain = [float(x) for _, _, x in known]
        for_line, unit_line = row_grid([x * 2.0**self.e_linear[i] for (_, i, _), x in zip(known, plain)])
        xs, unit = row_grid([x * 2.0**self.e_factors[i] for (_, i, _), x in zip(known, plain)])
        exp = -44 + (self.e_fields - 22 if self.kind == "fwfm" else 0) - (self.kind == "fm")
        square = 1.0
        if self.options["normalize"]:
            lengths, step = row_grid(plain)
            square = float(sum(x * x for x in lengths)) * step * step or 1.0
        scores = []
        for o in range(self.outputs):
            line = float(sum(self.linear[i][o] * x for (_, i, _), x in zip(known, for_line)))
            total = sum(self.pair(o, known[a], known[b]) * xs[a] * xs[b] for a in range(len(xs)) for b in range(a + 1, len(xs)))
            total *= 2 if self.kind == "fm" else 1
            score = float(self.bias[o]) + line * unit_line * 2.0**-22 / math.sqrt(square) + to_double(total) * unit * unit * 2.0**exp / square
            scores.append(np.float32(score))
        return scores

    def rows(self, rows):
        return np.array([self.row(e) for _, e in rows], np.float32).reshape(len(rows), self.outputs)
