#!/usr/bin/env python3
"""make.py [WHAT…]: makes the files in this folder anew, with libraries that the gate does
not install. WHAT is joblib, keras, gguf, flax, hdf5 or tensorflow; all of them without an
argument.

  pip install scikit-learn==1.9.1 joblib==1.6.0 keras==3.15.1 h5py==3.14.0 gguf==0.19.0 \\
      flax==0.12.8 tensorflow-cpu==2.21.0
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np

os.chdir(pathlib.Path(__file__).parent)


def make_joblib():
    """a and b hold the same; c and objects-c do not. z is compressed."""
    import joblib
    from sklearn.linear_model import LogisticRegression
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 3))
    y = (x[:, 0] > 0) * 1

    def model(c):
        return LogisticRegression(C=c).fit(x, y)

    joblib.dump({"m": model(1.0), "z": 1}, "a.joblib")
    joblib.dump({"z": 1, "m": model(1.0)}, "b.joblib")
    joblib.dump({"m": model(2.0), "z": 1}, "c.joblib")
    joblib.dump({"m": model(1.0), "z": 1}, "z.joblib", compress=3)
    for name, last in (("objects-a", "x"), ("objects-c", "y")):
        joblib.dump({"o": np.array([{"k": 1}, None, last], dtype=object), "f": np.asfortranarray(x[:2])}, f"{name}.joblib")


def make_keras():
    """a and b are saved a second apart and hold the same; c does not."""
    os.environ["KERAS_BACKEND"] = "jax"
    import keras
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        keras.backend.clear_session()
        keras.utils.set_random_seed(seed)
        model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4), keras.layers.Dense(2)])
        model.compile("adam", "mse")
        model.save(f"{name}.keras")
        model.save_weights(f"{name}.weights.h5")
        model.save(f"{name}.legacy.h5")
        time.sleep(1.1)


def make_gguf():
    """a and b hold the same with other orders; c does not. One tensor is quantized."""
    import gguf
    for name, value, turn in (("a", 1.0, False), ("b", 1.0, True), ("c", 2.0, False)):
        writer = gguf.GGUFWriter(f"{name}.gguf", "llama")
        writer.add_uint32("llama.block_count", 1)
        writer.add_array("tokenizer.ggml.tokens", ["a", "b"])
        writer.add_float32("llama.rope.freq_base", 10000.0)
        tensors = [("w", np.full((2, 32), value, np.float32)), ("h", np.arange(6, dtype=np.float16).reshape(2, 3)),
                   ("q", gguf.quants.quantize(np.linspace(-1, 1, 64, dtype=np.float32).reshape(2, 32), gguf.GGMLQuantizationType.Q8_0))]
        for key, array in reversed(tensors) if turn else tensors:
            writer.add_tensor(key, array, raw_dtype=gguf.GGMLQuantizationType.Q8_0 if key == "q" else None)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()


def make_flax():
    """a and b hold the same in other orders; c does not."""
    import flax.serialization
    import jax.numpy as jnp
    for name, value, turn in (("a", 1.0, False), ("b", 1.0, True), ("c", 2.0, False)):
        params = {"kernel": jnp.full((2, 3), value), "bias": jnp.arange(3, dtype=jnp.bfloat16), "scale": np.float32(0.5)}
        state = {"params": dict(reversed(params.items())) if turn else params, "step": 3, "z": 1j, "note": "x", "raw": b"y", "none": None, "empty": {}}
        open(f"{name}.msgpack", "wb").write(flax.serialization.msgpack_serialize(state))


def make_hdf5():
    """a and b hold the same in other forms of the format; c does not."""
    import h5py
    for name, value, form in (("a", 1.0, {}), ("b", 1.0, {"libver": "v108", "userblock_size": 1024}), ("c", 2.0, {})):
        with h5py.File(f"types-{name}.h5", "w", **form) as f:
            group = f.create_group("g/h")
            for key, v in {"int": 3, "text": "x", "fixed": np.bytes_("ab"), "list": ["x", "y"], "float": np.float32(value), "array": np.arange(3),
                           "large": np.uint64(2**63 + 5), "negative": np.int8(-3), "bool": True, "none": h5py.Empty("f4")}.items():
                group.attrs[key] = v
            f["float"] = np.full((3, 4), value, "f4")
            f["big-endian"] = np.arange(4, dtype=">f8")
            f.create_dataset("packed", data=np.arange(600).reshape(20, 30), compression="gzip", shuffle=True, chunks=(7, 13))
            f.create_dataset("checked", data=np.arange(100), fletcher32=True, chunks=(10,))
            f["bool"], f["complex"], f["half"] = np.array([True, False]), np.arange(3) * 1j, np.arange(3, dtype="f2")
            f["record"] = np.array([(1, value)], dtype=[("a", "i4"), ("b", "f8")])
            f["texts"], f["fixed"], f["scalar"], f["text"] = ["a", "bcd", ""], np.array([b"ab", b"c"]), 2.5, "hello"
            f.create_dataset("chunked texts", data=np.array([["a", "b"], ["c", "d"]], object), dtype=h5py.string_dtype(), chunks=(1, 2))
            f["empty"] = np.zeros((0, 3))
            f.create_dataset("unwritten", shape=(5, 5), dtype="f4")
            f.create_dataset("filled", shape=(20, 5), dtype="f4", chunks=(10, 5), fillvalue=value)
            f["soft"], f["outside"], f["hard"] = h5py.SoftLink("/float"), h5py.ExternalLink("other.h5", "/x"), f["float"]
            f["g/h/loop"], f["reference"] = f["g"], f["float"].ref
            f.create_group("nothing")
    for name, text in (("unread-a", "x"), ("unread-b", "xx")):
        with h5py.File(f"{name}.h5", "w", userblock_size=512 * len(text)) as f:
            lists = f.create_dataset("lists", (2,), dtype=h5py.vlen_dtype("i4"))
            lists[0] = [1, 2]
            f.create_dataset("filtered", data=np.arange(100), compression="lzf")


def make_tensorflow():
    """tf-a and tf-b hold the same in one and in two shards, tf-c does not, and tf-p has a
    partitioned variable. Fingerprints a and b are of one program run twice, c is of another."""
    import tensorflow as tf
    save, merge = tf.raw_ops.SaveV2, tf.raw_ops.MergeV2Checkpoints
    for name, value in (("a", 1.0), ("b", 1.0), ("c", 2.0)):
        values = {"w": tf.fill([3, 4], value), "h": tf.range(4, dtype=tf.bfloat16), "n": tf.constant(7, tf.int64), "t": tf.constant(["a", "bcd", ""]),
                  "s": tf.constant("x"), "k": tf.constant([True, False]), "z": tf.constant([1 + 2j]), "e": tf.zeros([0, 3])}
        keys = [k + "/.ATTRIBUTES/VARIABLE_VALUE" for k in values]
        parts = (slice(0, 3), slice(3, None)) if name == "b" else (slice(None),)
        for i, part in enumerate(parts):
            save(prefix=f"part{i}" if len(parts) > 1 else f"tf-{name}", tensor_names=keys[part], shape_and_slices=[""] * len(keys[part]),
                 tensors=list(values.values())[part])
        if len(parts) > 1:
            merge(checkpoint_prefixes=["part0", "part1"], destination_prefix=f"tf-{name}", delete_old_dirs=False)
    save(prefix="tf-p", tensor_names=["w"], shape_and_slices=["4 2 0,2:-"], tensors=[tf.ones([2, 2])])
    program = """if True:
        import sys, tensorflow as tf
        m = tf.Module()
        m.w = tf.Variable([float(sys.argv[2])])
        tf.saved_model.save(m, sys.argv[1])"""
    with tempfile.TemporaryDirectory() as scratch:
        for name, value in (("a", 1), ("b", 1), ("c", 2)):
            subprocess.run([sys.executable, "-c", program, f"{scratch}/{name}", str(value)], check=True)
            os.makedirs(f"saved-{name}", exist_ok=True)
            shutil.copy(f"{scratch}/{name}/fingerprint.pb", f"saved-{name}")


for what in sys.argv[1:] or ["joblib", "keras", "gguf", "flax", "hdf5", "tensorflow"]:
    globals()[f"make_{what}"]()
