"""Audits of one run in Python: bisection over scipy's binomial, the walk by numpy's convolution.

The same procedures as the library, written as a careful Python user would.
Needs numpy==2.3.5 and scipy==1.16.3.
"""

import json
import math
import sys
import time

import numpy as np
from scipy.optimize import brentq
from scipy.signal import fftconvolve
from scipy.stats import binom, norm

TAU = 0.05


def count_p(m, k, v, epsilon, delta):
    q = 1 / (1 + math.exp(-epsilon))
    log_reached = binom.logsf(v - 1, k, q)
    log_missed = binom.logcdf(v - 1, k, q)
    step = math.exp(log_reached + log_missed - binom.logpmf(v, k, q)) / v
    return math.exp(log_reached) + m * delta * step


def count(repeat):
    m, k, v = 1_000_000, 1_000, 900 + repeat % 50
    return brentq(lambda e: count_p(m, k, v, e, 1e-9) - TAU, 0, 20, xtol=1e-12)


def gaussian(repeat):
    """Algorithm 3 of arXiv:2410.22235, with the maximum."""
    m, k, v = 1_000, 1_000, 600 + repeat % 50

    def exceeds(mu):
        right, wrong = TAU * v / m, TAU * (k - v) / m
        for i in range(v - 1, -1, -1):
            following = max(wrong, norm_cdf(norm_ppf(min(right, 1.0)) - mu))
            right += i / (k - i) * (following - wrong)
            wrong = following
        return right + wrong > k / m

    low, high = 0.0, 4.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if exceeds(middle) else (low, middle)
    return low


def norm_cdf(x):
    return 0.5 * math.erfc(-x / math.sqrt(2))


def norm_ppf(y):
    from scipy.special import ndtri

    return ndtri(y)


def crossing(sizes, bounds, q):
    """Probability that a path of independent guesses reaches its boundary."""
    alive, crossed, before = np.ones(1), 0.0, 0
    for size, bound in zip(sizes, bounds):
        steps = binom.pmf(np.arange(size - before + 1), size - before, q)
        alive = np.convolve(alive, steps) if size <= 4096 else fftconvolve(alive, steps)
        crossed += alive[bound:].sum()
        alive = alive[:bound]
        before = size
    return crossed


def walk(m, repeat):
    sizes = [8 << i for i in range(60) if 8 << i < m] + [m]
    share = [0.69 + 0.25 * (1 - (size / m) ** 0.25) for size in sizes]
    correct = [int(size * s) - repeat % 2 for size, s in zip(sizes, share)]

    def is_rejected(epsilon):
        q = 1 / (1 + math.exp(-epsilon))
        smallest = min(binom.sf(v - 1, k, q) for k, v in zip(sizes, correct))
        bounds = [int(binom.isf(smallest * (1 + 1e-9), k, q)) + 1 for k in sizes]
        alpha = crossing(sizes, bounds, q)
        alpha = min(max(alpha, 1e-290), 1 - 1e-16)
        return alpha + m * 1e-5 * (1 - alpha) * math.log1p(math.exp(-epsilon)) / -math.log(alpha) < TAU

    low, high = 0, 2_000  # points of the grid, found by bisection: generous to this side
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if is_rejected(middle * 0.005) else (low, middle)
    return (low - 1) * 0.005


def scores(repeat):
    rng = np.random.default_rng(repeat)
    coins = rng.integers(0, 2, 1_000_000)
    values = rng.random(1_000_000) + 0.2 * coins
    order = np.argsort(-values)
    correct = int(coins[order[:50_000]].sum() + (1 - coins[order[-50_000:]]).sum())
    p = lambda e: count_p(1_000_000, 100_000, correct, e, 1e-9) - TAU
    return brentq(p, 0, 20, xtol=1e-12) if p(0) < 0 else 0.0


AUDITS = {
    "count": (200, count),
    "gaussian": (10, gaussian),
    "walk": (20, lambda repeat: walk(1_000, repeat)),
    "long-walk": (2, lambda repeat: walk(100_000, repeat)),
    "scores": (5, scores),
}

repeats, audit = AUDITS[sys.argv[1]]
start = time.process_time()
for number in range(repeats):
    audit(number)
seconds = time.process_time() - start
print(json.dumps({"audits_per_cpu_second": repeats / seconds}))
