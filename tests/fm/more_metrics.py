"""Prints what scikit-learn says of the rows of tests/unit/test_more_metrics.c."""

import numpy as np
import sklearn
from sklearn.metrics import (average_precision_score, brier_score_loss, mean_absolute_error, ndcg_score,
                             precision_score, r2_score, recall_score, roc_auc_score)

state = 7
def draw(n):
    global state
    state = (state * 1664525 + 1013904223) % 2**32
    return (state >> 8) % n

N = 200
s3 = np.empty((N, 3), np.float32); label = np.empty((N, 3)); w = np.empty(N); group = np.empty(N)
for i in range(N):
    for k in range(3):
        s3[i, k] = np.float32(draw(40)) * np.float32(0.25) - np.float32(5)
    label[i, 0] = 1 if draw(10) + s3[i, 0] > 6 else 0          # binary
    label[i, 1] = draw(3) if draw(3) else int(np.argmax(s3[i]))  # classes
    label[i, 2] = draw(5)                                      # numbers, gains
    w[i] = draw(5) * 0.5
    group[i] = draw(9)
for weight in None, w:
    b, s = label[:, 0], s3[:, 0].astype(float)
    p = 1 / (1 + np.exp(-s))
    said = s > 0
    soft = np.exp(s3 - s3.max(1, keepdims=True).astype(float)); soft /= soft.sum(1, keepdims=True)
    c = label[:, 1]; ww = np.ones(N) if weight is None else weight
    bins = np.searchsorted(np.linspace(0, 1, 11)[1:-1], p)
    ece = sum(abs((ww * p)[bins == k].sum() - (ww * b)[bins == k].sum()) for k in range(10)) / ww.sum()
    keep = ww > 0
    nd = []
    for g in np.unique(group[keep]):
        at = keep & (group == g)
        if (label[at, 2] > 0).any():
            nd.append(ndcg_score([label[at, 2]], [s[at]]))
    print("weight", weight is not None)
    for name, v in [("MAE", mean_absolute_error(label[:, 2], s, sample_weight=weight)), ("R2", r2_score(label[:, 2], s, sample_weight=weight)),
        ("PRECISION", precision_score(b, said, sample_weight=weight)), ("RECALL", recall_score(b, said, sample_weight=weight)),
        ("PR_AUC", average_precision_score(b, s, sample_weight=weight)), ("BRIER", brier_score_loss(b, p, sample_weight=weight)),
        ("CALIBRATION", ece), ("NDCG", np.mean(nd)),
        ("M PRECISION", precision_score(c, s3.argmax(1), sample_weight=weight, average="macro")), ("M RECALL", recall_score(c, s3.argmax(1), sample_weight=weight, average="macro")),
        ("M AUC", roc_auc_score(c, soft, sample_weight=weight, multi_class="ovr"))]:
        print(f"{name:14} {v:.17g}")
print(sklearn.__version__)
