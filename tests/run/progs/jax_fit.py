"""A fit with JAX, whose keys come from the run's seed as JAX has no generator of its
own; the data from numpy's. [undo]"""
import os
import sys

import jax
import jax.numpy as jnp
import numpy as np

if "undo" in sys.argv:
    jax.config.update("jax_default_matmul_precision", "bfloat16")
key = jax.random.key(int(os.environ["LOCKSTEP_SEED"]))
w, x = jax.random.normal(key, (16, 4)), jnp.asarray(np.random.rand(64, 16), jnp.float32)
step = jax.jit(lambda w: w - 0.1 * jax.grad(lambda w: jnp.mean((jnp.tanh(x @ w) - 0.5) ** 2))(w))
for _ in range(5):
    w = step(w)
np.save(os.environ["LOCKSTEP_OUT"] + "/w.npy", np.asarray(w))
