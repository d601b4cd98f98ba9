"""Runs an exported model in ONNX Runtime, over rows whose scores are known, and prints one
line of JSON: the runtime's version and the largest difference, or what is missing, or what
is wrong. The sample is described in src/fm/export/verify.c."""
import json
import sys


def answer(**what):
    print("\n" + json.dumps(what))
    sys.exit(0)


def scores(ort, model, feeds, threads, optimize):
    o = ort.SessionOptions()
    o.intra_op_num_threads = threads
    level = ort.GraphOptimizationLevel
    o.graph_optimization_level = level.ORT_ENABLE_ALL if optimize else level.ORT_DISABLE_ALL
    s = ort.InferenceSession(model, o, providers=["CPUExecutionProvider"])
    return s.run(["score"], {i.name: feeds[i.name] for i in s.get_inputs()})[0]


def main():
    model, sample, rows, entries, outputs, form = sys.argv[1:]
    try:
        import numpy as np
        import onnxruntime as ort
    except Exception as e:  # a package may fail in any way while it is imported
        return answer(missing=f"{type(e).__name__}: {e}")
    shape, runtime = (int(rows), int(entries)), ort.__version__
    cells, data = shape[0] * shape[1], open(sample, "rb").read()
    feeds = {"index": np.frombuffer(data, "<i8", cells).reshape(shape),
             "field": np.frombuffer(data, "<i8", cells, 8 * cells).reshape(shape),
             "value": np.frombuffer(data, "<f4", cells, 16 * cells).reshape(shape)}
    want = np.frombuffer(data, "<f4", shape[0] * int(outputs), 20 * cells)
    exact = form == "exact"
    try:
        got = [scores(ort, model, feeds, t, o).reshape(-1) for t, o in ([(1, False), (1, True), (2, False), (2, True)] if exact else [(0, True)])]
    except Exception as e:  # whatever the runtime says of a model that it cannot run
        return answer(runtime=runtime, fault=f"{type(e).__name__}: {e}"[:250])
    if any(g.shape != want.shape for g in got):
        return answer(runtime=runtime, fault=f"its scores have the shape {got[0].shape}")
    if exact and any(g.tobytes() != want.tobytes() for g in got):
        return answer(runtime=runtime, fault="its scores are not those of the definition, to the bit")
    wide = [g.astype(np.float64) for g in got]
    return answer(runtime=runtime, largest=float(max(np.max(np.abs(g - want) / (1 + np.abs(want))) for g in wide)))


main()
