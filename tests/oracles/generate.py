"""Independent oracle values at points that the golden files do not have.

Python 3.11, mpmath==1.3.0 (the only package); run by `cargo xtask oracles tests/oracles`.
Writes data/clopper_pearson_independent.csv, data/jeffreys_independent.csv,
data/gdp_independent.csv, data/bayesian_independent.csv, data/bayesian_correction.csv and
data/eps_emp_correction.csv, the same bytes on every run. About ten minutes.

Method, at 60 digits, none of it shared with the Rust code:
* beta tails: mpmath's hypergeometric betainc while the smaller shape is below 300, else
  tanh-sinh quadrature of the density over standard deviations;
* roots: bisection in the logit to 1e-30 after the secant method has made a bracket;
* GDP: the two normal tails at 400 digits, subtracted;
* joint beta: two nested tanh-sinh quadratures for small counts.
"""

import random

import mpmath as mp

mp.mp.dps = 60


def beta_lower_tail(a, b, x):
    """P[X <= x] for Beta(a, b), from its own side."""
    if min(a, b) < 300:
        value = mp.betainc(a, b, 0, x, regularized=True)
        return value if value < 0.5 else 1 - beta_upper_series(a, b, x)
    ln_norm = mp.loggamma(a + b) - mp.loggamma(a) - mp.loggamma(b)
    spread = mp.sqrt(x * (1 - x) / (a + b))
    density = lambda t: mp.exp(ln_norm + (a - 1) * mp.log(t) + (b - 1) * mp.log1p(-t))
    nodes = [x - spread * step for step in (0, 1, 3, 6, 10, 14, 18)]
    nodes = [node for node in nodes if node > 0]
    return mp.quad(density, sorted(nodes))


def beta_upper_series(a, b, x):
    with mp.workdps(90):
        return 1 - mp.betainc(a, b, 0, x, regularized=True)


def beta_upper_tail(a, b, x):
    if min(a, b) < 300:
        return beta_upper_series(a, b, x)
    return beta_lower_tail(b, a, 1 - x)


def root(a, b, tail, upper):
    """(x, 1 - x) where the tail of Beta(a, b) has the given mass."""
    a, b, tail = mp.mpf(a), mp.mpf(b), mp.mpf(tail)
    if a > b:
        x, complement = root(b, a, tail, not upper)
        return complement, x
    point = lambda u: mp.exp(u) / (1 + mp.exp(u))
    measure = beta_upper_tail if upper else beta_lower_tail
    excess = lambda u: mp.log(measure(a, b, point(u)) / tail)
    u = mp.log(a / b)
    spread = 1 / mp.sqrt(a)
    step = spread if upper else -spread
    near, far = u - step / 2, u + step
    while excess(far) > 0:
        near, far = far, far + step
        step *= mp.mpf("1.5")
    f_near, f_far = excess(near), excess(far)
    assert f_near > 0 > f_far
    # Illinois, then a bisection step whenever the bracket is not yet closed on both sides
    while abs(far - near) > mp.mpf(10) ** -30 * max(1, abs(near)):
        guess = (near * f_far - far * f_near) / (f_far - f_near)
        width = abs(far - near)
        for trial in (guess - mp.mpf(10) ** -31, guess + mp.mpf(10) ** -31, (near + far) / 2):
            if not min(near, far) < trial < max(near, far):
                continue
            value = excess(trial)
            if value > 0:
                near, f_near = trial, value
            else:
                far, f_far = trial, value
            if abs(far - near) < width / 4:
                break
    x = point((near + far) / 2)
    return x, 1 - x


def text(value):
    return mp.nstr(value, 18, min_fixed=0, max_fixed=0)


def points(draw, count):
    for _ in range(count):
        trials = int(10 ** draw.uniform(0.5, 10))
        trials = max(3, trials)
        kind = draw.random()
        if kind < 0.45:
            events = min(trials, int(10 ** draw.uniform(0, 3.5)))
        elif kind < 0.6:
            events = max(0, trials - int(10 ** draw.uniform(0, 3)))
        else:
            events = int(trials * draw.random())
        tail = float(f"{10 ** draw.uniform(-12, -0.4):.3g}")
        yield trials, events, tail


def write_intervals(path, draw, count, shift_upper, shift_lower):
    with open(path, "w", newline="\n") as out:
        out.write("trials,events,tail,upper,lower\n")
        for trials, events, tail in points(draw, count):
            upper = mp.mpf(1)
            if events + shift_upper > 0 and trials - events + 1 - shift_upper > 0:
                upper = root(events + shift_upper, trials - events + 1 - shift_upper, tail, True)[0]
            lower = mp.mpf(0)
            if events + shift_lower > 0:
                lower = root(events + shift_lower, trials - events + 1 - shift_lower, tail, False)[0]
            out.write(f"{trials},{events},{tail!r},{text(upper)},{text(lower)}\n")


def gdp_delta(mu, epsilon):
    with mp.workdps(400):
        mu, epsilon = mp.mpf(mu), mp.mpf(epsilon)
        tail = lambda t: mp.erfc(t / mp.sqrt(2)) / 2
        return +(tail(epsilon / mu - mu / 2) - mp.exp(epsilon) * tail(epsilon / mu + mu / 2))


