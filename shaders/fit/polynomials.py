"""Fits the polynomials of src/bgm/math.rs and src/random/normal.rs; prints Rust constants and
fails where those files hold others.

Weighted minimax by Lawson's iteration (reweighted least squares at 4000 Chebyshev nodes, Chebyshev
basis, float64), coefficients then rounded to float32. Python 3.11, numpy==2.4.6.

Achieved (largest error of the rounded polynomial in exact arithmetic, over 200,001 points; the
errors in float32 arithmetic are pinned by the tests of the Rust files):
  -2 ln(1+f)/f, relative: 1.1e-06
  ln(1+f) = f + f^2 P(f), relative: 3.5e-08
  2^f = 1 + f P(f), relative: 1.1e-07
  sin(pi/2 a) = a P(a^2), absolute: 4.9e-08
  cos(pi/2 a) = P(a^2), absolute: 8.3e-08
"""

import pathlib
import sys

import numpy as np
from numpy.polynomial import chebyshev as ch
from numpy.polynomial import polynomial as po

LOW, HIGH = np.sqrt(0.5) - 1, np.sqrt(2) - 1


def fit(function, weight, low, high, degree, nodes=4000, rounds=600):
    """Coefficients (constant first) of the polynomial with the least largest weighted error."""
    s = np.cos(np.pi * (np.arange(nodes) + 0.5) / nodes)
    t = (low + high) / 2 + (high - low) / 2 * s
    y, w = function(t), weight(t)
    basis = ch.chebvander(s, degree)
    share = np.full(nodes, 1 / nodes)
    best = (np.inf, None)
    for _ in range(rounds):
        root = np.sqrt(share) * w
        c = np.linalg.lstsq(basis * root[:, None], y * root, rcond=None)[0]
        error = np.abs((basis @ c - y) * w)
        if error.max() < best[0]:
            best = (error.max(), c)
        share = share * (error / error.max()) + 1e-12
        share /= share.sum()
    return ch.Chebyshev(best[1], domain=[low, high]).convert(kind=po.Polynomial).coef


def series(exact, near, at=1e-3):
    """`exact` away from 0, its Taylor polynomial `near` where |t| < `at`."""

    def f(t):
        safe = np.where(np.abs(t) < at, 1.0, t)
        return np.where(np.abs(t) < at, po.polyval(t, near), exact(safe))

    return f


K = np.log(2.0)
H = np.pi / 2
RADIUS = series(lambda f: -2 * np.log1p(f) / f, [-2, 1, -2 / 3, 1 / 2, -2 / 5, 1 / 3])
LN = series(lambda f: (np.log1p(f) - f) / f**2, [-1 / 2, 1 / 3, -1 / 4, 1 / 5, -1 / 6, 1 / 7], 1e-2)
EXP2 = series(lambda f: np.expm1(f * K) / f, [K, K**2 / 2, K**3 / 6, K**4 / 24])
SIN = series(lambda t: np.sin(H * np.sqrt(np.abs(t))) / np.sqrt(np.abs(t)), [H, -(H**3) / 6, H**5 / 120])
COS = lambda t: np.cos(H * np.sqrt(np.abs(t)))

JOBS = [
    # name, what is fitted, weight (error that is minimised), range, degree
    ("RADIUS", "-2 ln(1+f)/f, relative", RADIUS, lambda f: 1 / np.abs(RADIUS(f)), LOW, HIGH, 6),
    ("LN", "ln(1+f) = f + f^2 P(f), relative", LN,
     lambda f: np.abs(f) / (1 + f * LN(f)), LOW, HIGH, 7),
    ("EXP2", "2^f = 1 + f P(f), relative", EXP2, lambda f: np.abs(f) / np.exp2(f), -0.5, 0.5, 4),
    ("SIN", "sin(pi/2 a) = a P(a^2), absolute", SIN, lambda t: np.sqrt(np.abs(t)), 0.0, 1.0, 4),
    ("COS", "cos(pi/2 a) = P(a^2), absolute", COS, lambda t: np.ones_like(t), 0.0, 1.0, 4),
]


def source():
    """The Rust files that hold the constants, without white space."""
    crate = pathlib.Path(__file__).parent.parent
    files = [crate / "src/bgm/math.rs", crate / "src/random/normal.rs"]
    text = "".join(file.read_text(encoding="utf-8") for file in files)
    return "".join(text.split()).replace(",]", "]")


def main():
    held, others = source(), []
    for name, text, function, weight, low, high, degree in JOBS:
        rounded = fit(function, weight, low, high, degree).astype(np.float32)
        t = np.linspace(low, high, 200_001)
        error = np.abs((po.polyval(t, rounded.astype(float)) - function(t)) * weight(t)).max()
        print(f"// {text}: {error:.1e}")
        values = ", ".join(np.format_float_positional(c, unique=True) for c in rounded)
        constant = f"const {name}: [f32; {degree + 1}] = [{values}];"
        print(constant)
        if constant.replace(" ", "") not in held:
            others.append(name)
    if others:
        sys.exit(f"the source holds other constants: {', '.join(others)}")


if __name__ == "__main__":
    main()
