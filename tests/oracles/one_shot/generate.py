"""Levels of simultaneous limits by iterated integrals and in longer arithmetic.

Python 3.11, mpmath==1.4.1, numpy==2.4.6 and scipy==1.17.1; run by
`cargo xtask oracles tests/oracles/one_shot`. Writes bands.csv, the same bytes on every run. About ten
minutes.

* up to 60 points, the probability of no crossing is the iterated integral of the joint density of order
  statistics, a polynomial, in 120 digits;
* above, a recursion over counts with 64 bits of mantissa, whose increments are normalised to sum to 1.
"""
import math
import pathlib

import mpmath as mp
import numpy as np
from scipy import optimize, special

mp.mp.dps = 120
LONG = np.longdouble


def geometric(largest):
    ranks = [math.floor(2 ** (i / 2) + 0.5) for i in range(64)]
    return sorted({rank for rank in ranks if rank <= largest})


def ranks_of(kind, size):
    if kind == "arrivals":
        return geometric(min(size, 65_536))
    if size <= 4_096:
        return list(range(1, size + 1))
    low = geometric(min(size / 2, 8_192))
    return low + [size + 1 - rank for rank in reversed(low)]


def limits_of(kind, size, ranks, level):
    if kind == "arrivals":
        return [float(special.gammaincinv(rank, level)) for rank in ranks]
    return [float(special.betaincinv(rank, size + 1 - rank, level)) for rank in ranks]


def by_polynomials(kind, size, ranks, limits):
    last = ranks[-1] if kind == "arrivals" else size
    own, every, now = dict(zip(ranks, limits)), [], 0.0
    for rank in range(1, last + 1):
        now = own.get(rank, now)
        every.append(mp.mpf(now))
    density = [mp.mpf(1)]
    for place, limit in enumerate(every):
        if kind == "arrivals" and place + 1 == last:
            break
        density = [mp.mpf(0)] + [c / (n + 1) for n, c in enumerate(density)]
        density[0] -= mp.polyval(density[::-1], limit)
    if kind == "arrivals":
        return 1 - sum(c * mp.gammainc(n + 1, every[-1]) for n, c in enumerate(density))
    return 1 - mp.factorial(size) * sum(density)


def increments(time):
    mode = int(time)
    spread = int(14 * math.sqrt(time) + 60)
    first = max(0, mode - spread)
    counts = np.arange(first, mode + spread + 1)
    pmf = np.ones(len(counts), dtype=LONG)
    at = mode - first
    for n in range(at + 1, len(counts)):
        pmf[n] = pmf[n - 1] * LONG(time) / LONG(int(counts[n]))
    for n in range(at - 1, -1, -1):
        pmf[n] = pmf[n + 1] * LONG(int(counts[n + 1])) / LONG(time)
    return first, pmf / pmf.sum()


def by_recursion(kind, size, ranks, limits):
    scale = 1.0 if kind == "arrivals" else float(size)
    first, mass, now = 0, np.ones(1, dtype=LONG), 0.0
    for rank, limit in zip(ranks, limits):
        time = scale * limit
        start, pmf = increments(time - now)
        now = time
        mass = np.convolve(mass, pmf)
        first += start
        mass = mass[: max(0, rank - first)]
        keep = np.flatnonzero(mass > LONG(1e-30))
        first, mass = first + int(keep[0]), mass[keep[0] : keep[-1] + 1]
    if kind == "arrivals":
        return 1 - mass.sum()
    left, ln_all = mp.mpf(scale - now), size * mp.log(size) - size - mp.loggamma(size + 1)
    total = LONG(0)
    for n, m in zip(range(first, size + 1), mass):
        ln = (size - n) * mp.log(left) - left - mp.loggamma(size - n + 1) - ln_all
        total += m * LONG(mp.nstr(mp.e**ln, 25))
    return 1 - total


def level_of(kind, size, significance):
    ranks = ranks_of(kind, size)
    if len(ranks) == 1:
        return significance
    few = size <= 60
    mp.mp.dps = 120 if few else 40
    crossing = by_polynomials if few else by_recursion

    def excess(ln_level):
        limits = limits_of(kind, size, ranks, math.exp(ln_level))
        number = mp.mpf if few else LONG
        return float(crossing(kind, size, ranks, limits) / number(significance) - 1)

    ends = math.log(significance / len(ranks)), math.log(significance)
    return math.exp(optimize.brentq(excess, *ends, xtol=1e-12, rtol=1e-14))


def main():
    rows = []
    for kind in ["arrivals", "uniforms"]:
        for size in [1, 2, 7, 40, 60, 1_000, 4_097, 1_000_000]:
            few = [1e-12, 1e-8, 1e-5, 0.003, 0.05, 0.5]
            # smaller ones are beyond the longer arithmetic
            many = few[2:] if size < 10_000 else [1e-5]
            for significance in few if size <= 60 else many:
                level = level_of(kind, size, significance)
                rows.append(f"{kind},{size},{significance!r},{level:.15g}")
    text = "kind,size,significance,level\n" + "\n".join(rows) + "\n"
    pathlib.Path(__file__).with_name("bands.csv").write_text(text)


main()