def write_gdp(path):
    with open(path, "w", newline="\n") as out:
        out.write("gdp_mu,epsilon,delta\n")
        for mu in (1e-6, 1e-3, 0.03, 0.3, 1.0, 2.5, 7.0, 20.0, 60.0):
            for reach in (0.0, 1e-6, 0.1, 0.9, 1.7, 3.3, 6.0, 12.0, 30.0):
                epsilon = float(f"{mu * (reach + mu / 2 * min(reach, 1.0)):.4g}")
                out.write(f"{mu!r},{epsilon!r},{text(gdp_delta(mu, epsilon))}\n")


def joint_beta(counts, delta, epsilon):
    """Posterior mass of the (epsilon, delta) region, by nested quadrature at 25 digits."""
    with mp.workdps(25):
        misses, hits, alarms, rejections = (mp.mpf(c) + mp.mpf(1) / 2 for c in counts)
        e, d = mp.exp(mp.mpf(epsilon)), mp.mpf(delta)
        edge = lambda x: max(mp.mpf(0), 1 - d - e * x, (1 - d - x) / e)
        inner = lambda x: mp.betainc(
            alarms, rejections, edge(x), 1 - edge(1 - x), regularized=True
        )
        ln_norm = mp.loggamma(misses + hits) - mp.loggamma(misses) - mp.loggamma(hits)
        # x = sin^2(t) removes the square-root ends
        def outer(t):
            s, c = mp.sin(t) ** 2, mp.cos(t) ** 2
            return 2 * mp.exp(ln_norm) * s ** (misses - mp.mpf(1) / 2) * c ** (hits - mp.mpf(1) / 2) * inner(s)
        angle = lambda x: mp.asin(mp.sqrt(min(max(x, mp.mpf(0)), mp.mpf(1))))
        kink = (1 - d) / (1 + e)
        nodes = {mp.mpf(0), mp.pi / 2, angle(kink), angle(1 - kink), angle(d), angle(1 - d)}
        nodes |= {mp.pi / 2 * k / 12 for k in range(1, 12)}
        return mp.quad(outer, sorted(nodes))


def write_bayesian(path):
    cases = [((2, 8, 1, 9), 0.0), ((0, 6, 0, 5), 1e-3), ((5, 5, 7, 3), 0.05), ((1, 30, 3, 12), 1e-5)]
    with open(path, "w", newline="\n") as out:
        out.write("false_negatives,true_positives,false_positives,true_negatives,delta,epsilon,probability\n")
        for counts, delta in cases:
            for epsilon in (0.0, 0.25, 1.5, 4.0):
                value = joint_beta(counts, delta, epsilon) if delta or epsilon else mp.mpf(0)
                row = ",".join(str(c) for c in counts)
                out.write(f"{row},{delta!r},{epsilon!r},{mp.nstr(value, 14, min_fixed=0, max_fixed=0)}\n")


def epsilon_without_events(trials, outside, near_by):
    """Epsilon with this posterior mass below the lower edge, with no event in either world, at 30 digits.

    The mass is taken over s = sqrt(FNR).
    """
    with mp.workdps(30):
        a, b, d, mass = mp.mpf("0.5"), trials + mp.mpf("0.5"), mp.mpf("1e-5"), mp.mpf(outside)

        def below(epsilon):
            e = mp.exp(epsilon)
            kink = (1 - d) / (1 + e)
            edge = lambda x: max(1 - d - e * x, (1 - d - x) / e)
            outer = lambda s: 2 * (1 - s * s) ** (b - 1) / mp.beta(a, b) * mp.re(
                mp.betainc(a, b, 0, edge(s * s), regularized=True)
            )
            near = [kink * (1 - mp.mpf(10) ** (-mp.mpf(j) / 2)) for j in range(40)] + [kink]
            far = [kink] + [mp.mpf(10) ** -j for j in (4, 3, 2, 1) if mp.mpf(10) ** -j > kink] + [1 - d]
            root_of = lambda xs: [mp.sqrt(x) for x in xs]
            return mp.quad(outer, root_of(near)) + mp.quad(outer, root_of(far))

        start = tuple(mp.mpf(end) for end in near_by)
        return mp.nstr(mp.findroot(lambda t: below(t) - mass, start, tol=1e-20), 13)


def write_corrections():
    """Golden values that are off by 2e-6, again."""
    upper = epsilon_without_events(100, "0.05", ("12.19606", "12.19607"))
    with open("data/bayesian_correction.csv", "w", newline="\n") as out:
        out.write(f"case,upper\nf_bayesian_joint_beta-11,{upper}\n")
    lower = epsilon_without_events(1000, "0.95", ("7.20720", "7.20722"))
    with open("data/eps_emp_correction.csv", "w", newline="\n") as out:
        out.write(f"row,lower\n9,{lower}\n")


if __name__ == "__main__":
    write_corrections()
    write_gdp("data/gdp_independent.csv")
    write_bayesian("data/bayesian_independent.csv")
    half = mp.mpf(1) / 2
    write_intervals("data/clopper_pearson_independent.csv", random.Random(20261121), 400, 1, 0)
    write_intervals("data/jeffreys_independent.csv", random.Random(1946), 150, half, half)
