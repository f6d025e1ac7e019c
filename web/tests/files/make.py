# /// script
# requires-python = "==3.11.*"
# dependencies = ["numpy==2.4.6"]
# ///
"""Writes the files beside this script, and the sample of the app: scores of one Gaussian step with noise
multiplier 0.5, with and without the target, whose means are 2 and 0, and whose variance is 1.
"""

import pathlib
import random

import numpy as np

here = pathlib.Path(__file__).parent

draw = np.random.default_rng(1).standard_normal((2, 2500))
sample = {"target": draw[0] + 2, "zero_out": draw[1]}
np.savez_compressed(
    here / "../../app/src/questions/sample-scores.npz",
    **{name: scores.astype(np.float32) for name, scores in sample.items()},
)

# one run: 601 canaries, of which the included ones have larger scores
drawn = random.Random(7)
coins = [drawn.getrandbits(1) for _ in range(601)]
scores = [drawn.gauss(1.6 * coin, 1) for coin in coins]
lines = {"coins": [str(coin) for coin in coins], "scores": [f"{score:.6f}" for score in scores]}
for name, column in lines.items():
    (here / f"one_run_{name}.csv").write_text("\n".join([name, *column]) + "\n")
