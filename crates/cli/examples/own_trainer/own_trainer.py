"""DP-SGD for a small logistic regression with a canary; records outputs for an audit.

    python3 own_trainer.py runs.npz
    dpscope audit outputs runs.npz --threat-model partially-informed --claim 2.0

Replace `train` by your own trainer; class Canary and README.md describe the requirements.
Needs numpy. Gradients are computed by PyTorch or JAX if installed (--framework).
"""

import argparse
import sys
import time

import numpy as np

RECORDS = 400
FEATURES = 20
BATCH_SIZE = 40
CLIP_NORM = 0.5
NOISE_MULTIPLIER = 2.0
LEARNING_RATE = 2.0
TARGET = 0  # index of the target record


class Canary:
    """The attacker's canary gradient and observations.

    Call `insert` once per step between clipping and summing, and `observe` once per step with the
    gradient passed to the optimizer. The rest of the trainer is unchanged.
    """

    def __init__(self, direction, has_target):
        self.direction = direction / np.linalg.norm(direction)
        self.has_target = has_target
        self.outputs = []
        self.target_steps = []

    def insert(self, clipped, records):
        """Replaces clipped gradients: one row per record, with the indices `records`."""
        slots = np.flatnonzero(records == TARGET)
        self.target_steps.append(len(slots) > 0)
        if len(slots) == 0:
            # Neither target nor zero-out record: the partially informed attacker controls the last one.
            clipped[-1] = -CLIP_NORM * self.direction
        elif self.has_target:
            clipped[slots] = CLIP_NORM * self.direction
        else:
            clipped[slots] = 0.0

    def observe(self, noisy_mean):
        """Records the noisy sum along the canary, in units of gradients: dpscope divides by clip_norm."""
        self.outputs.append(BATCH_SIZE * float(noisy_mean @ self.direction))


def make_data(rng):
    """Two overlapping classes. The last feature is 0 in every record: its weight has gradient zero."""
    y = rng.integers(0, 2, RECORDS)
    x = rng.normal(size=(RECORDS, FEATURES)) + 0.5 * (2 * y[:, None] - 1) / np.sqrt(FEATURES)
    x[:, -1] = 0.0
    return x, y


def gradients_by_numpy(theta, x, y):
    probability = 1.0 / (1.0 + np.exp(-(x @ theta[:-1] + theta[-1])))
    error = (probability - y)[:, None]
    return np.concatenate([error * x, error], axis=1)


def gradients_by_torch():
    import torch
    from torch.func import grad, vmap

    def loss(theta, x, y):
        logit = x @ theta[:-1] + theta[-1]
        return torch.nn.functional.binary_cross_entropy_with_logits(logit, y)

    per_example = vmap(grad(loss), in_dims=(None, 0, 0))

    def gradients(theta, x, y):
        tensors = (torch.from_numpy(np.asarray(a, dtype=np.float64)) for a in (theta, x, y))
        return per_example(*tensors).numpy().copy()

    return gradients


def gradients_by_jax():
    import jax

    def loss(theta, x, y):
        logit = x @ theta[:-1] + theta[-1]
        return jax.numpy.logaddexp(0.0, logit) - y * logit

    per_example = jax.jit(jax.vmap(jax.grad(loss), in_axes=(None, 0, 0)))
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
                sys.exit(f"own_trainer.py: {name} cannot be imported; install it or pass --framework numpy")


def batches_of(rng, epoch_order, broken):
    """The loader: every record once per epoch, in a new random order for each epoch."""
    order = epoch_order if broken == "no-shuffle" else rng.permutation(RECORDS)
    return order.reshape(-1, BATCH_SIZE)


