"""Two histograms of 2^17 bins to the largest epsilon over all thresholds, by scipy's inverse beta.

Needs numpy==2.3.5 and scipy==1.16.3.
"""

import json
import time

import numpy as np
from scipy.stats import beta, norm

BINS, DELTA, TAIL = 1 << 17, 1e-5, 0.025
edges = (np.arange(BINS + 1) / BINS - 0.5) * 16
target, zero_out = [(5e8 * np.diff(norm.cdf(edges - mean))).astype(np.int64) for mean in (1, 0)]
start = time.process_time()
fn = np.cumsum(target)[:-1]
fp = zero_out.sum() - np.cumsum(zero_out)[:-1]


def upper(events, trials):
    return np.where(events >= trials, 1.0, beta.ppf(1 - TAIL, events + 1, np.maximum(trials - events, 1e-9)))


fpr, fnr = upper(fp, zero_out.sum()), upper(fn, target.sum())
with np.errstate(divide="ignore", invalid="ignore"):
    values = np.maximum(np.log((1 - fnr - DELTA) / fpr), np.log((1 - fpr - DELTA) / fnr))
found = float(np.nanmax(values))
seconds = time.process_time() - start
print(json.dumps({"bins_per_cpu_second": BINS / seconds, "ms": seconds * 1e3, "epsilon": found}))
