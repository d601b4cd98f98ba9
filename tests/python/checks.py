#!/usr/bin/env python3
"""tests/python/checks.py NAME...: scikit-learn's check_estimator for estimators of lockstep,
with their defaults."""
import sys
import warnings

import lockstep
from sklearn.utils.estimator_checks import check_estimator

# SGDClassifier, whose list is the same, is in scikit-learn's own tests with these
_WEIGHTS = ("a gradient times a weight of 3 is rounded once, and the sum of three gradients is not: "
            "the last bit of a float32 differs, and the check allows less")
EXPECTED = {"check_sample_weight_equivalence_on_dense_data": _WEIGHTS,
            "check_sample_weight_equivalence_on_sparse_data": _WEIGHTS}


def main(names):
    bad = 0
    for name in names:
        found = check_estimator(getattr(lockstep, name)(), expected_failed_checks=EXPECTED, on_fail=None, on_skip=None)
        failed = [r for r in found if r["status"] == "failed"]
        counts = {s: sum(r["status"] == s for r in found) for s in sorted({r["status"] for r in found})}
        print(name, counts)
        for r in failed:
            print("  %s: %s: %s" % (r["check_name"], type(r["exception"]).__name__, r["exception"]))
        bad += len(failed) + (counts.get("passed", 0) < 40)
    return 1 if bad or not names else 0


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(main(sys.argv[1:]))
