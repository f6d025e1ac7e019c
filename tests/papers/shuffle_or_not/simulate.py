"""Uncorrected estimates of the shuffled batched Gaussian mechanism, independently of the program.

numpy==2.4.6, scipy==1.17.1. Sorted f64 scores instead of histograms, the plain difference of two
log-sum-exps, PCG64, every distinct score a cut, Clopper-Pearson by scipy's beta quantile.
Observations are counted over both worlds. Writes simulated_independent.csv; 15 minutes.
"""

import numpy as np
from scipy.special import logsumexp
from scipy.stats import beta

DELTA, TAIL = 1e-5, 0.025
SETTINGS = [
    # noise multiplier, steps, observations, runs
    (0.5, 100, 10_000, 400),
    (1.0, 100, 10_000, 400),
    (1.5, 100, 10_000, 400),
    (0.5, 100, 100_000, 60),
    (1.0, 100, 100_000, 60),
    (1.5, 100, 100_000, 60),
    (0.5, 1000, 10_000, 100),
    (1.0, 1000, 10_000, 100),
    (1.5, 1000, 10_000, 100),
]


def scores(rng, sigma, steps, mean, count):
    """Log-likelihood ratios of runs whose target's batch has this mean; all others have 0."""
    found = []
    for first in range(0, count, 5_000):
        x = sigma * rng.standard_normal((min(5_000, count - first), steps))
        x[:, 0] += mean
        in_d, in_d_prime = (2 * x - 2) / sigma**2, (x - 0.5) / sigma**2
        found.append(logsumexp(in_d, axis=1) - logsumexp(in_d_prime, axis=1))
    return np.sort(np.concatenate(found))


def upper(events, trials):
    """One-sided Clopper-Pearson upper limit."""
    limit = beta.ppf(1 - TAIL, events + 1, np.maximum(trials - events, 1))
    return np.where(events >= trials, 1.0, limit)


def estimate(rng, sigma, steps, observations):
    """The largest value over all cuts."""
    runs = observations // 2
    d, d_prime = scores(rng, sigma, steps, 2.0, runs), scores(rng, sigma, steps, 1.0, runs)
    cuts = np.unique(np.concatenate([d, d_prime]))
    fnr = upper(np.searchsorted(d, cuts, side="right"), runs)
    fpr = upper(runs - np.searchsorted(d_prime, cuts, side="right"), runs)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = [np.log((1 - fpr - DELTA) / fnr), np.log((1 - fnr - DELTA) / fpr)]
    return max(0.0, np.nanmax(values))


def main():
    rng = np.random.default_rng(20261121)
    with open("simulated_independent.csv", "w", encoding="ascii") as file:
        file.write("noise_multiplier,steps,observations,runs,mean,standard_deviation\n")
        for sigma, steps, observations, runs in SETTINGS:
            found = [estimate(rng, sigma, steps, observations) for _ in range(runs)]
            spread = f"{np.mean(found):.4f},{np.std(found, ddof=1):.4f}"
            file.write(f"{sigma},{steps},{observations},{runs},{spread}\n")
            file.flush()


if __name__ == "__main__":
    main()
