"""Replacement under Poisson sampling: pairs composed by this script, and by dp-accounting.

Python 3.11, dp-accounting==0.6.0, numpy==2.4.6, scipy==1.17.1; run by `cargo xtask oracles
replacement`. Writes values.json, the same bytes on every run. Some seconds.

Each case has σ, q, the number of steps, δ, and ε of (1 − q) N(0, σ²) + q N(1, σ²) against
(1 − q) N(0, σ²) + q N(−1, σ²):
* `lower`, `upper`: losses rounded down and up to a grid, masses from normal distribution functions
  between the outputs of its points, composed by one Fourier transform;
* `accountant`: PLDAccountant with REPLACE_ONE, as users call it, at 1e-4 nats.

q = 1 is one Gaussian at distance 2: there `lower` = `upper` is the root of its formula.
"""

import json
import math
import pathlib

import dp_accounting
import numpy as np
from dp_accounting import pld
from scipy import fft, optimize, special

here = pathlib.Path(__file__).parent

# σ, q, steps, δ
CASES = [
    (1.0, 0.01, 100, 1e-5),
    (0.7, 0.05, 20, 1e-6),
    (2.0, 0.2, 50, 1e-5),
    (0.5, 0.1, 2, 1e-4),
    (2.0, 1.0, 1, 1e-5),
    (5.0, 1.0, 30, 1e-6),
]

DIGITS = 10

# points of a transform, in units of the largest loss of a step
WINDOW = 8


def gaussian(sigma, steps, delta):
    """ε of `steps` Gaussians at distance 2."""
    mu = 2.0 * math.sqrt(steps) / sigma

    def excess(epsilon):
        first = special.log_ndtr(-epsilon / mu + mu / 2)
        second = epsilon + special.log_ndtr(-epsilon / mu - mu / 2)
        return math.exp(first) - math.exp(second) - delta

    return optimize.brentq(excess, 0.0, 100.0, xtol=1e-13)


def output(loss, sigma, rate):
    """The output at which ln dP/dQ is `loss`: with r = e^{(x − 1/2)/σ²} and c = e^{−1/σ²},
    (1 − q + q r)/(1 − q + q c/r) = e^L is a quadratic equation in r."""
    half = 0.5 * (1.0 - rate) * np.expm1(loss)
    root = np.sqrt(half**2 + rate**2 * np.exp(loss - 1.0 / sigma**2))
    # the root without cancellation
    ratio = np.where(half > 0, half + root, rate**2 * np.exp(loss - 1.0 / sigma**2) / (root - half))
    return sigma**2 * np.log(ratio / rate) + 0.5


def composed(sigma, rate, steps, delta, interval, up):
    # beyond, P has a mass of 1e-15
    ends = 1.0 + 8.0 * sigma
    most = math.log1p(rate * math.expm1((ends - 0.5) / sigma**2))
    most -= math.log1p(rate * math.expm1((-ends - 0.5) / sigma**2))
    places = int(math.ceil(most / interval))
    losses = np.arange(-places, places + 1) * interval
    edges = np.concatenate([[-np.inf], output(losses[1:-1], sigma, rate), [np.inf]])

    def below(x):
        return (1.0 - rate) * special.ndtr(x / sigma) + rate * special.ndtr((x - 1.0) / sigma)

    def above(x):
        return (1.0 - rate) * special.ndtr(-x / sigma) + rate * special.ndtr(-(x - 1.0) / sigma)

    low, high = edges[:-1], edges[1:]
    masses = np.where(low > 0, above(low) - above(high), below(high) - below(low))
    # cell i lies between losses i and i + 1
    masses = np.concatenate([[0.0], masses]) if up else np.concatenate([masses, [0.0]])
    # a window about the mean, wider than all sums that have mass
    size = fft.next_fast_len(WINDOW * places, real=True)
    total = fft.irfft(fft.rfft(masses, size) ** steps, size)
    center = int(round(steps * float(np.dot(masses, losses)) / interval)) + places * steps
    index = np.arange(center - size // 2, center - size // 2 + size)
    total, sums = total[index % size], (index - places * steps) * interval

    def excess(epsilon):
        here = sums > epsilon
        return float(np.sum(total[here] * -np.expm1(epsilon - sums[here]))) - delta

    return optimize.brentq(excess, 0.0, 100.0, xtol=1e-12)


def accountant(sigma, rate, steps, delta):
    event = dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(sigma))
    relation = dp_accounting.NeighboringRelation.REPLACE_ONE
    found = pld.PLDAccountant(relation, value_discretization_interval=1e-4)
    return found.compose(event, steps).get_epsilon(delta)


def case(sigma, rate, steps, delta):
    if rate == 1.0:
        lower = upper = gaussian(sigma, steps, delta)
    else:
        interval = 5e-4 / max(steps, 10)
        lower = composed(sigma, rate, steps, delta, interval, up=False)
        upper = composed(sigma, rate, steps, delta, interval, up=True)
    return {
        "noise_multiplier": sigma,
        "sampling_rate": rate,
        "steps": steps,
        "delta": delta,
        "lower": round(lower, DIGITS),
        "upper": round(upper, DIGITS),
        "accountant": round(accountant(sigma, rate, steps, delta), DIGITS),
    }


document = {
    "meta": "Fourier transforms of both roundings; dp-accounting 0.6.0, REPLACE_ONE, 1e-4 nats",
    "cases": [case(*settings) for settings in CASES],
}
(here / "values.json").write_text(json.dumps(document, indent=1) + "\n")
