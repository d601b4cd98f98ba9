"""compare_metrics.py POINTS.json FOLDER: the points that `exp export --curves` has are
those that TensorBoard's own reader and Python's csv find below FOLDER, without one
missing or added."""
import csv
import json
import math
import pathlib
import struct
import sys

from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
from tensorboard.util import tensor_util

STEPS = ["step", "global_step", "epoch"]


def events(path):
    """(tag, step, value) of scalars, in the order of the file."""
    for event in EventFileLoader(str(path)).Load():  # makes every scalar a tensor
        for v in event.summary.value:
            array = tensor_util.make_ndarray(v.tensor) if v.HasField("tensor") else None
            if array is not None and array.size == 1 and array.dtype.kind == "f":
                yield v.tag, event.step, float(array.reshape(()))


def rows(path):
    with open(path, newline="") as f:
        for row in csv.DictReader(f):
            step = next(row.pop(s) for s in STEPS if row.get(s))
            for name, text in row.items():
                if text:
                    yield name, int(step), float(text)


def bits(v):
    return "nan" if math.isnan(v) else struct.pack("<d", v)


def expected(folder):
    """{(source's folder, name, step): bits}; in one folder the later file counts."""
    want = {}
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        read = events if "tfevents" in path.name else rows if path.name == "metrics.csv" else lambda _: ()
        for name, step, value in read(path):
            want[str(path.relative_to(folder).parent), name, step] = bits(value)
    return want


def main(points, folder):
    want, got = expected(pathlib.Path(folder)), {}
    for p in json.load(open(points)):
        where, name = str(pathlib.PurePath(p["source"]).parent), p["metric"]
        # a name that several folders have begins with the folder
        if (where, name, p["step"]) not in want:
            name = name.removeprefix(pathlib.PurePath(where).name + "/")
        got[where, name, p["step"]] = bits(float(p["value"]))
    for key in sorted(want.keys() | got.keys()):
        if want.get(key) != got.get(key):
            print(*key, "written:", want.get(key), "harvested:", got.get(key))
    by_folder = {}
    for where, name, _ in want:
        by_folder.setdefault(where, set()).add(name)
    for where, names in sorted(by_folder.items()):
        print(where, *sorted(names), sep=" ")
    print("all points are there" if want == got else "points differ")


main(*sys.argv[1:])
