"""What dp-accounting claims for batches of limited size.

Python 3.11, dp-accounting==0.6.0; run by `cargo xtask oracles peers`. Writes values.json, the same
bytes on every run.

Each case has N, the mean or fixed batch size B, σ, the steps, δ and values of ε:
* `poisson`: PLDAccountant for Poisson batches at q = B/N, what most trainings report whatever their
  loader does;
* `fixed_size`: RdpAccountant for SampledWithoutReplacementDpEvent with neighbours that replace a
  record, at a noise multiplier of σ, as users pass it;
* `fixed_size_replace`: the same at σ/2. A replaced record moves a sum of clipped gradients by up to
  twice the clip norm, and the event's noise multiplier refers to that.
"""

import json
import pathlib

import dp_accounting
from dp_accounting import pld, rdp

REPLACE = dp_accounting.NeighboringRelation.REPLACE_ONE

# N, B, σ, steps, δ
CASES = [
    (10_000, 100, 1.0, 100, 1e-5),
    (60_000, 256, 2.0, 4_688, 1e-5),
]


def epsilon(accountant, event, steps, delta):
    return accountant.compose(event, steps).get_epsilon(delta)


def case(records, batch, sigma, steps, delta):
    def without_replacement(noise_multiplier):
        gaussian = dp_accounting.GaussianDpEvent(noise_multiplier)
        event = dp_accounting.SampledWithoutReplacementDpEvent(records, batch, gaussian)
        return epsilon(rdp.RdpAccountant(neighboring_relation=REPLACE), event, steps, delta)

    poisson = dp_accounting.PoissonSampledDpEvent(
        batch / records, dp_accounting.GaussianDpEvent(sigma)
    )
    accountant = pld.PLDAccountant(value_discretization_interval=1e-4)
    return {
        "dataset_size": records,
        "batch_size": batch,
        "noise_multiplier": sigma,
        "steps": steps,
        "delta": delta,
        "poisson": round(epsilon(accountant, poisson, steps, delta), 6),
        "fixed_size": round(without_replacement(sigma), 6),
        "fixed_size_replace": round(without_replacement(sigma / 2), 6),
    }


here = pathlib.Path(__file__).parent
values = json.dumps([case(*given) for given in CASES], indent=1)
(here / "values.json").write_text(f"{values}\n", encoding="ascii", newline="\n")
