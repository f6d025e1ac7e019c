"""Writes gradients.json: losses, gradients and second derivatives of networks by automatic
differentiation in f64.

Python 3.11, jax==0.10.2, jaxlib==0.10.2, numpy==2.4.6; run by `cargo xtask oracles gradients`.
Parameters, examples and directions are numbers of `stream`, which the test draws too; every one of
them is a multiple of 2^-19 times a power of two, so f32 holds it.
"""

import json
import os
import pathlib

os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402  (after the platform)
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

jax.config.update("jax_enable_x64", True)


def stream(seed, count):
    """Numbers in [-1, 1): the top 20 bits of SplitMix64 from `seed`."""
    with np.errstate(over="ignore"):
        x = (np.arange(1, count + 1, dtype=np.uint64) + np.uint64(seed << 32)) * np.uint64(
            0x9E3779B97F4A7C15
        )
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        x = x ^ (x >> np.uint64(31))
    return (x >> np.uint64(44)).astype(np.float64) / 2**19 - 1.0


def linear(outputs):
    return {"kind": "linear", "outputs": outputs}


def convolution(channels, kernel, padding=0, stride=1):
    return {
        "kind": "convolution",
        "channels": channels,
        "kernel": kernel,
        "stride": stride,
        "padding": padding,
    }


def pool(kind, size):
    return {"kind": kind, "size": size}


def group_norm(groups):
    return {"kind": "group-norm", "groups": groups, "epsilon": 1e-5}


TANH, RELU = {"kind": "tanh"}, {"kind": "relu"}


def lenet(first, second, wide, narrow):
    return [
        convolution(first, 5, 2),
        TANH,
        pool("average-pool", 2),
        convolution(second, 5),
        TANH,
        pool("average-pool", 2),
        linear(wide),
        TANH,
        linear(narrow),
        TANH,
        linear(2),
    ]


def cnn(widths, wide):
    layers = []
    for width in widths:
        layers += [convolution(width, 3, 1), TANH, convolution(width, 3, 1), TANH]
        layers += [pool("max-pool", 2)]
    return layers + [linear(wide), TANH, linear(2)]


MODELS = {
    "mlp, 7 units": ([20, 1, 1], [linear(7), RELU, linear(5)]),
    "lenet, reduced": ([1, 20, 20], lenet(2, 3, 6, 5)),
    "cnn, reduced": ([3, 8, 8], cnn([2, 3, 4], 5)),
    "strides and paddings": (
        [2, 11, 8],
        [convolution(3, 4, 3, 3), TANH, convolution(2, 3, 1, 2), RELU, linear(3)],
    ),
    "mlp": ([600, 1, 1], [linear(32), RELU, linear(100)]),
    "lenet": ([1, 28, 28], lenet(6, 16, 120, 84)),
    "cnn": ([3, 32, 32], cnn([32, 64, 128], 128)),
    "group norm": (
        [2, 6, 5],
        [convolution(6, 3, 1), group_norm(3), TANH, linear(4), group_norm(1), TANH, linear(3)],
    ),
}


def power_below(value):
    return 2.0 ** np.floor(np.log2(value))


def parts(shape, layers):
    """(weights, biases, bound) of each layer with parameters."""
    channels, height, width = shape
    found = []
    for layer in layers:
        if layer["kind"] == "linear":
            inputs = channels * height * width
            outputs = layer["outputs"]
            found.append((inputs * outputs, outputs, float(power_below(2 / inputs**0.5))))
            channels, height, width = outputs, 1, 1
        elif layer["kind"] == "convolution":
            taps = channels * layer["kernel"] ** 2
            outputs = layer["channels"]
            found.append((taps * outputs, outputs, float(power_below(2 / taps**0.5))))
            side = lambda n: (n + 2 * layer["padding"] - layer["kernel"]) // layer["stride"] + 1
            channels, height, width = outputs, side(height), side(width)
        elif layer["kind"] == "group-norm":
            found.append((channels, channels, 1.0))
        elif layer["kind"].endswith("pool"):
            height, width = height // layer["size"], width // layer["size"]
    return found


def loss(layers, sizes, shape, theta, example, label):
    x, at, part = example.reshape(shape), 0, 0
    for layer in layers:
        kind = layer["kind"]
        if kind in ("linear", "convolution", "group-norm"):
            weights, biases, _ = sizes[part]
            w, b = theta[at : at + weights], theta[at + weights : at + weights + biases]
            at, part = at + weights + biases, part + 1
        if kind == "linear":
            x = w.reshape(biases, -1) @ x.reshape(-1) + b
        elif kind == "convolution":
            side, border = layer["kernel"], (layer["padding"],) * 2
            w = w.reshape(biases, -1, side, side)
            strides = (layer["stride"],) * 2
            x = jax.lax.conv_general_dilated(x[None], w, strides, (border, border))[0]
            x = x + b[:, None, None]
        elif kind == "group-norm":
            flat = x.reshape(layer["groups"], -1)
            flat = flat - flat.mean(1, keepdims=True)
            flat = flat / jnp.sqrt((flat**2).mean(1, keepdims=True) + layer["epsilon"])
            x = (w * flat.reshape(biases, -1).T + b).T.reshape(x.shape)
        elif kind == "tanh":
            x = jnp.tanh(x)
        elif kind == "relu":
            x = jnp.maximum(x, 0)
        else:
            size = layer["size"]
            c, h, w_ = x.shape[0], x.shape[1] // size, x.shape[2] // size
            blocks = x[:, : h * size, : w_ * size].reshape(c, h, size, w_, size)
            x = blocks.mean((2, 4)) if kind == "average-pool" else blocks.max((2, 4))
    return jax.nn.logsumexp(x) - x[label]


def case(seed, name, shape, layers):
    sizes = parts(shape, layers)
    bounds = np.concatenate([np.full(weights + biases, bound) for weights, biases, bound in sizes])
    theta = stream(4 * seed, len(bounds)) * bounds
    direction = stream(4 * seed + 1, len(bounds))
    example = stream(4 * seed + 2, int(np.prod(shape)))
    of = lambda t: loss(layers, sizes, shape, t, jnp.asarray(example), 1)
    value, gradient = jax.value_and_grad(of)(jnp.asarray(theta))
    along = lambda t: jax.jvp(of, (t,), (jnp.asarray(direction),))[1]
    slope, curvature = jax.jvp(along, (jnp.asarray(theta),), (jnp.asarray(direction),))
    gradient = np.asarray(gradient)
    every = 1 if len(gradient) <= 1000 else len(gradient) // 61
    ends = np.cumsum([weights + biases for weights, biases, _ in sizes])
    layer_norms = [float(np.linalg.norm(part)) for part in np.split(gradient, ends[:-1])]
    return {
        "name": name,
        "model": {
            "input": dict(zip(("channels", "height", "width"), shape)),
            "layers": layers,
        },
        "seed": seed,
        "parts": [[weights + biases, bound] for weights, biases, bound in sizes],
        "label": 1,
        "loss": float(value),
        "slope": float(slope),
        "curvature": float(curvature),
        "layer_norms": layer_norms,
        "every": every,
        "gradient": [float(value) for value in gradient[::every]],
    }


def main():
    cases = [case(seed, name, *model) for seed, (name, model) in enumerate(MODELS.items(), 1)]
    lines = ",\n".join(json.dumps(found) for found in cases)
    pathlib.Path("gradients.json").write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
