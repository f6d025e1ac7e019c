"""The job of `examples/throughput.rs` in numpy float32 on one thread, as a yardstick.

Per chunk that fits the second-level cache: standard normals, the target's entry moved, scores by a
centred log-sum-exp with one exponential an entry (y and y^2), a histogram of the scores. Both
worlds, gap 2, uniform slots, one epoch. Prints JSON; the best of several repeats of CPU time.

    python peer_numpy.py --entries 100 --sigma 1

Needs numpy==2.3.5.
"""

import argparse
import json
import os
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402  (after the thread limits)


def scores(rng, shift, sigma, x, squares):
    """Scores of the observations in the rows of the buffer `x`; `squares` is scratch."""
    f = np.float32
    rng.standard_normal(dtype=f, out=x)
    x *= f(1 / sigma)
    x[:, 0] += f(shift / sigma**2)
    centre = x.max(axis=1)
    x -= centre[:, None]
    np.exp(x, out=x)
    first = x.sum(axis=1)
    np.multiply(x, x, out=squares)
    second = squares.sum(axis=1)
    # x holds (x + 2)/sigma^2, so the offset is 1.5 for a mean of -2 elsewhere.
    return centre - f(1.5 / sigma**2) + np.log(second / first)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--entries", type=int, default=100)
    parser.add_argument("--sigma", type=float, default=1.0)
    parser.add_argument("--normals", type=int, default=20_000_000, help="a repeat and world")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()

    rows = max(1, 65_536 // options.entries)
    x = np.empty((rows, options.entries), np.float32)
    squares = np.empty_like(x)
    chunks = max(1, options.normals // x.size)
    best = 0.0
    for repeat in range(options.repeats):
        histograms = np.zeros((2, 4096), np.int64)
        start = time.process_time()
        for world, shift in enumerate((2.0, 1.0)):
            rng = np.random.Generator(np.random.SFC64([repeat, world]))
            for _ in range(chunks):
                score = scores(rng, shift, options.sigma, x, squares)
                bins = np.clip((score + 16) * 128, 0, 4095).astype(np.int64)
                histograms[world] += np.bincount(bins, minlength=4096)
        elapsed = time.process_time() - start
        assert histograms.sum() == 2 * chunks * rows
        best = max(best, 2 * chunks * rows / elapsed)
    print(
        json.dumps(
            {
                "program": "numpy",
                "version": np.__version__,
                "entries": options.entries,
                "noise_multiplier": options.sigma,
                "observations_per_cpu_second": round(best),
                "normals_per_cpu_second": best * options.entries,
            }
        )
    )


if __name__ == "__main__":
    main()
