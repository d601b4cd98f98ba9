"""Makes an interpreter's PyTorch exact, right after its import: `lockstep run --exact`. The
package lies beside the hook, and the library is the program's.
"""
import sys

import lockstep_hook as hook


def start(policy):
    hook._part("lockstep._library")
    sys.modules["lockstep._library"].use(policy["library"])
    hook._part("lockstep.torch")
    exact = sys.modules["lockstep.torch"]
    exact.exact(strict=policy["exact"] == "strict", tell=False)
    hook.at_child.append(exact._counts.clear)
    hook.at_exit.append(lambda: {"exact": exact.coverage()})
