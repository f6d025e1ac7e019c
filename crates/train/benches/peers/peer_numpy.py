"""The job of `benches/step.rs` at the MLP in numpy float32 on one thread, as a yardstick.

Sum of clipped gradients over a batch of 100: 600 binary inputs (15 % ones), 32 ReLU units, 100
classes. Two ways: "per-example" makes each example's gradient, as a trainer does that follows the
definition; "products" has norms from inputs and slopes, (|a|^2 + 1)|d|^2, and one product of matrices
a layer, as the Rust code does. Prints JSON; the shortest of many times.

    python peer_numpy.py

Needs numpy==2.4.6.
"""

import json
import os
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402  (after the thread limits)

ROWS, INPUTS, UNITS, CLASSES = 100, 600, 32, 100
CLIP_NORM = np.float32(0.5)


def slopes(theta, x, labels):
    """Inputs of each linear layer and slopes of the loss by their outputs."""
    w1, b1, w2, b2 = theta
    hidden = x @ w1.T
    hidden += b1
    np.maximum(hidden, 0, out=hidden)
    d2 = hidden @ w2.T
    d2 += b2
    d2 -= d2.max(axis=1, keepdims=True)
    np.exp(d2, out=d2)
    d2 /= d2.sum(axis=1, keepdims=True)
    d2[np.arange(ROWS), labels] -= 1
    d1 = d2 @ w2
    d1 *= hidden > 0
    return ((x, d1), (hidden, d2))


def factors(squares):
    return np.minimum(1, CLIP_NORM / np.sqrt(squares))


def by_products(theta, x, labels):
    layers = slopes(theta, x, labels)
    squares = sum(
        (np.einsum("ni,ni->n", a, a) + 1) * np.einsum("no,no->n", d, d) for a, d in layers
    )
    factor = factors(squares)[:, None]
    out = []
    for a, d in layers:
        d *= factor
        out += [d.T @ a, d.sum(axis=0)]
    return out


def by_examples(theta, x, labels):
    gradients = []
    for a, d in slopes(theta, x, labels):
        gradients += [(d[:, :, None] * a[:, None, :]).reshape(ROWS, -1), d]
    squares = sum(np.einsum("np,np->n", g, g) for g in gradients)
    factor = factors(squares)
    return [factor @ g for g in gradients]


def shortest(run):
    best, start = float("inf"), time.perf_counter()
    while time.perf_counter() - start < 3:
        before = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - before)
    return best


def main():
    rng = np.random.default_rng(1)
    uniform = lambda *shape: rng.uniform(-1, 1, shape).astype(np.float32)
    theta = [
        uniform(UNITS, INPUTS) / np.float32(INPUTS**0.5),
        uniform(UNITS) / np.float32(INPUTS**0.5),
        uniform(CLASSES, UNITS) / np.float32(UNITS**0.5),
        uniform(CLASSES) / np.float32(UNITS**0.5),
    ]
    x = (rng.uniform(size=(ROWS, INPUTS)) < 0.15).astype(np.float32)
    labels = np.arange(ROWS) % CLASSES
    one, other = by_products(theta, x, labels), by_examples(theta, x, labels)
    assert all(np.allclose(a.ravel(), b, atol=1e-5) for a, b in zip(one, other))
    for way, run in [("per-example", by_examples), ("products", by_products)]:
        seconds = shortest(lambda: run(theta, x, labels))
        print(
            json.dumps(
                {
                    "program": "numpy",
                    "version": np.__version__,
                    "way": way,
                    "microseconds_a_step": round(seconds * 1e6, 1),
                    "steps_per_second": round(1 / seconds),
                }
            )
        )


if __name__ == "__main__":
    main()
