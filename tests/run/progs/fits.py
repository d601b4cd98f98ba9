"""Several of examples/ in one process on the CPU, which spares the imports: each with an output
folder of its own below the run's, and with the run's seed. NAME…"""
import os
import pathlib
import runpy
import sys

examples = pathlib.Path(__file__).resolve().parents[3] / "examples"
out, seed, names = os.environ["LOCKSTEP_OUT"], os.environ["LOCKSTEP_SEED"], sys.argv[1:]
for name in names:
    folder = os.path.join(out, name)
    option = "--out_dir" if name == "nanogpt" else "--out"
    sys.argv = [name, f"{option}={folder}", "--device=cpu", f"--seed={seed}"]
    runpy.run_path(str(examples / (name + ".py")), run_name="__main__")
