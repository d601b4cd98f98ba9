# jax and tensorflow, by stand-ins with the functions that the policy calls
cat >jax.py <<'PY'
__version__ = "0.0"
class config:
    jax_default_matmul_precision = None
    @classmethod
    def update(cls, name, value): setattr(cls, name, value)
PY
cat >tensorflow.py <<'PY'
__version__ = "0.0"
calls = []
class random:
    set_seed = staticmethod(lambda s: calls.append(("seed", s)))
class config:
    class experimental:
        tf32 = True
        enable_op_determinism = staticmethod(lambda: calls.append("deterministic"))
        @classmethod
        def enable_tensor_float_32_execution(cls, on): cls.tf32 = on
        @classmethod
        def tensor_float_32_execution_enabled(cls): return cls.tf32
PY
cat >prog.py <<'PY'
import jax, os, tensorflow
print(jax.config.jax_default_matmul_precision, tensorflow.calls, tensorflow.config.experimental.tf32, os.environ["XLA_FLAGS"])
tensorflow.config.experimental.tf32 = True
PY
lockstep run -- python3 prog.py
echo "status $?"
lockstep run --level 1 --precision tf32 -- env XLA_FLAGS= python3 prog.py
echo "status $?"
# a library that does not take the setting ends the program
sed -i 's/cls.tf32 = on/pass/' tensorflow.py
lockstep run -- python3 prog.py
echo "status $?"
