#!/usr/bin/env python3
"""tests/onnx/check.py LOCKSTEP: models of every kind and task, exported, pass onnx's checker
and give in ONNX Runtime the scores of `fm predict`."""
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime as ort

import reference as reference_module
import rows as R

lockstep = str(pathlib.Path(sys.argv[1]).resolve())
KINDS = ["fm", "ffm", "fwfm"]
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
    report = json.loads(run("fm", "export", "m", "--onnx", path, *checked(task, extra), "--json"))
    if report["bytes"] != path.stat().st_size:
        fault(f"{name}: {report}")
    onnx.checker.check_model(str(path), full_check=True)
    check_metadata(path, "m", kind, task)
    s = session(path)
    extreme = R.extreme_rows() if not extra else R.random_rows(5, 20, 100.0)
    worst = [check_outputs(name, s, "m", rows, fields, task)
             for rows in (R.random_rows(3, 200, beyond=9), R.one_of_each(4, 50), extreme)]
    check_shapes(name, s, R.random_rows(6, 5, beyond=9))
    check_exact(kind, task, extra)
    for form in ("int8", "fp16") if not extra else ():
        check_quantized(kind, task, form)
    print(name, "largest differences", worst)


def bits(a):
    return np.asarray(a, np.float32).reshape(-1).view(np.int32)


def check_exact(kind, task, extra):
    """The same bits with one thread and with two, optimized and not: those of the
    definition in whole numbers. Near to the ordinary scores."""
    fields, name = kind != "fm", f"exact-{kind}-{task}{'-' + extra[0].strip('-') if extra else ''}"
    run("fm", "export", "m", "--onnx", "exact.onnx", "--exact", *checked(task, extra))
    onnx.checker.check_model("exact.onnx", full_check=True)
    sessions = [session("exact.onnx", threads, optimize) for threads in (1, 2) for optimize in (False, True)]
    reference = reference_module.Exact("m")
    extreme = [] if extra else R.extreme_rows()
    for rows in (R.random_rows(3, 60, beyond=9), R.one_of_each(4, 10), R.random_rows(8, 10, 1e-20), extreme):
        want, got = bits(reference.rows(rows)), [bits(s.run(["score"], feeds(s, rows))[0]) for s in sessions]
        for g in got:
            if not np.array_equal(g, want):
                fault(f"{name}: {np.count_nonzero(g != want)} of {want.size} scores are not those of the definition")
        if extra and rows and rows[0][1] and abs(rows[0][1][0][2]) < 1e-10:
            continue  # squares that fm predict refuses to normalize
        if rows and rows is not extreme and not largest_difference(want.view(np.float32), predict("m", rows, fields).reshape(-1)) < 2e-5:
            fault(f"{name}: far from fm predict: {largest_difference(want.view(np.float32), predict('m', rows, fields).reshape(-1))}")
    check_shapes(name, sessions[0], R.random_rows(6, 5, beyond=9))
    check_refused(name, sessions[0])


def check_refused(name, s):
    """A row with a value that is no number, and one with more entries than are summed
    exactly, have NaN as their score, and no other row has."""
    rows = R.random_rows(9, 4) + [(0, [(0, 1, np.float32(1)), (1, 2, np.float32("inf"))]), (0, [(0, 1, np.float32("nan"))])]
    if np.isnan(s.run(["score"], feeds(s, rows))[0].reshape(6, -1)).any(axis=1).tolist() != [False] * 4 + [True] * 2:
        fault(f"{name}: values that are no numbers")
    for n, refused in ((2048, False), (2049, True)):
        one = {"index": np.full((1, n), -1, np.int64), "field": np.zeros((1, n), np.int64), "value": np.ones((1, n), np.float32)}
        if np.isnan(s.run(["score"], {i.name: one[i.name] for i in s.get_inputs()})[0]).all() != refused:
            fault(f"{name}: {n} entries")


def checked(task, extra):
    """Starting Python with ONNX Runtime takes most of an export's time."""
    return ["--verify", sys.executable] if task == "binary" and not extra else ["--no-verify"]


def check_quantized(kind, task, form):
    """The loss that is printed is the one that ONNX Runtime has; the file is smaller."""
    fields, name = kind != "fm", f"{form}-{kind}-{task}"
    report = json.loads(run("fm", "export", "m", "--onnx", "small.onnx", "--quantize", form, "--data", "train.txt", *checked(task, []), "--json"))
    onnx.checker.check_model("small.onnx", full_check=True)
    if not report["bytes"] < report["float32_bytes"] or report["bytes"] != pathlib.Path("small.onnx").stat().st_size:
        fault(f"{name}: {report}")
    truth = json.loads(run("fm", "eval", "m", "train.txt", "--json"))
    if any(report["before"][k] != truth[k] for k in report["before"]) or not report["before"]:
        fault(f"{name}: before {report['before']}, {truth}")
    s = session("small.onnx")
    rows = R.random_rows(1, 300) + R.one_of_each(2, 100)
    score = s.run(["score"], feeds(s, rows))[0].astype(np.float64)
    labels = np.array([TASKS[task](c) for c, _ in rows], np.float64)
    metric, value = ("rmse", math.sqrt(np.mean((score - labels)**2))) if task == "regression" else ("logloss", logloss(score, labels, task))
    if not abs(report["after"][metric] - value) <= 1e-5 * value:
        fault(f"{name}: {metric} {report['after'][metric]}, ONNX Runtime's {value}")
    if not abs(report["after"][metric] - report["before"][metric]) <= 0.01 * value or report["after"] == report["before"]:
        fault(f"{name}: {metric} from {report['before'][metric]} to {report['after'][metric]}")


