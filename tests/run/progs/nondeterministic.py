"""Nondeterministic on purpose, in the way that the argument names."""
import os
import random
import sys
import time

import torch

kind, out = sys.argv[1], os.environ["LOCKSTEP_OUT"]
if "device" in sys.argv and "lockstep_ops" in sys.modules:  # digests as for tensors on a GPU: left there, fetched in batches
    digester = sys.modules["lockstep_ops"]._Digester
    digester.on_cpu = digester.on_device


class Part:
    def __init__(self, n):
        self.value = n / 3


def unordered_set():
    total = torch.zeros(())
    # addresses as a longer program would have them; of the same size, or one start in 64 had the order of another
    here = [Part(n) for n in range(int.from_bytes(os.urandom(2), "little"))]
    for p in list({Part(n) for n in range(20000)})[:64]:  # hashed by address: another order in each process
        total = total + p.value  # LINE unordered_set
    del here
    return total


def augment():
    random.seed(time.time_ns())
    x = torch.ones(16, 16)
    shift = random.random()
    return (x * shift).sum()  # LINE augment


def index_add():
    generator = torch.Generator()
    generator.manual_seed(time.time_ns())
    order = torch.randperm(4096, generator=generator)  # LINE index_add
    target = torch.zeros(7)
    return target.index_add(0, order % 7, torch.rand(4096)[order] * 1e3)


model = torch.nn.Linear(4, 4)
result = {"unordered_set": unordered_set, "augment": augment, "index_add": index_add}[kind]()
torch.save({"result": result, "model": model.state_dict()}, out + "/result.pt")
