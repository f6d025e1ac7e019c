"""Truncated Poisson batches by dp-accounting.

Python 3.11, dp-accounting==0.6.0, numpy==2.4.6, scipy==1.17.1; run by `cargo xtask oracles
truncated_poisson`. Writes values.json, the same bytes on every run. About a minute.

Each case has N, q, B, σ, the number of steps and δ, the chance that B others are drawn and the rate
of the target if so, both as sums of 50 digits, and values of ε at a discretisation of 1e-4 nats:
* `accountant`: PLDAccountant on TruncatedSubsampledGaussianDpEvent, for zero-out and replace, as users
  call it: upper values, loose where batches are full;
* `lower`, `upper` for add-remove: Poisson batches with and without a full batch, mixed here from the
  mechanisms that are the worst case, rounded down and up.
"""

import json
import pathlib

import dp_accounting
import mpmath
from dp_accounting import pld
from dp_accounting.pld import privacy_loss_distribution

here = pathlib.Path(__file__).parent
mpmath.mp.dps = 50

INTERVAL = 1e-4
RELATIONS = {
    "zero-out": dp_accounting.NeighboringRelation.REPLACE_SPECIAL,
    "replace": dp_accounting.NeighboringRelation.REPLACE_ONE,
}

# N, q, B, σ, steps, δ
CASES = [
    (6, 0.4, 3, 1.0, 1, 1e-3),
    (6, 0.4, 3, 1.0, 5, 1e-3),
    (10_000, 0.01, 110, 1.0, 100, 1e-5),
    (10_000, 0.01, 130, 0.8, 100, 1e-5),
    (10_000, 0.01, 150, 1.0, 100, 1e-5),
    (60_000, 256 / 60_000, 300, 1.0, 4_700, 1e-5),
    (60_000, 256 / 60_000, 420, 1.0, 4_700, 1e-5),
]


def full(records, rate, most):
    """P(n ≥ B) and E(qB/(n + 1) | n ≥ B), n of N − 1 others."""
    rate = mpmath.mpf(rate)
    others = records - 1
    term = mpmath.binomial(others, most) * rate**most * (1 - rate) ** (others - most)
    mass, kept, n = mpmath.mpf(0), mpmath.mpf(0), most
    while n <= others and term > mpmath.mpf(10) ** -40 * mass:
        mass += term
        kept += term * rate * most / (n + 1)
        term *= rate / (1 - rate) * (others - n) / (n + 1)
        n += 1
    return mass, kept / mass


def accountant(case, relation):
    records, rate, most, noise, steps, delta = case
    found = pld.PLDAccountant(RELATIONS[relation], INTERVAL)
    event = dp_accounting.TruncatedSubsampledGaussianDpEvent(records, rate, most, noise)
    found.compose(dp_accounting.SelfComposedDpEvent(event, steps))
    return found.get_epsilon(delta)


def add_remove(case, pessimistic):
    records, rate, most, noise, steps, delta = case
    mass, kept = full(records, rate, most)

    def one(noise, rate):
        return privacy_loss_distribution.from_gaussian_mechanism(
            noise,
            value_discretization_interval=INTERVAL,
            sampling_prob=float(rate),
            pessimistic_estimate=pessimistic,
            use_connect_dots=pessimistic,
        )

    mixed = one(noise / 2, kept).compute_mixture(one(noise, rate), float(mass))
    return mixed.self_compose(steps).get_epsilon_for_delta(delta)


def values(case):
    records, rate, most, noise, steps, delta = case
    mass, kept = full(records, rate, most)
    return {
        "dataset_size": records,
        "sampling_rate": rate,
        "max_batch_size": most,
        "noise_multiplier": noise,
        "steps": steps,
        "delta": delta,
        "full": float(mass),
        "full_rate": float(kept),
        "accountant": {relation: accountant(case, relation) for relation in RELATIONS},
        "lower": add_remove(case, False),
        "upper": add_remove(case, True),
    }


document = {
    "meta": "dp-accounting 0.6.0, discretisation 1e-4 nats; mpmath, 50 digits",
    "cases": [values(case) for case in CASES],
}
(here / "values.json").write_text(json.dumps(document, indent=1) + "\n")
