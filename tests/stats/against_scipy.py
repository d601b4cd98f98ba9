"""The numbers of src/stats against scipy: groups of many sizes and scales, Welch's test,
the two one-sided tests, and the bootstrap drawn by a Philox written again here."""
import json
import math
import subprocess
import sys

import numpy as np
from scipy import stats

MASK = 0xFFFFFFFF


def philox(key, lo, hi):
    c = [lo & MASK, lo >> 32, hi & MASK, hi >> 32]
    k0, k1 = key & MASK, key >> 32
    for _ in range(10):
        a, b = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
        c = [b >> 32 ^ c[1] ^ k0, b & MASK, a >> 32 ^ c[3] ^ k1, a & MASK]
        k0, k1 = k0 + 0x9E3779B9 & MASK, k1 + 0xBB67AE85 & MASK
    return c


def means(values, key):
    out = []
    for resample in range(10000):
        words = sum((philox(key, resample, i) for i in range(-(-len(values) // 4))), [])
        out.append(sum(values[w * len(values) >> 32] for w in words[:len(values)]) / len(values))
    return np.array(out)


def bootstrap(a, b, seed):
    keys = [philox(seed, 0x626F6F74 + i, 0) for i in (0, 1)]
    keys = [k[0] | k[1] << 32 for k in keys]
    return np.quantile(means(b, keys[1]) - means(a, keys[0]), [0.025, 0.975])


def near(got, want, what, rel=1e-9):
    if not math.isclose(got, want, rel_tol=rel, abs_tol=1e-300):
        sys.exit(f"{what}: {got!r}, scipy has {want!r}")


def check_group(got, v):
    near(got["mean"], np.mean(v), "mean", 1e-12)
    near(got["sd"], np.std(v, ddof=1), "sd", 1e-11)
    want = stats.t.interval(0.95, len(v) - 1, np.mean(v), stats.sem(v))
    for i in (0, 1):
        near(got["mean_95"][i] - got["mean"], want[i] - np.mean(v), "interval of the mean")


def check_pair(got, a, b, margin):
    welch = stats.ttest_ind(b, a, equal_var=False)
    near(got["welch"]["t"], welch.statistic, "t")
    near(got["welch"]["df"], welch.df, "df")
    near(got["welch"]["p"], welch.pvalue, "p", 1e-8)
    for mine, theirs in zip(got["welch"]["difference_95"], welch.confidence_interval()):
        near(mine - got["difference"], theirs - (np.mean(b) - np.mean(a)), "interval", 1e-8)
    m = margin * abs(np.mean(a))
    lower = stats.ttest_ind(b + m, a, equal_var=False, alternative="greater").pvalue
    upper = stats.ttest_ind(b - m, a, equal_var=False, alternative="less").pvalue
    near(got["equivalence"]["p"], max(lower, upper), "TOST", 1e-6)


def main():
    rng = np.random.default_rng(0)
    cases = []
    for n_a, n_b, scale, shift in [(2, 2, 1, 0), (3, 3, 1e-3, 0), (5, 5, 1e-3, 0.02), (5, 4, 1e-4, 1e-4),
                                   (10, 3, 1, 5), (40, 60, 0.1, 0), (500, 700, 2, 0.3), (3, 50, 1e-3, 0)]:
        for base in (0.82, -300.0):
            a, b = rng.normal(base, scale, n_a), rng.normal(base + shift, 1.7 * scale, n_b)
            cases.append((0.005 if scale < 0.1 else 0.5, a, b))
    lines = "".join(f"{m!r}|{' '.join(map(repr, a.tolist()))}|{' '.join(map(repr, b.tolist()))}\n"
                    for m, a, b in cases)
    out = subprocess.run([sys.argv[1]], input=lines, text=True, capture_output=True, check=True).stdout
    answers = [json.loads(line) for line in out.splitlines()]
    assert len(answers) == len(cases)
    for got, (margin, a, b) in zip(answers, cases):
        check_group(got["a"], a)
        check_group(got["b"], b)
        check_pair(got, a, b, margin)
    for got, (_, a, b) in zip(answers[4:7], cases[4:7]):
        for mine, theirs in zip(got["bootstrap_95"], bootstrap(a.tolist(), b.tolist(), 7)):
            near(mine, theirs, "bootstrap")
    print(f"{len(cases)} pairs agree with scipy")


main()
