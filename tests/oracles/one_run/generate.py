"""Largest probabilities of correct guesses under (epsilon, delta)-DP, as linear programs.

Python 3.11, scipy==1.17.1 (with numpy==2.4.6); run by `cargo xtask oracles tests/oracles/one_run`.
Writes mechanisms.csv, counts.csv and draws.csv, the same bytes on every run. Under a minute.

* mechanisms: over all mechanisms that map the coins of m canaries to k guesses. Variables are
  P[guesses | coins] for every pair, and the excess of each pair of neighbouring coins.
* counts: over all distributions p_j of the number of correct guesses with
  sum_j max(0, j p_j - e^epsilon (k - j + 1) p_(j-1)) <= m delta.
* draws: r of m canaries are drawn uniformly, and a mechanism that is (epsilon, delta)-DP for adding or
  removing one of them, at every size, names k canaries as drawn, or none. By symmetry the variables are
  the probabilities, for each size s, of naming j drawn canaries.
"""

import itertools
import math
import random

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import lil_matrix


def over_mechanisms(canaries, guesses, correct, epsilon, delta):
    coins = list(itertools.product((0, 1), repeat=canaries))
    outputs = [
        (chosen, sides)
        for chosen in itertools.combinations(range(canaries), guesses)
        for sides in itertools.product((0, 1), repeat=guesses)
    ]
    place = {coin: i for i, coin in enumerate(coins)}
    flips = [
        (place[coin], place[tuple(b ^ (i == at) for i, b in enumerate(coin))])
        for coin in coins
        for at in range(canaries)
    ]
    n, o = len(coins), len(outputs)
    total = n * o + len(flips) * o
    reward = np.zeros(total)
    for i, coin in enumerate(coins):
        for j, (chosen, sides) in enumerate(outputs):
            right = sum(coin[c] == side for c, side in zip(chosen, sides))
            reward[i * o + j] = -(right >= correct) / n
    rows = lil_matrix((len(flips) * o + len(flips), total))
    limits = np.zeros(rows.shape[0])
    grown = math.exp(epsilon)
    for f, (one, other) in enumerate(flips):
        for j in range(o):
            row, excess = f * o + j, n * o + f * o + j
            rows[row, one * o + j] = 1
            rows[row, other * o + j] = -grown
            rows[row, excess] = -1
            rows[len(flips) * o + f, excess] = 1
        limits[len(flips) * o + f] = delta
    sums = lil_matrix((n, total))
    for i in range(n):
        sums[i, i * o : (i + 1) * o] = 1
    return -solve(reward, rows.tocsr(), limits, sums.tocsr(), np.ones(n))


def over_counts(canaries, guesses, correct, epsilon, delta):
    k, grown = guesses, math.exp(epsilon)
    total = (k + 1) + k
    reward = np.zeros(total)
    reward[correct : k + 1] = -1
    rows, limits = np.zeros((k + 1, total)), np.zeros(k + 1)
    for j in range(1, k + 1):
        rows[j - 1, j], rows[j - 1, j - 1] = j, -grown * (k - j + 1)
        rows[j - 1, k + j] = -1
    rows[k, k + 1 :] = 1
    limits[k] = canaries * delta
    sums = np.zeros((1, total))
    sums[0, : k + 1] = 1
    return -solve(reward, rows, limits, sums, np.ones(1))


