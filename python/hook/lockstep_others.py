"""Applies the policy to JAX and TensorFlow right after their import."""
import os
import sys

import lockstep_hook as hook
import lockstep_switches as switches


def _watch_jax(config, skip):
    """Names the line that changes the precision; JAX itself is asked again at the end."""
    real = config.update

    def update(name, value):
        if name == "jax_default_matmul_precision" and value != hook._wanted["jax.default_matmul_precision"]:
            hook.note_undone("jax.default_matmul_precision", value, hook.frames(skip))
        real(name, value)
    try:
        config.update = update
    except AttributeError:
        pass  # a release whose configuration takes no attributes: the end still tells


def on_jax(module):
    applied = switches.set_jax(module, hook.POLICY)
    hook.module_loaded("jax", getattr(module, "__version__", None), applied,
                  lambda: {"jax.default_matmul_precision": module.config.jax_default_matmul_precision})
    hook.at_exit.append(_jax_memory)
    if applied:
        _watch_jax(module.config, (os.path.dirname(getattr(module, "__file__", None) or hook._HOOK_DIR) + os.sep,))


def _jax_memory():
    """Peak memory of the GPUs that JAX has used; asking one that it has not used would
    take that GPU's memory."""
    bridge = sys.modules.get("jax._src.xla_bridge")
    gpus = []
    for backend in list(getattr(bridge, "_backends", {}).values()):
        for d in backend.local_devices() if backend.platform in ("gpu", "cuda", "rocm") else ():
            stats, gpu = d.memory_stats() or {}, {"index": d.id, "name": d.device_kind, "library": "jax"}
            for key, name in (("peak_allocated_bytes", "peak_bytes_in_use"), ("peak_reserved_bytes", "peak_pool_bytes")):
                if name in stats:
                    gpu[key] = stats[name]
            gpus.append(gpu)
    return {"gpus": gpus} if gpus else None


def on_tensorflow(module):
    applied = switches.set_tensorflow(module, hook.POLICY)
    experimental = module.config.experimental
    hook.module_loaded("tensorflow", getattr(module, "__version__", None), applied,
                  lambda: {"tensorflow.tensor_float_32": experimental.tensor_float_32_execution_enabled()},
                  seed=hook.SEED if hook.LEVEL >= 2 else None)
