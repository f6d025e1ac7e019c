"""One metagradient of canaries by reverse-mode differentiation in jax float32, on one thread.

The job of `examples/metastep.rs`: SGD with momentum for T steps of B records, of which ten are
canaries, then the gradient of the losses IN less those OUT with respect to all canaries. Steps are
recomputed in the backward pass (`jax.checkpoint`), without which LeNet needs gigabytes. The records
are those of the example; jax multiplies by their zeros. Prints one line of JSON.

    python peer_metagradient.py mlp|mlp-dense|lenet

Needs jax==0.10.2, jaxlib==0.10.2 and numpy==2.4.6.
"""

import json
import os
import sys
import time

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import jax  # noqa: E402  (after the platform)
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

RECORDS, CANARIES = 3_000, 400
MODEL = sys.argv[1]
STEPS, BATCH, INPUTS = {"lenet": (500, 100, 784)}.get(MODEL, (150, 150, 446))
CLASSES = 2 if MODEL == "lenet" else 30


def mlp(theta, x):
    (w1, b1), (w2, b2) = theta
    return jnp.tanh(x @ w1 + b1) @ w2 + b2


def lenet(theta, x):
    convolutions, layers = theta[:2], theta[2:]
    x = x.reshape(-1, 1, 28, 28)
    for (w, b), padding in zip(convolutions, (2, 0)):
        pads = [(padding, padding)] * 2
        x = jax.lax.conv_general_dilated(x, w, (1, 1), pads) + b[None, :, None, None]
        x = jnp.tanh(x)
        n, c, h, wide = x.shape
        x = x.reshape(n, c, h // 2, 2, wide // 2, 2).mean((3, 5))
    x = x.reshape(x.shape[0], -1)
    for w, b in layers[:-1]:
        x = jnp.tanh(x @ w + b)
    return x @ layers[-1][0] + layers[-1][1]


SHAPES = {
    "lenet": [(6, 1, 5, 5), (16, 6, 5, 5), (400, 120), (120, 84), (84, 2)],
}.get(MODEL, [(446, 32), (32, 30)])
network = lenet if MODEL == "lenet" else mlp
rng = np.random.default_rng(1)


def layer(shape):
    fan_in = np.prod(shape[1:]) if len(shape) == 4 else shape[0]
    outputs = shape[0] if len(shape) == 4 else shape[1]
    weights = rng.uniform(-1, 1, shape) / np.sqrt(fan_in)
    return jnp.asarray(weights, jnp.float32), jnp.zeros(outputs, jnp.float32)


def binary(at):
    """1 with probability 0.12, by a hash of the index."""
    x = at.astype(np.uint32)
    x = (x ^ x >> 16) * np.uint32(0x7FEB352D)
    x = (x ^ x >> 15) * np.uint32(0x846CA68B)
    return (x ^ x >> 16) < 515_396_076


def dense(at):
    return (at // INPUTS * 31 + at % INPUTS * 17) % 97 / 97


theta = [layer(shape) for shape in SHAPES]
values = (binary if MODEL == "mlp" else dense)(np.arange(RECORDS * INPUTS))
base = jnp.asarray(values.reshape(-1, INPUTS), jnp.float32)
canaries = jnp.asarray((np.arange(CANARIES * INPUTS) % 89 / 89).reshape(-1, INPUTS), jnp.float32)
labels = jnp.asarray(np.r_[np.arange(RECORDS) % CLASSES, np.arange(CANARIES) % CLASSES])
steps = np.arange(STEPS)[:, None]
batches = (steps * BATCH + np.arange(BATCH)) % RECORDS
batches[:, :10] = RECORDS + (steps * 10 + np.arange(10)) % (CANARIES // 2)
signs = jnp.asarray(np.where(np.arange(CANARIES) < CANARIES // 2, 1.0, -1.0), jnp.float32)


def losses(theta, x, y):
    return -jnp.take_along_axis(jax.nn.log_softmax(network(theta, x)), y[:, None], 1)[:, 0]


def objective(canaries):
    records = jnp.concatenate([base, canaries])

    @jax.checkpoint
    def step(state, rows):
        theta, velocity = state
        x, y = records[rows], labels[rows]
        slopes = jax.grad(lambda theta: losses(theta, x, y).mean())(theta)
        velocity = jax.tree.map(lambda v, g: 0.9 * v + g, velocity, slopes)
        return (jax.tree.map(lambda t, v: t - 0.05 * v, theta, velocity), velocity), None

    start = (theta, jax.tree.map(jnp.zeros_like, theta))
    (trained, _), _ = jax.lax.scan(step, start, jnp.asarray(batches))
    return signs @ losses(trained, canaries, labels[RECORDS:])


compiled = jax.jit(jax.grad(objective)).lower(canaries).compile()
repeats = 1 if MODEL == "lenet" else 10
start = time.process_time()
for _ in range(repeats):
    compiled(canaries).block_until_ready()
seconds = time.process_time() - start
print(json.dumps({"metagradients_per_cpu_second": repeats / seconds}))
