# a model whose metadata claim something else than its tensors are: refused by name,
# before memory is asked for
D=$ROOT/tests/data
for kind in fm ffm fwfm; do lockstep fm train $D/small.ffm --kind $kind -o $kind -q; done
python3 - <<'P'
import json, struct
def change(model, name, value, options=False, dtype=None, shape=None):
    data = open(model, "rb").read()
    n = struct.unpack("<Q", data[:8])[0]
    head = json.loads(data[8 : 8 + n])
    meta = head["__metadata__"]
    if options:
        meta["options"] = json.dumps({**json.loads(meta["options"]), name: value})
    elif dtype or shape:
        head[name]["dtype"] = dtype or head[name]["dtype"]
        head[name]["shape"] = shape or head[name]["shape"]
    elif value is None:
        del meta[name]
    else:
        meta[name] = value
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    change.n += 1
    open(f"{change.n:02}-{model}-{name}", "wb").write(struct.pack("<Q", len(text)) + text + data[8 + n :])
change.n = 0
change("fm", "n_features", "4294967296")
change("fm", "n_features", "0")
change("fm", "n_features", "-1")
change("fm", "options", None)
change("fm", "options", "[]")
change("fm", "numerics_version", "2")
change("fm", "format", "other")
change("fm", "factors", 256, options=True)
change("fm", "factors", 0, options=True)
change("fm", "seed", -1, options=True)
change("fm", "lr", "much", options=True)
change("fm", "kind", "ffm", options=True)
change("fm", "class_weight", [1] * 65, options=True)
change("fm", "class_weight", ["x"], options=True)
change("fm", "normalize", 5, options=True)
change("fm", "linear", None, dtype="I32")
change("fm", "linear", None, shape=[100, 3])
change("ffm", "n_fields", "65536")
change("ffm", "n_fields", "1")
change("fwfm", "n_fields", "0")
change("fwfm", "n_fields", "16385")
change("fwfm", "n_fields", "38")
P
for m in [0-9]*; do lockstep fm digest $m; echo "status $?"; done | sort | uniq -c
