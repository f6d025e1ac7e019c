"""Ten million scores from memory to epsilon by the split rule, in numpy: sort, count, bound.

The chosen half is sorted and tries 4096 thresholds, the other half is counted at the best of them.
Needs numpy==2.3.5 and scipy==1.16.3.
"""

import json
import time

import numpy as np
from scipy.stats import beta

DELTA, TAIL = 1e-5, 0.025


def upper(events, trials):
    return np.where(events >= trials, 1.0, beta.ppf(1 - TAIL, events + 1, np.maximum(trials - events, 1e-9)))


def epsilon(fp, fn, trials):
    fpr, fnr = upper(fp, trials), upper(fn, trials)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = [np.log((1 - fnr - DELTA) / fpr), np.log((1 - fpr - DELTA) / fnr)]
    return np.nan_to_num(np.maximum(*values), nan=0.0)


rng = np.random.default_rng(1)
quarter = 2_500_000
halves = [(rng.normal(1, 1, quarter), rng.normal(0, 1, quarter)) for _ in range(2)]
start = time.process_time()
for world in halves[0]:
    world.sort()
target, zero_out = halves[0]
ranks = np.unique(np.concatenate([np.arange(1024), np.geomspace(1024, quarter - 1, 3072).astype(int)]))
cuts = zero_out[quarter - 1 - ranks]
fp = quarter - np.searchsorted(zero_out, cuts, side="right")
fn = np.searchsorted(target, cuts, side="right")
best = cuts[np.argmax(epsilon(fp, fn, quarter))]
target, zero_out = halves[1]
fp = np.count_nonzero(zero_out > best)
fn = np.count_nonzero(target <= best)
found = float(epsilon(np.array([fp]), np.array([fn]), quarter)[0])
seconds = time.process_time() - start
print(json.dumps({"scores_per_cpu_second": 4 * quarter / seconds, "epsilon": found}))
