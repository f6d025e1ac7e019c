"""Federated trainings with canaries, and their scores by every attacker, in numpy on one thread.

The job of `examples/fedavg_speed.rs`, less its held-out accuracy: MLP 784-32-2, 900 clients of 10 records, 50 server rounds in each
of which 18 clients take part (each once), five local steps, clipping, noise, server momentum; 200
canaries of which each takes part once; cosines with the final model, the largest over all updates, with
the sum of all scaled updates, and with the update of the own server round. All clients of a server round
train together, in float32. Prints one line of JSON.

Needs numpy==2.3.5.
"""

import json
import os
import time

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np  # noqa: E402  (after the number of threads)

CLIENTS, RECORDS, ROUNDS, CANARIES = 900, 10, 50, 200
EPOCHS, RATE, CLIP_NORM, NOISE, MOMENTUM = 5, 0.5, 0.5, 0.3, 0.9
INPUTS, HIDDEN, CLASSES = 784, 32, 2
SHAPES = [(INPUTS, HIDDEN), (1, HIDDEN), (HIDDEN, CLASSES), (1, CLASSES)]
SIZES = [rows * columns for rows, columns in SHAPES]
ENDS = np.cumsum(SIZES)
D = int(ENDS[-1])
F = np.float32

at = np.arange(CLIENTS * RECORDS)[:, None]
pixel = np.arange(INPUTS)[None, :]
X = ((at * 31 + pixel * 17) % 97 / 97 + 0.2 * (pixel % 2 == at % 2)).astype(F)
Y = np.eye(CLASSES, dtype=F)[at[:, 0] % 2]
X, Y = X.reshape(CLIENTS, RECORDS, INPUTS), Y.reshape(CLIENTS, RECORDS, CLASSES)


def updates_of(theta, members):
    """Updates of the members of a server round, one row each; one local batch is all records of one."""
    x, y = X[members], Y[members]
    parts = [part.reshape(shape) for part, shape in zip(np.split(theta, ENDS[:-1]), SHAPES)]
    w1, b1, w2, b2 = (np.repeat(part[None], len(members), 0) for part in parts)
    transposed = np.ascontiguousarray(x.transpose(0, 2, 1))
    for _ in range(EPOCHS):
        hidden = np.maximum(x @ w1 + b1, 0)
        scores = hidden @ w2 + b2
        odds = np.exp(scores - scores.max(2, keepdims=True))
        error = (odds / odds.sum(2, keepdims=True) - y) * F(RATE / RECORDS)
        back = (error @ w2.transpose(0, 2, 1)) * (hidden > 0)
        w2 -= hidden.transpose(0, 2, 1) @ error
        b2 -= error.sum(1, keepdims=True)
        w1 -= transposed @ back
        b1 -= back.sum(1, keepdims=True)
    trained = np.concatenate([part.reshape(len(members), -1) for part in (w1, b1, w2, b2)], 1)
    return trained - theta


def audit(seed):
    rng = np.random.Generator(np.random.PCG64(seed))
    theta = np.concatenate([
        rng.uniform(-1, 1, size).astype(F) / F(np.sqrt(rows))
        for size, (rows, _) in zip(SIZES, [SHAPES[0], SHAPES[0], SHAPES[2], SHAPES[2]])
    ])
    directions = rng.standard_normal((CANARIES, D), dtype=F)
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    clients = rng.permutation(CLIENTS).reshape(ROUNDS, -1)
    canaries = rng.permutation(CANARIES).reshape(ROUNDS, -1)
    planned = (CLIENTS + CANARIES) / ROUNDS
    start, velocity = theta.copy(), np.zeros(D, F)
    updates = np.empty((ROUNDS, D), F)
    for server_round in range(ROUNDS):
        change = updates_of(theta, clients[server_round])
        factors = np.minimum(1, CLIP_NORM / np.linalg.norm(change, axis=1)).astype(F)
        total = factors @ change + F(CLIP_NORM) * directions[canaries[server_round]].sum(0)
        total += F(NOISE * CLIP_NORM) * rng.standard_normal(D, dtype=F)
        updates[server_round] = total / F(planned)
        velocity = F(MOMENTUM) * velocity + updates[server_round]
        theta = theta + velocity
    scaled = updates / np.linalg.norm(updates, axis=1, keepdims=True)
    final, total = theta - start, scaled.sum(0)
    each = directions @ scaled.T
    own = np.empty(CANARIES, int)
    own[canaries] = np.arange(ROUNDS)[:, None]
    cosines = [
        directions @ final / np.linalg.norm(final),
        each.max(1),
        directions @ total / np.linalg.norm(total),
        each[np.arange(CANARIES), own],
    ]
    return sum(float(scores.mean()) for scores in cosines)


audit(0)
REPEATS = 5
begin = time.process_time()
shown = [audit(seed) for seed in range(1, 1 + REPEATS)]
seconds = time.process_time() - begin
assert np.isfinite(shown).all()
print(json.dumps({"audits_per_cpu_second": REPEATS / seconds}))
