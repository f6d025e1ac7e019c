"""Largest probabilities of v or more correct guesses without planted coins, as linear programs.

Python 3.11, scipy==1.17.1 (with numpy==2.4.6); run by `cargo xtask oracles
tests/oracles/without_coins`. Writes values.json, the same bytes on every run. Some seconds.

Each value is an optimum over all (epsilon, delta)-DP mechanisms of a small game. A mechanism is a table
P[output | dataset] whose outputs are the guesses themselves: a rule that reads the output is
post-processing. For each ordered pair of neighbours, sum_o max(0, P[o|D] - e^epsilon P[o|D']) <= delta.

* lists_replace: m records hold independent uniform secrets of S values; an output is a list of j values
  for each record. Neighbours differ in one secret.
* lists_add_remove: records may also be absent; neighbours differ by one record. Measured if all are present.
* split_replace, split_add_remove: r of N rows are of the named side, uniformly; an output names k rows.
  Neighbours swap two rows, or differ by one row, with datasets of every size.
* odds: canary i is included with probability inclusion[i], independently; an output names k canaries as
  included ("in"), or k canaries and a side of each ("both"). Neighbours differ by one canary.
* adaptive: m fair coins; an output is a strategy tree. Its root names a canary and a side; the coin of
  that canary is then revealed and selects the subtree of the next guess, about another canary; k guesses.
* mutants: `wrong_limit` is a plausible formula that the attained probability exceeds.

Symmetry: if a group acts on datasets and outputs together and preserves neighbours, correct guesses and
the distribution of the dataset, the average of an optimal mechanism over the group is optimal, because
the constraints are convex. So P[o|D] may depend on the orbit of (D, o) alone, and one dataset of each
orbit suffices. `check_symmetry` compares with programs that use no symmetry.
"""

import itertools
import json
import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from scipy.optimize import linprog

