"""Writes the events of a training as JSON for `dpscope check --import`.

Needs dp-accounting (written for 0.6.0). Copy `event_json` into your code, or run this file for an
example: a warm-up and two phases.

    python dp_event_json.py event.json
    dpscope check --import event.json --delta 1e-5
"""

import json
import sys

import attr
import dp_accounting


def event_json(event):
    """An event as an object: the name of its class and its fields."""
    def value(field):
        if isinstance(field, dp_accounting.DpEvent):
            return event_json(field)
        if isinstance(field, (list, tuple)):
            return [value(item) for item in field]
        if hasattr(field, "item"):  # numpy's numbers
            return field.item()
        return field

    fields = {field.name: value(getattr(event, field.name)) for field in attr.fields(type(event))}
    return {"type": type(event).__name__, **fields}


def example():
    builder = dp_accounting.DpEventBuilder()
    for noise_multiplier, rate, steps in [(2.0, 0.005, 200), (1.1, 0.01, 1000), (0.9, 0.01, 300)]:
        step = dp_accounting.PoissonSampledDpEvent(
            rate, dp_accounting.GaussianDpEvent(noise_multiplier)
        )
        builder.compose(step, steps)
    return builder.build()


if __name__ == "__main__":
    with open(sys.argv[1], "w") as file:
        json.dump(event_json(example()), file, indent=2)
