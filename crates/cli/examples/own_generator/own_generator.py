"""A generator of synthetic rows from noisy histograms, with an epsilon in closed form.

Each of the d columns is divided into the same public cells; every count gets Laplace(d / epsilon)
noise. Adding or removing a row changes one count per column by one, so the rows are epsilon-DP:
sum over columns of (1 / scale) = epsilon. They are drawn column by column, independently.

    python3 own_generator.py DATA SEED OUT ROWS [--epsilon 1] [--broken FAULT]

Faults: `noise-per-column` spends epsilon in every column (scale 1 / epsilon: d times epsilon),
`no-noise` forgets the noise, `row-count` releases as many rows as the data have.
Columns are integers from 0 to LEVELS - 1. Standard library only.
"""

import argparse
import csv
import math
import random

LEVELS = 2


def laplace(rng, scale):
    """The difference of two exponential variables."""
    return scale * (rng.expovariate(1) - rng.expovariate(1))


def histograms(rows, columns):
    counts = [[0] * LEVELS for _ in range(columns)]
    for row in rows:
        for column, value in enumerate(row):
            counts[column][min(max(int(value), 0), LEVELS - 1)] += 1
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data")
    parser.add_argument("seed", type=int)
    parser.add_argument("out")
    parser.add_argument("rows", type=int)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--broken", choices=["noise-per-column", "no-noise", "row-count"])
    args = parser.parse_args()

    with open(args.data, newline="", encoding="utf-8") as file:
        names, *rows = csv.reader(file)
    rng = random.Random(args.seed)
    parts = 1 if args.broken == "noise-per-column" else len(names)
    scale = 0 if args.broken == "no-noise" else parts / args.epsilon
    released = len(rows) if args.broken == "row-count" else args.rows
    columns = []
    for counts in histograms(rows, len(names)):
        weights = [max(count + laplace(rng, scale), 0.0) for count in counts]
        if math.fsum(weights) <= 0:
            weights = [1.0] * LEVELS
        columns.append(rng.choices(range(LEVELS), weights, k=released))
    with open(args.out, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows(zip(*columns))


if __name__ == "__main__":
    main()
