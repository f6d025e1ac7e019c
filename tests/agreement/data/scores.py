"""Writes scores.csv: log-likelihood ratios of recorded outputs, at 60 digits.

Method: the two worlds' densities of the raw outputs are summed over every place where the target
can fall (each slot, each record position of a buffer, each subset of the steps of a
sampler that draws each anew, one slot for all
epochs of a persistent shuffle) with the raw means a, c, b; no reduction, no centring, no shift.
A sliding buffer is followed record by record in rational arithmetic.

Python 3.11, mpmath==1.4.1; run by `cargo xtask oracles tests/agreement`.
"""

import itertools
import pathlib
import random
from fractions import Fraction

from mpmath import mp, mpf

mp.dps = 60

SAMPLERS = {
    "poisson": ["target-canary"],
    "shuffle": ["worst-case", "partially-informed", "target-canary"],
    "persistent-shuffle": ["worst-case", "partially-informed", "target-canary"],
    "balls-in-bins": ["target-canary"],
    "deterministic": ["worst-case", "partially-informed", "target-canary"],
    "partial-shuffle": ["worst-case", "partially-informed", "target-canary"],
    "sliding-buffer": ["worst-case", "partially-informed", "target-canary"],
    "batch-then-shuffle": ["worst-case"],
    "fixed-size": ["worst-case", "partially-informed", "target-canary"],
    "random-allocation": ["target-canary"],  # one use per epoch
}


def means(sampler, threat_model, batch):
    if sampler == "batch-then-shuffle":
        return batch, batch - 1, -batch
    if threat_model == "worst-case":
        return -batch + 2, -batch + 1, -batch
    if threat_model == "partially-informed":
        return 1, 0, -1
    return 1, 0, 0


def sliding_exit(examples, buffer):
    """Chance that record 0 is the n-th drawn, by following its place in the reservoir."""
    place = {0: Fraction(1)}
    exits = []
    for draw in range(examples):
        live = min(buffer, examples - draw)
        refilled = draw + buffer < examples
        leaves, after = Fraction(0), {}
        for at, chance in place.items():
            for drawn in range(live):
                if drawn == at:
                    leaves += chance / live
                    continue
                # while draining, the last record moves into the hole
                to = drawn if (not refilled and at == live - 1) else at
                after[to] = after.get(to, 0) + chance / live
        exits.append(leaves)
        place = after
    return exits


def slots(sampler, steps, batch, buffer):
    """Chance of each slot, as rationals."""
    if sampler == "deterministic":
        return [Fraction(1)] + [Fraction(0)] * (steps - 1)
    if sampler == "partial-shuffle":
        probabilities = [Fraction(0)] * steps
        for position in range(buffer):
            probabilities[position // batch] += Fraction(1, buffer)
        return probabilities
    if sampler == "sliding-buffer":
        probabilities = [Fraction(0)] * steps
        for position, chance in enumerate(sliding_exit(steps * batch, buffer)):
            probabilities[position // batch] += chance
        return probabilities
    return [Fraction(1, steps)] * steps


def density(outputs, placed, mean_in, mean_out, sigma):
    """Up to the factor that both worlds share."""
    total = mpf(0)
    for t, o in enumerate(outputs):
        total += (mpf(o) - (mean_in if t in placed else mean_out)) ** 2
    return mp.exp(-total / (2 * mpf(sigma) ** 2))


def log_ratio(sampler, a, c, b, sigma, steps, epochs, probabilities, outputs):
    rows = [outputs[e * steps : (e + 1) * steps] for e in range(epochs)]
    worlds = []
    for mean_in in (a, c):
        if sampler in ("poisson", "fixed-size"):
            q = Fraction(1, steps)
            value = mpf(1)
            for row in rows:
                mixture = mpf(0)
                for size in range(steps + 1):
                    chance = q**size * (1 - q) ** (steps - size)
                    for placed in itertools.combinations(range(steps), size):
                        mixture += mpf(chance.numerator) / chance.denominator * density(
                            row, placed, mean_in, b, sigma
                        )
                value *= mixture
        elif sampler in ("persistent-shuffle", "deterministic"):
            value = mpf(0)
            for slot, chance in enumerate(probabilities):
                joint = mpf(chance.numerator) / chance.denominator
                for row in rows:
                    joint *= density(row, (slot,), mean_in, b, sigma)
                value += joint
        else:
            value = mpf(1)
            for row in rows:
                value *= mp.fsum(
                    mpf(chance.numerator) / chance.denominator
                    * density(row, (slot,), mean_in, b, sigma)
                    for slot, chance in enumerate(probabilities)
                )
        worlds.append(value)
    return mp.log(worlds[0] / worlds[1])


def rows():
    draw = random.Random(20261121)
    yield ("sampler,threat_model,noise_multiplier,steps_per_epoch,epochs,batch_size,"
           "buffer_examples,outputs,score")
    for sampler, models in SAMPLERS.items():
        for model in models:
            for sigma in (0.2, 0.7, 2.0, 20.0):
                for steps, epochs in ((1, 1), (3, 2), (5, 1), (4, 3)):
                    batch = draw.choice([2, 3, 5])
                    buffered = sampler in ("partial-shuffle", "sliding-buffer")
                    buffer = draw.randint(1, steps * batch) if buffered else None
                    a, c, b = means(sampler, model, batch)
                    probabilities = slots(sampler, steps, batch, buffer)
                    target = a if draw.random() < 0.5 else c
                    spread = sigma * draw.choice([1, 1, 1, 6])
                    outputs = []
                    for _ in range(epochs):
                        slot = draw.choices(range(steps), [float(w) for w in probabilities])[0]
                        for t in range(steps):
                            mean = target if t == slot else b
                            outputs.append(round(draw.gauss(mean, spread), 4))
                    score = log_ratio(sampler, a, c, b, sigma, steps, epochs, probabilities, outputs)
                    yield (f"{sampler},{model},{sigma},{steps},{epochs},{batch},{buffer or ''},"
                           f"{' '.join(map(repr, outputs))},{mp.nstr(score, 25)}")


here = pathlib.Path(__file__).parent
(here / "scores.csv").write_text("".join(f"{row}\n" for row in rows()), encoding="ascii", newline="\n")
