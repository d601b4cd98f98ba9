#!/usr/bin/env python3
"""tests/onnx/check.py LOCKSTEP: models of every kind and task, exported, pass onnx's checker
and give in ONNX Runtime the scores of `fm predict`."""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime as ort

import rows as R

lockstep = str(pathlib.Path(sys.argv[1]).resolve())
KINDS = ["fm"]
TASKS = {"binary": lambda c: c % 2, "regression": lambda c: 1.5 * c - 0.7, "multiclass": lambda c: c}
TOLERANCE = 1e-6
faults = []


def fault(text):
    faults.append(text)
    print("FAULT", text)


def run(*args, status=0):
    done = subprocess.run([lockstep, *map(str, args)], capture_output=True, text=True)
    if done.returncode != status:
        sys.exit(f"{' '.join(map(str, args))}: status {done.returncode}: {done.stderr}")
    return done.stdout


def session(path, threads=1, optimize=True):
    o = ort.SessionOptions()
    o.intra_op_num_threads = threads
    o.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL if optimize else ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return ort.InferenceSession(str(path), o, providers=["CPUExecutionProvider"])


def feeds(s, rows, pad=3):
    index, field, value = R.arrays(rows, pad)
    every = {"index": index, "field": field, "value": value}
    return {i.name: every[i.name] for i in s.get_inputs()}


def predict(model, rows, fields, raw=True):
    R.write("score.txt", rows, fields, lambda c: c)
    out = run("fm", "predict", model, "score.txt", *(["--raw"] if raw else []))
    return np.array([[float(x) for x in line.split()] for line in out.splitlines()], np.float32)


def largest_difference(got, want):
    return float(np.max(np.abs(got.astype(np.float64) - want) / (1 + np.abs(want)), initial=0))


def check_metadata(path, model, kind, task):
    proto = onnx.load(str(path), load_external_data=False)
    meta = {p.key: p.value for p in proto.metadata_props}
    digest = run("fm", "digest", model).split()[0]
    if meta["lockstep.digest"] != digest or meta["lockstep.kind"] != kind or meta["lockstep.task"] != task:
        fault(f"{path}: metadata {meta}")
    if proto.producer_name != "lockstep" or "lockstep.numerics_version" not in meta:
        fault(f"{path}: producer {proto.producer_name}, {meta}")
    if [o.version for o in proto.opset_import] != [13]:
        fault(f"{path}: opset {proto.opset_import}")


def check_outputs(name, s, model, rows, fields, task):
    got = dict(zip([o.name for o in s.get_outputs()], s.run(None, feeds(s, rows))))
    score, probability = predict(model, rows, fields), predict(model, rows, fields, raw=False)
    if task != "multiclass":
        score, probability = score[:, 0], probability[:, 0]
    if got["score"].shape != score.shape:
        return fault(f"{name}: shape {got['score'].shape}, not {score.shape}")
    worst = largest_difference(got["score"], score)
    if not worst <= TOLERANCE:
        fault(f"{name}: scores differ by {worst}")
    if ("probability" in got) != (task != "regression") or ("class" in got) != (task == "multiclass"):
        fault(f"{name}: outputs {list(got)}")
    if "probability" in got and not largest_difference(got["probability"], probability) <= TOLERANCE:
        fault(f"{name}: probabilities differ by {largest_difference(got['probability'], probability)}")
    if "class" in got and not np.array_equal(got["class"], np.argmax(score, axis=1)):
        fault(f"{name}: classes differ")
    return worst


def check_shapes(name, s, rows):
    """Rows alone and no rows at all, without padding."""
    all_scores = s.run(["score"], feeds(s, rows))[0]
    for r in range(len(rows)):
        if not np.array_equal(s.run(["score"], feeds(s, rows[r:r + 1], pad=0))[0], all_scores[r:r + 1]):
            return fault(f"{name}: row {r} alone has another score")
    if s.run(["score"], feeds(s, []))[0].shape[0] != 0:
        fault(f"{name}: no rows")
    return None


def check_model(kind, task, extra):
    fields, name = kind != "fm", f"{kind}-{task}{'-' + extra[0].strip('-') if extra else ''}"
    R.write("train.txt", R.random_rows(1, 300) + R.one_of_each(2, 100), fields, TASKS[task])
    run("fm", "train", "train.txt", "-o", "m", "--kind", kind, "--task", task, "-k", 5, "--epochs", 3, "--init-scale", 0.3, "-q", *extra)
    path = pathlib.Path(name + ".onnx")
    report = json.loads(run("fm", "export", "m", "--onnx", path, "--json"))
    if report["bytes"] != path.stat().st_size:
        fault(f"{name}: {report}")
    onnx.checker.check_model(str(path), full_check=True)
    check_metadata(path, "m", kind, task)
    s = session(path)
    extreme = R.extreme_rows() if not extra else R.random_rows(5, 20, 100.0)
    worst = [check_outputs(name, s, "m", rows, fields, task)
             for rows in (R.random_rows(3, 200, beyond=9), R.one_of_each(4, 50), extreme)]
    check_shapes(name, s, R.random_rows(6, 5, beyond=9))
    print(name, "largest differences", worst)


def check_external(kind):
    """A file of parameters beside it gives the same scores."""
    fields = kind != "fm"
    R.write("train.txt", R.random_rows(1, 300), fields, TASKS["binary"])
    run("fm", "train", "train.txt", "-o", "m", "--kind", kind, "-q")
    run("fm", "export", "m", "--onnx", "whole.onnx")
    report = json.loads(run("fm", "export", "m", "--onnx", "parts.onnx", "--external-above", "1K", "--json"))
    if pathlib.Path(report["data_file"]).stat().st_size != report["data_bytes"] or pathlib.Path("parts.onnx").stat().st_size > 16384:
        fault(f"external {report}")
    onnx.checker.check_model("parts.onnx", full_check=True)
    rows = R.random_rows(7, 100)
    whole, parts = session("whole.onnx"), session("parts.onnx")
    if not np.array_equal(whole.run(["score"], feeds(whole, rows))[0], parts.run(["score"], feeds(parts, rows))[0]):
        fault("external parameters give other scores")


def main():
    with tempfile.TemporaryDirectory() as folder:
        import os
        os.chdir(folder)
        for kind in KINDS:
            for task in TASKS:
                check_model(kind, task, [])
            check_model(kind, "binary", ["--normalize"])
            check_external(kind)
    sys.exit(f"{len(faults)} faults" if faults else 0)


main()