def train(data, gradients, epochs, canary, rng, broken):
    """One run of DP-SGD; returns the trained parameters."""
    x, y = data
    theta = np.zeros(FEATURES + 1)
    for _ in range(epochs):
        for records in batches_of(rng, np.arange(RECORDS), broken):
            each = gradients(theta, x[records], y[records])
            norms = np.linalg.norm(each, axis=1, keepdims=True)
            clipped = each * np.minimum(1.0, CLIP_NORM / np.maximum(norms, 1e-12))
            canary.insert(clipped, records)
            noise = NOISE_MULTIPLIER * CLIP_NORM * rng.normal(size=theta.shape)
            if broken == "noise-divided-twice":
                noise /= BATCH_SIZE
            noisy_mean = (clipped.sum(axis=0) + noise) / BATCH_SIZE
            canary.observe(noisy_mean)
            theta -= LEARNING_RATE * noisy_mean
    return theta


def run_world(has_target, arguments, data, gradients):
    """Outputs of all runs in one world, shape (runs, epochs, steps); steps of the target; accuracy."""
    outputs, target_steps, accuracies = [], [], []
    for run in range(arguments.runs):
        # Every run of both worlds has its own random generator: the audit assumes independent runs.
        rng = np.random.default_rng([arguments.seed, int(has_target), run])
        direction = np.zeros(FEATURES + 1)
        if arguments.canary == "dirac":
            direction[FEATURES - 1] = 1.0  # the weight with gradient zero
        else:
            direction = rng.normal(size=FEATURES + 1)
        canary = Canary(direction, has_target)
        theta = train(data, gradients, arguments.epochs, canary, rng, arguments.broken)
        outputs.append(canary.outputs)
        target_steps.append(canary.target_steps)
        x, y = data
        accuracies.append(np.mean((x @ theta[:-1] + theta[-1] > 0) == y))
    shape = (arguments.runs, arguments.epochs, RECORDS // BATCH_SIZE)
    return np.reshape(outputs, shape), np.reshape(target_steps, shape), np.mean(accuracies)


def check_scale(outputs, target_steps, canary):
    """Checks batches without the target, which contain -1 and the noise.

    Along a random canary the gradients of other records contribute, so only a Dirac canary is
    checked.
    """
    others = outputs[~target_steps] / CLIP_NORM
    count = len(others)
    mean, deviation = others.mean(), others.std(ddof=1)
    errors = NOISE_MULTIPLIER / np.sqrt(count), NOISE_MULTIPLIER / np.sqrt(2 * count)
    print(f"  {count} batches without the target, in clip norms:")
    for name, found, expected, error in [
        ("mean", mean, -1.0, errors[0]),
        ("standard deviation", deviation, NOISE_MULTIPLIER, errors[1]),
    ]:
        near = abs(found - expected) < 4 * error
        verdict = "as expected" if near else "DIFFERS from the claim"
        shown = f": {verdict}" if canary == "dirac" else " without other records"
        print(f"    {name} {found:.4f}, expected {expected:.4f} +- {error:.4f}{shown}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", help="npz file to write")
    parser.add_argument("--runs", type=int, default=200, help="runs in each world")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--framework", choices=["auto", "numpy", "torch", "jax"], default="auto")
    parser.add_argument("--canary", choices=["dirac", "random"], default="dirac")
    parser.add_argument("--broken", choices=["noise-divided-twice", "no-shuffle"])
    arguments = parser.parse_args()
    if arguments.runs < 1 or arguments.epochs < 1:
        parser.error("--runs and --epochs must be at least 1")
    gradients, framework = per_example_gradients(arguments.framework)
    data = make_data(np.random.default_rng(0))
    started = time.monotonic()
    target = run_world(True, arguments, data, gradients)
    zero_out = run_world(False, arguments, data, gradients)
    seconds = time.monotonic() - started
    print(f"{arguments.runs} runs per world in {seconds:.1f} s, gradients by {framework}")
    print(f"  accuracy on the training records {target[2]:.3f}")
    outputs, steps = (np.concatenate([target[i], zero_out[i]]) for i in (0, 1))
    check_scale(outputs, steps, arguments.canary)
    np.savez(
        arguments.out,
        target=target[0],
        zero_out=zero_out[0],
        noise_multiplier=NOISE_MULTIPLIER,
        clip_norm=CLIP_NORM,
        batch_size=BATCH_SIZE,
    )


if __name__ == "__main__":
    main()