EPSILONS, DELTAS = (0.0, 0.5, 1.0, 2.0), (0.0, 0.001, 0.02)
ABSENT = -1  # secret of a record that is not in the dataset
TOLERANCE, OPTIONS = 1e-9, {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
SOURCE = (
    "Largest probability of `correct` or more right guesses over all (epsilon, delta)-DP mechanisms, by "
    "linear programs (HiGHS); generate.py beside this file defines the games. In `odds` the output selects "
    "which canaries are named, and their sides: compare with the limit at the most favourable ones."
)


@dataclass(frozen=True)
class Game:
    """A game, with one dataset of each orbit and the probability of its orbit in the measured world."""

    datasets: dict[Any, float]
    outputs: list[Any]
    neighbours: Callable[[Any], list[Any]]
    hits: Callable[[Any, Any], int]
    orbit: Callable[[Any, Any], Hashable] = lambda dataset, output: (dataset, output)


class Program:
    """Linear programs of one game; variables are the masses of orbits of outputs, given a dataset."""

    def __init__(self, game: Game) -> None:
        place: dict[Hashable, int] = {}
        sizes: Counter[int] = Counter()
        self.reward: list[tuple[float, int]] = []  # weight and hits of each variable
        self.sums: list[range] = []
        for dataset, weight in game.datasets.items():
            first = len(place)
            for output in game.outputs:
                at = place.setdefault(game.orbit(dataset, output), len(place))
                assert at >= first  # no orbit belongs to two datasets
                sizes[at] += 1
                if at == len(self.reward):
                    self.reward.append((weight, game.hits(dataset, output)))
                assert self.reward[at][1] == game.hits(dataset, output)
            self.sums.append(range(first, len(place)))
        self.counts = sorted({hits for weight, hits in self.reward if weight > 0 and hits > 0})
        # of each pair of neighbours: variables, and shares of their mass, of outputs with equal orbits
        self.steps = set()
        for one, other in [(one, other) for one in game.datasets for other in game.neighbours(one)]:
            alike = Counter((place[game.orbit(one, o)], place[game.orbit(other, o)]) for o in game.outputs)
            self.steps.add(tuple(sorted((a, n / sizes[a], b, n / sizes[b]) for (a, b), n in alike.items())))

    def largest(self, correct: int, epsilon: float, delta: float) -> float:
        """Largest probability of at least `correct` hits."""
        masses, steps = len(self.reward), sorted(self.steps)
        pairs = sum(map(len, steps))
        rows, limits = np.zeros((pairs + len(steps), masses + pairs)), np.zeros(pairs + len(steps))
        limits[pairs:] = delta
        listed = [(i, *pair) for i, step in enumerate(steps) for pair in step]
        for row, (i, one, share, other, other_share) in enumerate(listed):
            rows[row, one] += share
            rows[row, other] -= math.exp(epsilon) * other_share
            rows[row, masses + row] = -1  # the excess of this pair
            rows[pairs + i, masses + row] = 1
        ones = np.zeros((len(self.sums), masses + pairs))
        for i, columns in enumerate(self.sums):
            ones[i, columns] = 1
        reward = np.array([-weight * (hits >= correct) for weight, hits in self.reward] + [0.0] * pairs)
        found = linprog(reward, rows, limits, ones, np.ones(len(ones)), method="highs-ds", options=OPTIONS)
        assert found.status == 0, found.message
        return -found.fun


def lists(absent: bool, m: int, values: int, length: int) -> Game:
    """Lists of secrets; the group permutes records, and the values of each record."""

    def neighbours(dataset: tuple[int, ...]) -> list[tuple[int, ...]]:
        found = []
        for i, secret in enumerate(dataset):
            others = [ABSENT] if absent and secret != ABSENT else set(range(values)) - {secret}
            found += [dataset[:i] + (other,) + dataset[i + 1 :] for other in others]
        return found

    return Game(
        {(ABSENT,) * a + (0,) * (m - a): float(a == 0) for a in range(m + 1 if absent else 1)},
        list(itertools.product(itertools.combinations(range(values), length), repeat=m)),
        neighbours,
        lambda dataset, output: sum(s in named for s, named in zip(dataset, output)),
        lambda dataset, output: tuple(sorted((s == ABSENT, s in named) for s, named in zip(dataset, output))),
    )


def split(sizes: bool, rows: int, side: int, k: int) -> Game:
    """Splits as the set of rows of the named side; the group permutes the rows."""
    everyone = frozenset(range(rows))
    return Game(
        {frozenset(range(s)): float(s == side) for s in (range(rows + 1) if sizes else [side])},
        [frozenset(output) for output in itertools.combinations(range(rows), k)],
        lambda d: [d ^ {a} for a in everyone] if sizes else [d - {a} | {b} for a in d for b in everyone - d],
        lambda dataset, output: len(dataset & output),
        lambda dataset, output: (len(dataset), len(dataset & output)),
    )


def flips(coins: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Datasets that differ in one coin."""
    return [coins[:i] + (1 - coin,) + coins[i + 1 :] for i, coin in enumerate(coins)]


def chance(inclusion: float, side: int) -> float:
    """Prior probability of a side."""
    return inclusion if side == 1 else 1 - inclusion


def named_sides(m: int, side: str, k: int) -> list[tuple[tuple[int, int], ...]]:
    """All sets of k canaries, with a side each."""
    sides = list(itertools.product((1,) if side == "in" else (0, 1), repeat=k))
    return [tuple(zip(named, s)) for named in itertools.combinations(range(m), k) for s in sides]


def odds(inclusion: list[float], side: str, k: int) -> Game:
    """Independent canaries with their own probabilities; no symmetry."""
    everything = itertools.product((0, 1), repeat=len(inclusion))
    return Game(
        {coins: math.prod(map(chance, inclusion, coins)) for coins in everything},
        named_sides(len(inclusion), side, k),
        flips,
        lambda coins, output: sum(coins[canary] == side for canary, side in output),
    )


def strategies(canaries: tuple[int, ...], k: int) -> list[Any]:
    """All trees (canary, side, next guesses if its coin is 0, next guesses if it is 1)."""
    trees: list[Any] = [] if k else [()]
    for canary in canaries if k else ():
        following = strategies(tuple(c for c in canaries if c != canary), k - 1)
        trees += itertools.product([canary], (0, 1), following, following)
    return trees


def strategy_hits(coins: tuple[int, ...], tree: Any) -> int:
    """Correct guesses along the branch that the revealed coins select."""
    return (coins[tree[0]] == tree[1]) + strategy_hits(coins, tree[2 + coins[tree[0]]]) if tree else 0


def relabelled(tree: Any, order: tuple[int, ...], coins: tuple[int, ...]) -> Any:
    """The tree after renaming canaries, and sides so that all coins are 0."""
    coin = coins[tree[0]] if tree else 0
    branches = [relabelled(branch, order, coins) for branch in tree[2:]]
    return (order[tree[0]], tree[1] ^ coin, branches[coin], branches[1 - coin]) if tree else ()


def adaptive(m: int, k: int) -> Game:
    """Guesses after revealed coins; the group permutes canaries and exchanges the sides of each."""
    orders = list(itertools.permutations(range(m)))
    return Game(
        {(0,) * m: 1.0},
        strategies(tuple(range(m)), k),
        flips,
        strategy_hits,
        lambda coins, tree: min(relabelled(tree, order, coins) for order in orders),
    )


def tilted(prior: float, epsilon: float) -> float:
    """Probability whose odds are e^epsilon times those of the prior."""
    return math.exp(epsilon) * prior / (math.exp(epsilon) * prior + 1 - prior)


def binomial(chances: list[float]) -> list[float]:
    """Poisson-binomial distribution of the number of successes."""
    law = [1.0]
    for q in chances:
        law = [a * (1 - q) + b * q for a, b in zip(law + [0.0], [0.0] + law)]
    return law


def spread(law: list[float], v: int, budget: float) -> float:
    """F + budget F (1-F) / f of the probabilities f of each count, with F = P[count >= v]."""
    above, below = sum(law[v:]), sum(law[:v])
    return above + budget * above * below / law[v] if below > 0 else 1.0


def lists_replace_limit(m: int, values: int, j: int, v: int, epsilon: float, delta: float) -> float:
    """Section 3.1."""
    budget = m * delta * (values - 1) / (values - j)
    return spread(binomial([tilted(j / values, epsilon)] * m), v, budget / v)


def lists_add_remove_limit(m: int, values: int, j: int, v: int, epsilon: float, delta: float) -> float:
    """Sections 1.3 and 3.3."""
    q = math.exp(epsilon) * j / values
    group = lists_replace_limit(m, values, j, v, 2 * epsilon, (1 + math.exp(epsilon)) * delta)
    all_hit = [q**a + delta * sum(q**i for i in range(a)) for a in range(v + 1)]
    moments = min(math.comb(m, a) * all_hit[a] / math.comb(v, a) for a in range(1, v + 1))
    return min(group, moments if q < 1 else 1.0)


def split_replace_limit(rows: int, side: int, k: int, v: int, epsilon: float, delta: float) -> float:
    """Section 1.2."""
    law = [math.comb(side, j) * math.comb(rows - side, k - j) * math.exp(epsilon * j) for j in range(k + 1)]
    swaps = max(1, v * (rows - side - k + v))  # 0 at the least possible v alone, where the limit is 1
    return spread([term / sum(law) for term in law], v, side * (rows - side) * delta / swaps)


def split_add_remove_limit(rows: int, side: int, k: int, v: int, epsilon: float, delta: float) -> float:
    """Section 1.4: group, coins over size, moments."""
    grown, prior, comb = math.exp(epsilon), side / rows, math.comb
    group = split_replace_limit(rows, side, k, v, 2 * epsilon, (1 + grown) * delta)
    coins = spread(binomial([tilted(prior, epsilon)] * k), v, side * delta / v)
    limits = [group, coins / binomial([prior] * rows)[side]]
    for a in range(1, min(v, side) + 1):
        uniform = comb(k, a) * grown**a * comb(rows, side - a) / comb(rows, side)
        steps = comb(side, a) * delta * sum(grown**i for i in range(a))
        limits.append((uniform + steps) / comb(v, a))
    return min(limits)


def odds_limit(inclusion: list[float], side: str, k: int, v: int, epsilon: float, delta: float) -> float:
    """Section 4, for the named canaries and sides that are the most favourable; all canaries cost delta."""
    named = named_sides(len(inclusion), side, k)
    tails = [sum(binomial([tilted(chance(inclusion[c], s), epsilon) for c, s in o])[v:]) for o in named]
    priors = [chance(p, s) for p in inclusion for s in ((1,) if side == "in" else (0, 1))]
    return max(tails) + delta * sum(p * (1 - tilted(p, epsilon)) for p in priors)


def adaptive_limit(m: int, k: int, v: int, epsilon: float, delta: float) -> float:
    """Section 5."""
    return sum(binomial([tilted(0.5, epsilon)] * k)[v:]) + m * delta * (1 - tilted(0.5, epsilon))


def cases(
    keys: list[str], shapes: list[Any], game: Callable[..., Game], limit: Callable[..., float], exact: tuple = ()
) -> Iterator[dict[str, Any]]:
    """All counts of all shapes, below the specification's limit, or at it for each delta in `exact`."""
    for index, shape in enumerate(shapes):
        program = Program(game(*shape))
        for (i, epsilon), v in itertools.product(enumerate(EPSILONS), program.counts):
            delta = DELTAS[(index + i) % len(DELTAS)]  # three shapes in a row have all pairs
            inputs = dict(zip(keys, shape)) | {"correct": v, "epsilon": epsilon, "delta": delta}
            inputs.setdefault("guesses", shape[0])  # of lists: one for each record
            attained = program.largest(v, epsilon, delta)
            excess = attained - min(1.0, limit(*shape, v, epsilon, delta))
            assert excess <= TOLERANCE, (inputs, excess)
            assert delta not in exact or excess >= -TOLERANCE, (inputs, excess)
            yield {"inputs": inputs, "attained": round(min(attained, 1.0), 10)}


def mutants() -> Iterator[dict[str, Any]]:
    """Formulas that are exceeded; an output of the last is a map from each coin to a guess of the other."""
    maps = list(itertools.product(itertools.product((0, 1), repeat=2), repeat=2))
    both_ways = lambda x, output: (output[0][x[1]] == x[0]) + (output[1][x[0]] == x[1])
    crossed = replace(odds([0.5, 0.5], "in", 0), outputs=maps, hits=both_ways)
    budget = spread(binomial([tilted(2 / 4, 0.5)] * 2), 2, 2 * 0.02 / 2)
    dominance = sum(binomial([math.exp(0.3) / 4] * 2)[1:])
    keys = ("records", "values", "list_length", "canaries", "correct", "epsilon", "delta")
    for name, game, wrong, values in (
        ("lists_budget_m_delta", lists(False, 2, 4, 2), budget, (2, 4, 2, None, 2, 0.5, 0.02)),
        ("add_remove_binomial", lists(True, 2, 4, 1), dominance, (2, 4, 1, None, 1, 0.3, 0.0)),
        ("cross_fitting_both_ways", crossed, tilted(0.5, 1.0) ** 2, (None, None, None, 2, 2, 1.0, 0.0)),
    ):
        attained = Program(game).largest(*values[4:])
        assert attained > wrong + 0.001, (name, attained, wrong)
        inputs = {key: value for key, value in zip(keys, values) if value is not None} | {"guesses": 2}
        yield {"name": name, "inputs": inputs, "wrong_limit": round(wrong, 10), "attained": round(attained, 10)}


def check_symmetry() -> None:
    """Compares with programs over all datasets without orbits, and one forced guess with its closed form."""
    secrets = {d: (ABSENT not in d) / 9 for d in itertools.product((ABSENT, 0, 1, 2), repeat=2)}
    subsets = {frozenset(d): (k == 2) / 6 for k in range(5) for d in itertools.combinations(range(4), k)}
    coins = {d: 0.25 for d in itertools.product((0, 1), repeat=2)}
    games = [(lists(absent, 2, 3, j), secrets, absent) for absent in (False, True) for j in (1, 2)]
    games += [(split(sizes, 4, 2, 2), subsets, sizes) for sizes in (False, True)]
    games += [(adaptive(2, 2), coins, True)]
    for game, datasets, full in games:
        datasets = {d: weight for d, weight in datasets.items() if full or weight > 0}
        programs = Program(game), Program(replace(game, datasets=datasets, orbit=Game.orbit))
        for (epsilon, delta), v in itertools.product(((0.0, 0.02), (0.5, 0.0), (1.0, 0.02)), (1, 2)):
            values = [program.largest(v, epsilon, delta) for program in programs]
            assert abs(values[0] - values[1]) < TOLERANCE, (values, v, epsilon, delta)
    for values, j, epsilon in ((2, 1, 1.0), (3, 1, 0.5), (4, 1, 2.0), (4, 2, 0.5), (4, 3, 0.1)):
        closed = min(math.exp(epsilon) * j / values, 1 - math.exp(-epsilon) * (values - j) / values)
        assert abs(Program(lists(True, 1, values, j)).largest(1, epsilon, 0.0) - closed) < TOLERANCE


def main() -> None:
    """Checks, then writes values.json with one case a line."""
    check_symmetry()
    list_keys, split_keys = ["records", "values", "list_length"], ["rows", "side", "guesses"]
    secrets = [(m, s, j) for m in (1, 2) for s in (2, 3, 4, 5) for j in range(1, min(s, 4))]
    absent = [shape for shape in secrets if shape[1] < 5] + [(3, 2, 1), (3, 4, 1)]
    small = [(2, 1, 1), (3, 1, 2), (4, 2, 2), (4, 3, 2), (5, 2, 3), (5, 3, 2), (6, 2, 2), (6, 3, 3), (6, 4, 3)]
    large = [(2, 1, 1), (4, 2, 2), (6, 2, 3), (6, 4, 2), (8, 4, 3), (10, 2, 2), (12, 6, 3), (12, 9, 4)]
    priors = [([0.5, 0.5], "in", 1), ([0.2, 0.2], "in", 1), ([0.1, 0.4], "in", 1), ([0.1, 0.4], "in", 2)]
    priors += [([p, q], "both", k) for p, q, k in ((0.5, 0.5, 2), (0.2, 0.2, 1), (0.3, 0.8, 1), (0.3, 0.8, 2))]
    groups = {
        "lists_replace": cases(list_keys, secrets, partial(lists, False), lists_replace_limit, DELTAS),
        "lists_add_remove": cases(list_keys, absent, partial(lists, True), lists_add_remove_limit),
        "split_replace": cases(split_keys, small, partial(split, False), split_replace_limit, DELTAS),
        "split_add_remove": cases(split_keys, large, partial(split, True), split_add_remove_limit),
        "odds": cases(["inclusion", "guesses_side", "guesses"], priors, odds, odds_limit),
        "adaptive": cases(["canaries", "guesses"], [(2, 1), (2, 2), (3, 2), (3, 3)], adaptive, adaptive_limit, (0.0,)),
        "mutants": mutants(),
    }
    lines = [f'"header": {json.dumps({"source": SOURCE, "scipy": scipy.__version__})}']
    for name, group in groups.items():
        found = [json.dumps(each, separators=(",", ":")) for each in group]
        print(f"{name}: {len(found)} cases")
        lines.append(f'"{name}": [\n ' + ",\n ".join(found) + "\n]")
    Path(__file__).with_name("values.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
