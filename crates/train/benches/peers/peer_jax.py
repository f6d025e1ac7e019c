"""The job of `benches/step.rs` in jax float32 on one thread, as a yardstick: vmap of grad, clipped
and summed, under jit. MLP and LeNet, a batch of 100. Prints JSON; the shortest of many times.

    python peer_jax.py

Needs jax==0.10.2, jaxlib==0.10.2 and numpy==2.4.6.
"""

import json
import os
import time

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

import jax  # noqa: E402  (after the thread limits)
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

ROWS, CLIP_NORM = 100, 0.5


def mlp(theta, x):
    (w1, b1), (w2, b2) = theta
    return w2 @ jax.nn.relu(w1 @ x + b1) + b2


def lenet(theta, x):
    (w1, b1), (w2, b2), *linear = theta
    x = x.reshape(1, 1, 28, 28)
    for w, b, border in ((w1, b1, 2), (w2, b2, 0)):
        x = jax.lax.conv_general_dilated(x, w, (1, 1), ((border, border),) * 2)
        x = jnp.tanh(x + b[None, :, None, None])
        _, c, h, w_ = x.shape
        x = x.reshape(1, c, h // 2, 2, w_ // 2, 2).mean((3, 5))
    x = x.reshape(-1)
    for w, b in linear[:-1]:
        x = jnp.tanh(w @ x + b)
    w, b = linear[-1]
    return w @ x + b


def clipped_sum(logits):
    def loss(theta, x, label):
        z = logits(theta, x)
        return jax.nn.logsumexp(z) - z[label]

    def run(theta, x, labels):
        gradients = jax.vmap(jax.grad(loss), (None, 0, 0))(theta, x, labels)
        leaves = jax.tree.leaves(gradients)
        squares = sum((g.reshape(ROWS, -1) ** 2).sum(1) for g in leaves)
        factor = jnp.minimum(1, CLIP_NORM / jnp.sqrt(squares))
        return jax.tree.map(lambda g: jnp.tensordot(factor, g, 1), gradients)

    return jax.jit(run)


def main():
    rng = np.random.default_rng(1)

    def layer(*shape):
        bound = float(np.prod(shape[1:])) ** -0.5
        draw = lambda s: jnp.asarray(rng.uniform(-bound, bound, s), jnp.float32)
        return draw(shape), draw(shape[:1])

    models = [
        ("mlp", mlp, 600, 100, [layer(32, 600), layer(100, 32)]),
        (
            "lenet",
            lenet,
            784,
            2,
            [layer(6, 1, 5, 5), layer(16, 6, 5, 5), layer(120, 400), layer(84, 120), layer(2, 84)],
        ),
    ]
    for name, logits, inputs, classes, theta in models:
        x = jnp.asarray(rng.uniform(size=(ROWS, inputs)) < 0.15, jnp.float32)
        labels = jnp.arange(ROWS) % classes
        run = clipped_sum(logits)
        step = lambda: jax.block_until_ready(run(theta, x, labels))
        step()
        best, start = float("inf"), time.perf_counter()
        while time.perf_counter() - start < 5:
            before = time.perf_counter()
            step()
            best = min(best, time.perf_counter() - before)
        print(
            json.dumps(
                {
                    "program": "jax",
                    "version": jax.__version__,
                    "model": name,
                    "microseconds_a_step": round(best * 1e6, 1),
                }
            )
        )


if __name__ == "__main__":
    main()
