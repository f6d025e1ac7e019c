"""Runs of PATE-GAN in numpy on one thread, many runs at once: the job of `examples/pategan_speed.rs`.

Logistic teachers on disjoint rows, a student d-d-1 and a generator d-(d/2)-d; five steps of the teachers, five
of the student on noisy votes, and one of the generator per iteration; Adam; float64. The leading axis of
every array is the run. Prints one line of JSON.

Needs numpy==2.3.5.
"""

import json
import os
import sys
import time

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np  # noqa: E402  (after the number of threads)

GAMMA, RATE, STEPS = 1e-3, 1e-4, 5


class Dense:
    """y = x W + b of every run, with Adam."""

    def __init__(self, rng, runs, inputs, outputs):
        limit = np.sqrt(6 / (inputs + outputs))
        self.w = rng.uniform(-limit, limit, (runs, inputs, outputs))
        self.b = np.zeros((runs, 1, outputs))
        self.state = [[np.zeros_like(p), np.zeros_like(p)] for p in (self.w, self.b)]
        self.t = 0

    def __call__(self, x):
        return x @ self.w + self.b

    def step(self, x, changes):
        self.t += 1
        gradients = (x.transpose(0, 2, 1) @ changes, changes.sum(1, keepdims=True))
        for p, g, (mean, square) in zip((self.w, self.b), gradients, self.state):
            mean += 0.1 * (g - mean)
            square += 0.001 * (g * g - square)
            root = np.sqrt(square / (1 - 0.999**self.t)) + 1e-8
            p -= RATE * (mean / (1 - 0.9**self.t)) / root


def logistic(x):
    return 1 / (1 + np.exp(-x))


def train(rng, runs, d, n, teachers, batch, iterations, released):
    rows = rng.uniform(-1, 1, (n, d))
    parts = [np.arange(teacher, n, teachers) for teacher in range(teachers)]
    of_teachers = [Dense(rng, runs, d, 1) for _ in range(teachers)]
    hidden = max(d // 2, 1)
    student = [Dense(rng, runs, d, d), Dense(rng, runs, d, 1)]
    generator = [Dense(rng, runs, d, hidden), Dense(rng, runs, hidden, d)]

    def generate(count):
        z = rng.uniform(-1, 1, (runs, count, d))
        h = np.tanh(generator[0](z))
        return z, h, np.tanh(generator[1](h))

    labels = np.concatenate([np.zeros((batch, 1)), np.ones((batch, 1))])
    for _ in range(iterations):
        for _ in range(STEPS):
            x = generate(batch)[2]
            for teacher, part in zip(of_teachers, parts):
                drawn = rows[part[rng.integers(len(part), size=(runs, batch))]]
                both = np.concatenate([x, drawn], 1)
                teacher.step(both, (logistic(teacher(both)) - labels) / batch)
        for _ in range(STEPS):
            x = generate(batch)[2]
            votes = sum((teacher(x) > 0).astype(float) for teacher in of_teachers)
            noise = rng.laplace(0, 1 / GAMMA, (2, runs, batch, 1))
            label = (votes + noise[0] > teachers - votes + noise[1]).astype(float)
            h = np.maximum(student[0](x), 0)
            change = (logistic(student[1](h)) - label) / batch
            back = (change @ student[1].w.transpose(0, 2, 1)) * (h > 0)
            student[1].step(h, change)
            student[0].step(x, back)
        z, h, x = generate(batch)
        s = np.maximum(student[0](x), 0)
        change = (logistic(student[1](s)) - 1) / batch
        back = ((change @ student[1].w.transpose(0, 2, 1)) * (s > 0)) @ student[0].w.transpose(0, 2, 1)
        back *= 1 - x * x
        below = (back @ generator[1].w.transpose(0, 2, 1)) * (1 - h * h)
        generator[1].step(h, back)
        generator[0].step(z, below)
    return generate(released)[2]


SIZES = {
    # runs at once, d, n, teachers, batch, iterations, released rows
    "worst": (500, 3, 5, 2, 4, 100, 4),
    "average": (8, 29, 686, 5, 64, 32, 686),
}
sizes = SIZES[sys.argv[1]]
generator = np.random.Generator(np.random.PCG64(1))
REPEATS = 3
fastest = float("inf")
for _ in range(REPEATS):
    begin = time.process_time()
    assert np.isfinite(train(generator, *sizes)).all()
    fastest = min(fastest, time.process_time() - begin)
print(json.dumps({"runs_per_cpu_second": sizes[0] / fastest}))
