"""Accountants in Python: dp-accounting's privacy loss distributions, and numpy for shuffled batches.

Needs dp-accounting==0.6.0, numpy==2.3.5 and scipy==1.16.3.

usage: peer_accountants.py WHAT NOISE_MULTIPLIER STEPS EPOCHS

WHAT is poisson, calibration, shuffle, pair, fixed-size or truncated. Batches of fixed size have
100 of 100·STEPS records: for dp-accounting, truncated batches into which every record is drawn.
Truncated batches have 100 on average and at most 110.
"""

import json
import sys
import time

import numpy as np
from scipy.special import log_ndtr
from scipy.stats import norm

DELTA = 1e-5


def dp_accounting_epsilon(noise, steps, epochs):
    from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent
    from dp_accounting.pld import PLDAccountant

    accountant = PLDAccountant(value_discretization_interval=1e-4)
    accountant.compose(PoissonSampledDpEvent(1 / steps, GaussianDpEvent(noise)), steps * epochs)
    return accountant.get_epsilon(DELTA)


def dp_accounting_noise(steps, epochs):
    import dp_accounting
    from dp_accounting.pld import PLDAccountant

    def event(noise):
        sampled = dp_accounting.PoissonSampledDpEvent(1 / steps, dp_accounting.GaussianDpEvent(noise))
        return dp_accounting.SelfComposedDpEvent(sampled, steps * epochs)

    return dp_accounting.calibrate_dp_mechanism(
        PLDAccountant, event, 2.0, DELTA, dp_accounting.LowerEndpointAndGuess(0.3, 1.0), tol=1e-3
    )


def fixed_size_epsilon(noise, steps, epochs):
    return truncated_epsilon(noise, steps, epochs, 1.0, 100)


def truncated_poisson_epsilon(noise, steps, epochs):
    return truncated_epsilon(noise, steps, epochs, 1 / steps, 110)


def truncated_epsilon(noise, steps, epochs, sampling_rate, most):
    from dp_accounting import TruncatedSubsampledGaussianDpEvent
    from dp_accounting.pld import PLDAccountant

    accountant = PLDAccountant(value_discretization_interval=1e-4)
    event = TruncatedSubsampledGaussianDpEvent(100 * steps, sampling_rate, most, noise)
    return accountant.compose(event, steps * epochs).get_epsilon(DELTA)


def mass(cut, mean, noise, steps):
    ln_below = log_ndtr((cut - mean) / noise) + (steps - 1) * log_ndtr(cut / noise)
    return -np.expm1(ln_below)


def one_epoch(noise, steps):
    """Largest root over a grid of cuts."""
    cut = np.arange(0, 2 + 12 * noise, 1e-3)
    above, without = mass(cut, 2, noise, steps), mass(cut, 1, noise, steps)
    useful = above > DELTA
    return np.max(np.log((above[useful] - DELTA) / without[useful]))


def many_epochs(noise, steps, epochs):
    """Slices of the largest output, losses rounded down, composed by FFT."""
    width = min(1e-4, 1e-3 / epochs)
    ln_tail = -40 - np.log(2 * epochs)
    low = noise * norm.ppf(np.exp(ln_tail / steps))
    high = 2 + noise * norm.isf(-np.expm1(np.log1p(-np.exp(ln_tail)) / steps))
    cut = np.arange(low, high, width * noise**2)
    edges = np.concatenate([cut, [np.inf]])
    p = -np.diff(np.concatenate([[1], mass(cut, 2, noise, steps), [0]]))
    q = -np.diff(np.concatenate([[1], mass(cut, 1, noise, steps), [0]]))
    assert len(edges) == len(p)
    keep = (p > 0) & (q > 0)
    index = np.floor(np.log(p[keep] / q[keep]) / width).astype(int)
    lowest = index.min()
    masses = np.bincount(index - lowest, p[keep])
    length = 1 << int(np.ceil(np.log2(epochs * len(masses))))
    composed = np.fft.irfft(np.fft.rfft(masses, length) ** epochs, length)
    loss = (epochs * lowest + np.arange(length)) * width
    lower, upper = 0.0, loss[-1]
    for _ in range(50):
        middle = (lower + upper) / 2
        above = loss > middle
        delta = np.sum(composed[above] * -np.expm1(middle - loss[above]))
        lower, upper = (middle, upper) if delta > DELTA else (lower, middle)
    return lower


def pair_limit(noise, steps, random, draws):
    """Importance sampling with exact weights; half of the draws place the limit."""
    cuts = np.arange(0, 2 + 12 * noise, 1e-2)
    above, without = mass(cuts, 2, noise, steps), mass(cuts, 1, noise, steps)
    with np.errstate(divide="ignore", invalid="ignore"):
        roots = np.where(above > DELTA, np.log((above - DELTA) / without), -np.inf)
    cut = cuts[np.argmax(roots)]
    a, b, variance = cut - 2, cut, noise**2

    def sample(count):
        x = random.standard_normal((count, steps)) * noise
        part = random.random(count)
        x[:, 0] += 2 + np.where((part >= 0.1) & (part < 0.75), a, 0)
        other = np.flatnonzero(part >= 0.75)
        x[other, random.integers(1, steps, len(other))] += b
        target = np.exp((a * (x[:, 0] - 2) - a * a / 2) / variance)
        others = np.exp((b * x[:, 1:] - b * b / 2) / variance).mean(axis=1)
        weight = 1 / (0.1 + 0.65 * target + 0.25 * others)
        powers = np.exp(x / variance)
        loss = np.log((powers * powers).sum(axis=1) / powers.sum(axis=1)) - 1.5 / variance
        return weight, loss

    def lower(weight, loss, epsilon, most):
        f = np.minimum(weight * np.maximum(-np.expm1(epsilon - loss), 0), most)
        n, ln = len(f), np.log(2 / 0.025)
        return f.mean() - np.sqrt(2 * f.var(ddof=1) * ln / n) - 7 * most * ln / (3 * (n - 1))

    weight, loss = sample(draws // 2)
    low, high = 0.0, 40.0
    most = np.max(weight * np.maximum(-np.expm1(roots.max() - loss), 0))
    for _ in range(40):
        middle = (low + high) / 2
        enough = lower(weight, loss, middle, most) > 1.02 * DELTA
        low, high = (middle, high) if enough else (low, middle)
    weight, loss = sample(draws // 2)
    closed = roots.max()
    return max(closed, low if lower(weight, loss, low, most) > DELTA else 0.0)


def main():
    what, noise = sys.argv[1], float(sys.argv[2])
    steps, epochs = int(sys.argv[3]), int(sys.argv[4])
    random = np.random.default_rng(1)
    work = {
        "poisson": lambda: dp_accounting_epsilon(noise, steps, epochs),
        "calibration": lambda: dp_accounting_noise(steps, epochs),
        "shuffle": lambda: one_epoch(noise, steps) if epochs == 1 else many_epochs(noise, steps, epochs),
        "fixed-size": lambda: fixed_size_epsilon(noise, steps, epochs),
        "truncated": lambda: truncated_poisson_epsilon(noise, steps, epochs),
        "pair": lambda: pair_limit(noise, steps, random, 40_000),
    }[what]
    least = work()  # imports and caches
    evaluations, start = 0, time.process_time()
    while evaluations == 0 or time.process_time() - start < 1:
        least = min(least, work())
        evaluations += 1
    rate = evaluations / (time.process_time() - start)
    print(json.dumps({"value": float(least), "evaluations_per_cpu_second": rate}))


main()
