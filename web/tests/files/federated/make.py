# /// script
# requires-python = "==3.11.*"
# dependencies = ["numpy==2.4.6", "safetensors==0.8.0"]
# ///
"""Writes two models beside this script, with 60 canaries of the plan in their difference.

First: `dpscope plan federated --dimension 2000 --design fixed:60 --delta 1e-5 --out DIR` writes the plan,
and `dpscope canaries direction --plan DIR --index I --out cI.npy` the directions of canaries 0 to 59.
"""

import pathlib

import numpy as np
from safetensors.numpy import save_file

here = pathlib.Path(__file__).parent
drawn = np.random.default_rng(5)
canaries = sum(np.load(f"c{index}.npy").reshape(-1) for index in range(60))
initial = drawn.standard_normal(2000).astype(np.float32)
# noise multiplier 0.4, clipping norm 0.5
final = (initial + 0.5 * (canaries + 0.4 * drawn.standard_normal(2000))).astype(np.float32)
for name, model in {"initial": initial, "final": final}.items():
    arrays = {"layer.bias": model[:400], "layer.weight": model[400:].reshape(40, 40)}
    save_file(arrays, here / f"{name}.safetensors")