def over_draws(canaries, drawn, guesses, correct, epsilon, delta):
    m, k, grown = canaries, guesses, math.exp(epsilon)
    states = [(s, j) for s in range(m + 1) for j in range(k + 1) if j <= s and k - j <= m - s]
    place = {state: i for i, state in enumerate(states)}
    place.update({(s, None): len(states) + s for s in range(m + 1)})  # none is named
    outputs = []  # of each step between sizes: places, and shares of the outputs there
    for s in range(m):
        pairs = [((s, None), (s + 1, None), 1.0, 1.0)]
        for j in range(k + 1):
            for named in (0, 1):  # whether the canary that is drawn in the larger size alone is named
                if k - j - named < 0:
                    continue
                sets = math.comb(s, j) * math.comb(m - s - 1, k - j - named)
                if sets > 0:
                    small = sets / (math.comb(s, j) * math.comb(m - s, k - j))
                    large = math.comb(s + 1, j + named) * math.comb(m - s - 1, k - j - named)
                    pairs.append(((s, j), (s + 1, j + named), small, sets / large))
        outputs.append(pairs)
    pairs = sum(len(step) for step in outputs)
    total, excess = len(place) + 2 * pairs, len(place)
    rows, limits = lil_matrix((2 * pairs + 2 * m, total)), np.zeros(2 * pairs + 2 * m)
    row = 0
    for s, step in enumerate(outputs):
        for direction in (0, 1):
            for one, other, share, other_share in step:
                if direction == 1:
                    one, other, share, other_share = other, one, other_share, share
                rows[row, place[one]], rows[row, place[other]] = share, -grown * other_share
                rows[row, excess + row] = -1
                rows[2 * pairs + 2 * s + direction, excess + row] = 1
                row += 1
            limits[2 * pairs + 2 * s + direction] = delta
    sums = lil_matrix((m + 1, total))
    for (s, _), at in place.items():
        sums[s, at] = 1
    reward = np.zeros(total)
    for j in range(correct, k + 1):
        if (drawn, j) in place:
            reward[place[drawn, j]] = -1
    return -solve(reward, rows.tocsr(), limits, sums.tocsr(), np.ones(m + 1))


def solve(reward, rows, limits, sums, ones):
    options = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    found = linprog(reward, A_ub=rows, b_ub=limits, A_eq=sums, b_eq=ones, method="highs-ds", options=options)
    assert found.status == 0, found.message
    return found.fun


def write(path, cases, largest):
    with open(path, "w", newline="\n") as out:
        out.write("canaries,guesses,correct,epsilon,delta,probability\n")
        for canaries, guesses, correct, epsilon, delta in cases:
            value = largest(canaries, guesses, correct, epsilon, delta)
            out.write(f"{canaries},{guesses},{correct},{epsilon!r},{delta!r},{value:.10f}\n")


if __name__ == "__main__":
    write(
        "mechanisms.csv",
        [
            (m, k, v, epsilon, delta)
            for m, k in ((1, 1), (2, 1), (2, 2), (3, 2), (3, 3), (4, 2))
            for v in range(max(1, k - 1), k + 1)
            for epsilon, delta in ((0.0, 0.02), (0.5, 0.0), (1.0, 0.01), (2.0, 0.05))
        ],
        over_mechanisms,
    )
    draw = random.Random(20261122)
    cases = []
    for _ in range(60):
        canaries = draw.randint(2, 40)
        guesses = draw.randint(1, canaries)
        correct = draw.randint(1, guesses)
        epsilon = round(draw.uniform(0, 3), 3)
        delta = draw.choice((0.0, 1e-4, 1e-3, 0.01))
        cases.append((canaries, guesses, correct, epsilon, delta))
    write("counts.csv", cases, over_counts)
    with open("draws.csv", "w", newline="\n") as out:
        out.write("canaries,drawn,guesses,correct,epsilon,delta,probability\n")
        for m, r, k, epsilon, delta in (
            (2, 1, 1, 1.0, 0.0),
            (12, 6, 3, 0.5, 0.01),
            (20, 16, 4, 0.5, 0.0),
            (40, 20, 10, 0.5, 0.0),
            (60, 12, 12, 1.0, 0.0),
            (60, 30, 10, 1.0, 0.0),
            (60, 30, 10, 0.5, 0.001),
        ):
            for v in range(1, k + 1):
                value = over_draws(m, r, k, v, epsilon, delta)
                out.write(f"{m},{r},{k},{v},{epsilon!r},{delta!r},{value:.10f}\n")
