# torch's newer switches (2.9 and later): named with their line, and refused under --hold.
# Where the torch that is installed is
# older, it gets them from a stand-in: the two functions of torch._C, and the attributes
# that call them.
py=$("$ROOT/tools/venv") || exit 77
mkdir shim
cat >shim/sitecustomize.py <<'PY'
import os
import sys

SWITCH = """
class Switch:
    def __init__(self, *place):
        self.__dict__["place"] = place

    def __setattr__(self, name, value):
        torch._C._set_fp32_precision_setter(*self.place, value)

    def __getattr__(self, name):
        return torch._C._get_fp32_precision_getter(*self.place)
"""


class Loader:
    def __init__(self, inner):
        self.inner = inner

    def create_module(self, spec):
        return self.inner.create_module(spec)

    def exec_module(self, torch):
        self.inner.exec_module(torch)
        if hasattr(torch._C, "_set_fp32_precision_setter"):
            return
        values = {(b, o): "none" for b in ("generic", "cuda", "mkldnn") for o in ("all", "matmul", "conv", "rnn")}
        values["cuda", "rnn"] = "tf32"  # as torch has it before anyone sets something
        torch._C._get_fp32_precision_getter = lambda b, o: values[b, o]
        torch._C._set_fp32_precision_setter = lambda b, o, v: values.update({(b, o): v}) or v

        names = {"torch": torch}
        exec(compile(SWITCH, os.path.join(os.path.dirname(torch.__file__), "backends", "newer.py"), "exec"), names)
        Switch = names["Switch"]
        torch.newer = {"matmul": Switch("cuda", "matmul"), "conv": Switch("cuda", "conv"), "rnn": Switch("cuda", "rnn")}


class Finder:
    def find_spec(self, name, path=None, target=None):
        if name != "torch":
            return None
        from importlib.machinery import PathFinder
        spec = PathFinder.find_spec(name, path, target)
        spec.loader = Loader(spec.loader)
        return spec


sys.meta_path.insert(1, Finder())  # after the hook's, which then sees a torch that has the switches
PY
cat >prog.py <<'PY'
import torch

b = torch.backends
switch = getattr(torch, "newer", None) or {"matmul": b.cuda.matmul, "conv": b.cudnn.conv, "rnn": b.cudnn.rnn}
print("before", *(s.fp32_precision in ("none", "ieee") for s in switch.values()))
switch["matmul"].fp32_precision = "tf32"
switch["conv"].fp32_precision = "ieee"
print("after", *(s.fp32_precision in ("none", "ieee") for s in switch.values()))
b.cuda.matmul.allow_bf16_reduced_precision_reduction = True
PY
export PYTHONPATH=$PWD/shim
lockstep run -- "$py" prog.py 2>&1
lockstep run --hold --strict -- "$py" prog.py 2>&1
echo "status $?"
