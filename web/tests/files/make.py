# /// script
# requires-python = "==3.11.*"
# dependencies = ["numpy==2.4.6", "safetensors==0.8.0"]
# ///
"""Writes the files of scores beside this script, and the sample of the app.

All files of one name contain the same scores: even steps that float32 has exactly, half a step apart in
the two worlds. The sample is one
Gaussian step with noise multiplier 0.5, with and without the target: means 2 and 0, variance 1.
"""

import pathlib
import random

import numpy as np
from safetensors.numpy import save_file

here = pathlib.Path(__file__).parent
target, zero_out = np.arange(600) / 128 + 1.5 + 1 / 256, np.arange(500) / 128
both = {"target": target, "zero_out": zero_out}
narrow = {name: scores.astype(np.float32) for name, scores in both.items()}

np.savez(here / "float64.npz", **both)
np.savez_compressed(here / "float32.npz", **narrow)
save_file(both, here / "float64.safetensors")
save_file(narrow, here / "float32.safetensors")
np.savez(here / "named_otherwise.npz", members=target, others=zero_out)
for name, scores in both.items():
    np.savez(here / f"one_{name}.npz", scores=scores)

draw = np.random.default_rng(1).standard_normal((2, 2500))
sample = {"target": draw[0] + 2, "zero_out": draw[1]}
np.savez_compressed(
    here / "../../app/src/scores/sample-scores.npz",
    **{name: scores.astype(np.float32) for name, scores in sample.items()},
)

# one run: 601 canaries, of which the included ones have larger scores
drawn = random.Random(7)
coins = [drawn.getrandbits(1) for _ in range(601)]
scores = [drawn.gauss(1.6 * coin, 1) for coin in coins]
lines = {"coins": [str(coin) for coin in coins], "scores": [f"{score:.6f}" for score in scores]}
for name, column in lines.items():
    (here / f"one_run_{name}.csv").write_text("\n".join([name, *column]) + "\n")
