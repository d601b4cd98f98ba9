"""Nondeterministic on purpose, in the way that the argument names."""
import copy
import os
import random
import sys
import time

import torch

kind, out = sys.argv[1], os.environ["LOCKSTEP_OUT"]
# Digests as for tensors on a GPU: left there, fetched in batches
if "device" in sys.argv and "lockstep_ops" in sys.modules:
    digester = sys.modules["lockstep_ops"]._Digester
    digester.on_cpu = digester.on_device


class Part:
    def __init__(self, n):
        self.value = n / 3


def unordered_set():
    total = torch.zeros(())
    # addresses as a longer program would have them; of the same size, or one start in 64
    # had the order of another
    here = [Part(n) for n in range(int.from_bytes(os.urandom(2), "little"))]
    # Hashed by address: another order in each process
    for p in list({Part(n) for n in range(20000)})[:64]:
        total = total + p.value  # LINE unordered_set
    del here
    return total


def augment():
    x = torch.ones(16, 16)
    random.seed(time.time_ns())  # LINE augment
    shift = random.random()
    return (x * shift).sum()


def index_add():
    generator = torch.Generator()
    generator.manual_seed(time.time_ns())  # LINE index_add
    order = torch.randperm(4096, generator=generator)
    target = torch.zeros(7)
    return target.index_add(0, order % 7, torch.rand(4096)[order] * 1e3)


def entropy():
    x = torch.ones(16, 16)
    return (x * random.SystemRandom().random()).sum()  # LINE entropy


def copied():
    # Into memory that is never read before it is written
    here = [copy.deepcopy(torch.ones(1000)) for _ in range(50)]
    torch.manual_seed(time.time_ns())  # LINE copied
    return sum(x.sum() for x in here) + torch.rand(())


def memory():
    for _ in range(200):
        bytearray(os.urandom(4096))
    blank = torch.empty(1000).clone()  # copying it is not reading it
    return blank.nan_to_num() + 1  # LINE memory


def in_worker(number, shared, done):
    from numpy.random import PCG64, Generator
    # The order in which workers start changes from run to run
    time.sleep(random.SystemRandom().random())
    if kind == "spawned":
        x = torch.ones(4) * (number + 1)
        if number == 1:
            x = x * Generator(PCG64(time.time_ns())).random()  # LINE spawned
            shared.add_(x)
    else:
        # not the time, which is the same float32 for two minutes
        shared.numpy()[:] = random.SystemRandom().random()
    done.put(number)


def spawned():
    context = torch.multiprocessing.get_context("spawn" if kind == "spawned" else "fork")
    shared, done = torch.zeros(4).share_memory_(), context.Queue()
    workers = [context.Process(target=in_worker, args=(n, shared, done)) for n in range(2)]
    for w in workers:
        w.start()
    for w in workers:
        done.get()
        w.join()
    return shared + 1  # LINE shared


shared = spawned
model = torch.nn.Linear(4, 4)
if __name__ == "__main__":
    result = globals()[kind]()
    torch.save({"result": result, "model": model.state_dict()}, out + "/result.pt")
