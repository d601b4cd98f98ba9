"""Undoes the policy and catches an operation without a deterministic form."""
import os
import sys

import torch

if "benchmark" in sys.argv:
    torch.backends.cudnn.benchmark = True  # LINE benchmark
if "algorithms" in sys.argv:
    torch.use_deterministic_algorithms(False)  # LINE algorithms
if "threads" in sys.argv:
    torch.set_num_threads(2)
if "put" in sys.argv:
    t = torch.zeros(8)
    t.put_(torch.tensor([1, 1]), torch.tensor([1.0, 2.0]))  # LINE put
print("benchmark", torch.backends.cudnn.benchmark, "deterministic", torch.are_deterministic_algorithms_enabled())
if "threads" in sys.argv:
    print("threads", torch.get_num_threads(), "omp", os.environ.get("OMP_NUM_THREADS"))
