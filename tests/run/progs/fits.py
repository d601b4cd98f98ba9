"""Several of the programs beside this one in one process, which spares the imports: each with an output folder of its own
below the run's. NAME…"""
import os
import runpy
import sys

here, out = os.path.dirname(os.path.abspath(__file__)), os.environ["LOCKSTEP_OUT"]
names, sys.argv[1:] = sys.argv[1:], []
for name in names:
    os.environ["LOCKSTEP_OUT"] = os.path.join(out, name)
    os.mkdir(os.environ["LOCKSTEP_OUT"])
    runpy.run_path(os.path.join(here, name + "_fit.py"), run_name="__main__")
