"""One DP-SGD training of a logistic regression with canaries; writes their scores for an audit.

    dpscope canaries make directions --dimension 1024 --count 1000 --out canaries.npz
    dpscope plan one-run --canaries canaries.npz --out plan
    python3 one_run_trainer.py canaries.npz plan/coins.npy scores.npy
    dpscope audit one-run --plan plan --canaries canaries.npz --scores scores.npy --claim 2

Replace `train` by your own trainer; class Canaries and README.md describe the requirements.
Needs numpy. Gradients are computed by PyTorch or JAX if installed (--framework).
"""

import argparse
import sys

import numpy as np

RECORDS = 100
SAMPLING_RATE = 1.0  # every record in every step; below 1, Poisson sampled batches
STEPS = 20
CLIP_NORM = 0.5
NOISE_MULTIPLIER = 9.0  # epsilon <= 2 at delta = 1e-5 for 20 steps of all records
LEARNING_RATE = 1.0


class Canaries:
    """Gradients of the included canaries, and a score for every canary.

    `insert` knows the coins, `observe` must not. Call `insert` once per step between clipping and
    noise, and `observe` once per step with the noisy sum that the optimizer receives.
    """

    def __init__(self, directions, coins):
        self.directions = directions
        self._included = directions[coins]
        self.scores = np.zeros(len(directions))

    def insert(self, rng):
        """The clipped gradients of the included canaries that this batch contains, summed."""
        drawn = rng.random(len(self._included)) < SAMPLING_RATE
        return CLIP_NORM * self._included[drawn].sum(axis=0)

    def observe(self, noisy_sum):
        """Adds the log-likelihood ratio "included" against "not included" of this step."""
        along = self.directions @ noisy_sum / CLIP_NORM
        ratio = np.exp((2 * along - 1) / (2 * NOISE_MULTIPLIER**2))
        self.scores += np.log1p(SAMPLING_RATE * (ratio - 1))


def make_data(rng, features):
    """Two overlapping classes."""
    y = rng.integers(0, 2, RECORDS)
    x = rng.normal(size=(RECORDS, features)) + (2 * y[:, None] - 1) / np.sqrt(features)
    return x, y


def gradients_by_numpy(theta, x, y):
    probability = 1.0 / (1.0 + np.exp(-(x @ theta)))
    return (probability - y)[:, None] * x


def gradients_by_torch():
    import torch
    from torch.func import grad, vmap

    def loss(theta, x, y):
        return torch.nn.functional.binary_cross_entropy_with_logits(x @ theta, y)

    per_example = vmap(grad(loss), in_dims=(None, 0, 0))

    def gradients(theta, x, y):
        tensors = (torch.from_numpy(np.asarray(a, dtype=np.float64)) for a in (theta, x, y))
        return per_example(*tensors).numpy().copy()

    return gradients


def gradients_by_jax():
    import jax

    def loss(theta, x, y):
        logit = x @ theta
        return jax.numpy.logaddexp(0.0, logit) - y * logit

    # without jit, which would compile anew for every batch size
    per_example = jax.vmap(jax.grad(loss), in_axes=(None, 0, 0))
    return lambda theta, x, y: np.array(per_example(theta, x, y.astype(float)), dtype=float)


def per_example_gradients(framework):
    """The function (theta, x, y) -> per-example gradients, and the name of the framework."""
    makers = {
        "torch": gradients_by_torch,
        "jax": gradients_by_jax,
        "numpy": lambda: gradients_by_numpy,
    }
    for name in makers if framework == "auto" else [framework]:
        try:
            return makers[name](), name
        except ImportError:
            if framework != "auto":
                sys.exit(f"one_run_trainer.py: {name} cannot be imported; pass --framework numpy")


def train(data, gradients, canaries, rng, noise_multiplier):
    """One run of DP-SGD with Poisson sampled batches; returns the trained parameters.

    The sum is divided by the expected batch size, a constant: dividing by the number of records in the
    batch, canaries included, would leak it.
    """
    x, y = data
    theta = np.zeros(x.shape[1])
    for _ in range(STEPS):
        batch = rng.random(RECORDS) < SAMPLING_RATE
        total = np.zeros_like(theta)
        if batch.any():
            each = gradients(theta, x[batch], y[batch])
            norms = np.linalg.norm(each, axis=1, keepdims=True)
            total += (each * np.minimum(1.0, CLIP_NORM / np.maximum(norms, 1e-12))).sum(axis=0)
        total += canaries.insert(rng)
        total += noise_multiplier * CLIP_NORM * rng.normal(size=theta.shape)
        canaries.observe(total)
        theta -= LEARNING_RATE * total / (SAMPLING_RATE * RECORDS)
    return theta


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("canaries", help="npz file of directions, from `dpscope canaries make`")
    parser.add_argument("coins", help="coins.npy of the plan")
    parser.add_argument("out", help="npy file of scores to write")
    parser.add_argument("--seed", type=int, default=1, help="of the training, never of the coins")
    parser.add_argument("--framework", choices=["auto", "numpy", "torch", "jax"], default="auto")
    parser.add_argument("--broken", choices=["less-noise"], help="noise times 0.3")
    arguments = parser.parse_args()
    directions = np.load(arguments.canaries)["inputs"]
    coins = np.load(arguments.coins).astype(bool)
    if len(coins) != len(directions):
        parser.error(f"{len(coins)} coins for {len(directions)} canaries")
    gradients, framework = per_example_gradients(arguments.framework)
    data = make_data(np.random.default_rng(0), directions.shape[1])
    rng = np.random.default_rng(arguments.seed)
    canaries = Canaries(directions, coins)
    noise_multiplier = NOISE_MULTIPLIER * (0.3 if arguments.broken else 1.0)
    theta = train(data, gradients, canaries, rng, noise_multiplier)
    x, y = data
    print(f"gradients by {framework}, accuracy {np.mean((x @ theta > 0) == y):.3f}")
    np.save(arguments.out, canaries.scores)


if __name__ == "__main__":
    main()