def logloss(score, labels, task):
    if task == "binary":
        return float(np.mean(np.logaddexp(0, np.where(labels > 0, -score, score))))
    top = score.max(axis=1)
    whole = top + np.log(np.exp(score - top[:, None]).sum(axis=1))
    return float(np.mean(whole - score[np.arange(len(labels)), labels.astype(int)]))


def check_external(kind):
    """A file of parameters beside it gives the same scores."""
    fields = kind != "fm"
    R.write("train.txt", R.random_rows(1, 300), fields, TASKS["binary"])
    run("fm", "train", "train.txt", "-o", "m", "--kind", kind, "-q")
    run("fm", "export", "m", "--onnx", "whole.onnx", "--no-verify")
    report = json.loads(run("fm", "export", "m", "--onnx", "parts.onnx", "--external-above", "1K", "--verify", sys.executable, "--json"))
    if pathlib.Path(report["data_file"]).stat().st_size != report["data_bytes"] or pathlib.Path("parts.onnx").stat().st_size > 16384:
        fault(f"external {report}")
    onnx.checker.check_model("parts.onnx", full_check=True)
    rows = R.random_rows(7, 100)
    whole, parts = session("whole.onnx"), session("parts.onnx")
    if not np.array_equal(whole.run(["score"], feeds(whole, rows))[0], parts.run(["score"], feeds(parts, rows))[0]):
        fault("external parameters give other scores")


def check_failures():
    """A file that gives other scores is not kept; what failed is in the record that monitor
    reads. A Python without ONNX Runtime is an error only where it was named."""
    record = pathlib.Path("exports.jsonl")
    fake = pathlib.Path("fake")
    for answer, status, kept in (('{"runtime": "1", "largest": 0.5}', 1, False), ('{"runtime": "1", "fault": "no Gather"}', 1, False),
                                 ("not an object", 1, False), ('{"missing": "no module"}', 3, False), ('{"runtime": "1", "largest": 1e-7}', 0, True),
                                 ('{"runtime": "1"}', 1, False)):
        fake.write_text(f"#!/bin/sh\necho '{answer}'\n")
        fake.chmod(0o755)
        pathlib.Path("x.onnx").write_text("old")
        run("fm", "export", "m", "--onnx", "x.onnx", "--verify", "./fake", status=status)
        if (pathlib.Path("x.onnx").read_bytes() != b"old") != kept:
            fault(f"{answer}: the file is {'not ' if kept else ''}kept")
        if list(pathlib.Path(".").glob("*unverified*")):
            fault(f"{answer}: something is left")
        last = json.loads(record.read_text().splitlines()[-1])
        if last["success"] != kept or not last["file"].endswith("/x.onnx") or ("error" in last) == kept:
            fault(f"{answer}: recorded as {last}")
    run("fm", "export", "m", "--onnx", "x.onnx", "--verify", "./absent", status=2)


def check_guide():
    """What docs/guide-fm.md shows of Python."""
    page = (pathlib.Path(__file__).parent.parent.parent / "docs/guide-fm.md").read_text()
    code = page.split("## Serving a model with ONNX")[1].split("```python\n")[1].split("```")[0]
    R.write("train.txt", R.random_rows(1, 300), False, TASKS["binary"])
    run("fm", "train", "train.txt", "-o", "m", "-q")
    run("fm", "export", "m", "--onnx", "model.onnx")
    names = {}
    exec(compile(code, "guide-fm.md", "exec"), names)
    rows = [(0, [(0, 3, np.float32(1)), (0, 17, np.float32(0.5))]), (0, [(0, 5, np.float32(1)), (0, 8, np.float32(1)), (0, 11, np.float32(2))])]
    if not largest_difference(names["score"], predict("m", rows, False)[:, 0]) <= TOLERANCE:
        fault("the guide's scores")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["LOCKSTEP_EXPORTS"] = "exports.jsonl"
        for kind in KINDS:
            for task in TASKS:
                check_model(kind, task, [])
            check_model(kind, "binary", ["--normalize"])
            check_external(kind)
        check_guide()
        check_failures()
    sys.exit(f"{len(faults)} faults" if faults else 0)


main()
