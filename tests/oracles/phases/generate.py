"""Privacy loss distributions of trees of events by dp-accounting.

Python 3.11, dp-accounting==0.6.0, numpy==2.4.6, scipy==1.17.1; run by `cargo xtask oracles phases`.
Writes phases.json, the same bytes on every run. About a minute.

Each case has a tree as `event_json` of crates/cli/examples/imports writes it, δ, and three values of
ε at a discretisation of 1e-4 nats:
* `accountant`: PLDAccountant, as users call it;
* `lower`, `upper`: the same mechanisms rounded down and up, composed by this script; the exact value
  lies between them.
"""

import importlib.util
import json
import pathlib

import dp_accounting
from dp_accounting import pld
from dp_accounting.pld import privacy_loss_distribution

here = pathlib.Path(__file__).parent
example = here / "../../../crates/cli/examples/imports/dp_event_json.py"
spec = importlib.util.spec_from_file_location("dp_event_json", example)
dp_event_json = importlib.util.module_from_spec(spec)
spec.loader.exec_module(dp_event_json)

INTERVAL = 1e-4

gaussian = dp_accounting.GaussianDpEvent
composed = dp_accounting.ComposedDpEvent
repeated = dp_accounting.SelfComposedDpEvent


def sampled(rate, noise):
    return dp_accounting.PoissonSampledDpEvent(rate, gaussian(noise))


CASES = [
    (repeated(sampled(0.01, 1.1), 1000), 1e-5),
    (repeated(sampled(0.004266666666666667, 0.8), 4700), 1e-5),
    (repeated(gaussian(5.0), 10), 1e-6),
    (composed([repeated(sampled(0.005, 2.0), 200), repeated(sampled(0.01, 1.1), 1000)]), 1e-5),
    (composed([repeated(sampled(0.02, 0.7), 60), repeated(gaussian(8.0), 4)]), 1e-5),
    (repeated(composed([sampled(0.1, 1.5), sampled(0.05, 1.0), gaussian(30.0)]), 20), 1e-6),
    (composed([gaussian(3.0), dp_accounting.NoOpDpEvent(), repeated(gaussian(4.0), 2)]), 1e-5),
    (composed([sampled(0.5, 1.0), sampled(0.25, 0.8)]), 1e-3),
    (dp_event_json.example(), 1e-5),
]


def leaves(event, count=1):
    """Noise, rate and number of each Gaussian event."""
    if isinstance(event, dp_accounting.ComposedDpEvent):
        for inner in event.events:
            yield from leaves(inner, count)
    elif isinstance(event, dp_accounting.SelfComposedDpEvent):
        yield from leaves(event.event, count * event.count)
    elif isinstance(event, dp_accounting.PoissonSampledDpEvent):
        yield event.event.noise_multiplier, event.sampling_probability, count
    elif isinstance(event, dp_accounting.GaussianDpEvent):
        yield event.noise_multiplier, 1.0, count


def epsilon(event, delta, pessimistic):
    total = None
    for noise, rate, count in leaves(event):
        one = privacy_loss_distribution.from_gaussian_mechanism(
            noise,
            value_discretization_interval=INTERVAL,
            sampling_prob=rate,
            pessimistic_estimate=pessimistic,
            use_connect_dots=pessimistic,
        )
        own = one.self_compose(count)
        total = own if total is None else total.compose(own)
    return total.get_epsilon_for_delta(delta)


def case(event, delta):
    accountant = pld.PLDAccountant(value_discretization_interval=INTERVAL)
    accountant.compose(event)
    return {
        "event": dp_event_json.event_json(event),
        "delta": delta,
        "accountant": accountant.get_epsilon(delta),
        "lower": epsilon(event, delta, False),
        "upper": epsilon(event, delta, True),
    }


cases = [case(event, delta) for event, delta in CASES]
document = {"meta": "dp-accounting 0.6.0, discretisation 1e-4 nats", "cases": cases}
(here / "phases.json").write_text(json.dumps(document, indent=1) + "\n")
