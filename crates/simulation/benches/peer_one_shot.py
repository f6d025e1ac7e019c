"""One-shot audits in Python: cosines of a noisy sum, bounds from cosines, and cosines of directions.

The same work as the library, written as a careful Python user would.
Needs numpy==2.3.5 and scipy==1.16.3.
"""

import json
import math
import sys
import time

import numpy as np
from scipy.special import log_ndtr, ndtri_exp
from scipy.stats import gamma, t

D = 10_000_000
rng = np.random.Generator(np.random.PCG64(1))


def trial():
    """Cosines of 3,162 canaries with a noisy sum, by their joint distribution."""
    k, sigma = 3_162, 1.0
    z = rng.standard_normal(k, dtype=np.float32)
    along = rng.standard_normal()
    h = (along * along + rng.chisquare(D - 1)) / D
    h = 1 + math.sqrt((k - 1) / k) * (h - 1)
    u = sigma * math.sqrt(rng.chisquare(D))
    r = math.sqrt(u * u + 2 * math.sqrt(k) * u * along / math.sqrt(D) + k * h)
    m = math.sqrt(D) * (u * along / math.sqrt(D) + math.sqrt(k) * h) / (math.sqrt(k) * r)
    return (m + z - z.mean()) / math.sqrt(D)


SCORES = rng.standard_normal(1_000_000) / math.sqrt(D)


def cosines():
    """ε from a million cosines at ranks of a grid by an equal share of the significance, and z̄.

    Fewer bounds than the library computes, and simpler limits.
    """
    score = SCORES * math.sqrt(D - 1) / np.sqrt(1 - SCORES * SCORES)
    ln_p = np.sort(t.logsf(score, D - 1))
    ranks = np.unique(np.floor(2 ** (np.arange(33) / 2) + 0.5).astype(int))
    limits = gamma.ppf(0.05 / len(ranks), ranks)
    epsilon = np.max(np.log(limits / len(SCORES)) - ln_p[ranks - 1])
    return epsilon + -ndtri_exp(ln_p).mean() + log_ndtr(-1.0)


CHANGE = rng.standard_normal(D, dtype=np.float32)


def directions():
    """The cosine of one fresh direction with a change of 10⁷ parameters."""
    direction = rng.standard_normal(D, dtype=np.float32)
    norms = np.linalg.norm(direction) * np.linalg.norm(CHANGE)
    return float(direction @ CHANGE) / norms


AUDITS = {"trial": (10_000, trial), "cosines": (4, cosines), "directions": (10, directions)}

repeats, audit = AUDITS[sys.argv[1]]
start = time.process_time()
for _ in range(repeats):
    audit()
seconds = time.process_time() - start
print(json.dumps({"audits_per_cpu_second": repeats / seconds}))
