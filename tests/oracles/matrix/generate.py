"""Writes matrix.json: sensitivities and errors of matrix mechanisms by jax_privacy and by dense numpy.

Python 3.11, jax-privacy==2.0.0, jax==0.10.2, dp-accounting==0.6.0, numpy==2.4.6, scipy==1.17.1; run by
`cargo xtask oracles matrix`.

jax_privacy's bound for a minimum separation counts columns that are closer than it, so that it can be
above ours. Its optimisers are local, as ours: neither error must be the least one. Values of cyclic
Poisson sampling are those of dp_accounting for the steps of a group.
"""

import json
import math
import pathlib

import dp_accounting
import jax
import jax.numpy as jnp
import numpy as np
from dp_accounting.pld import pld_privacy_accountant
from jax_privacy.matrix_factorization import buffered_toeplitz, sensitivity, toeplitz
from scipy.stats import norm

jax.config.update("jax_enable_x64", True)
HERE = pathlib.Path(__file__).parent
DELTA = 1e-5


def tree(n):
    """Row t adds the steps of the largest power of two that divides t."""
    rows = np.zeros((n, n))
    for t in range(1, n + 1):
        rows[t - 1, t - (t & -t) : t] = 1.0
    return rows


def gdp_epsilon(mu, delta):
    low, high = 0.0, mu * (mu / 2 + 40)
    for _ in range(200):
        mid = (low + high) / 2
        value = norm.sf(mid / mu - mu / 2) - math.exp(mid + norm.logsf(mid / mu + mu / 2))
        low, high = (mid, high) if value > delta else (low, mid)
    return high


def errors_of_coefficients(coefficients, n):
    squares = toeplitz.per_query_error(strategy_coef=jnp.array(coefficients), n=n)
    return float(jnp.sqrt(jnp.mean(squares))), float(jnp.sqrt(jnp.max(squares)))


def errors_of_matrix(matrix):
    squares = (np.tril(np.ones_like(matrix)) @ np.linalg.inv(matrix)) ** 2
    squares = squares.sum(axis=1)
    return float(np.sqrt(squares.mean())), float(np.sqrt(squares.max()))


def square_root(n):
    return np.array(toeplitz.optimal_max_error_strategy_coefs(n))


toeplitz_cases = {
    "identity": ([1.0], 60),
    "square root, 4 bands": ((square_root(4) / np.linalg.norm(square_root(4))).tolist(), 60),
    "square root, 25 bands": ((square_root(25) / np.linalg.norm(square_root(25))).tolist(), 60),
    "increasing": ([0.5, 0.8, 0.3], 60),
    "signs": ([1.0, -0.4, 0.2, -0.1], 60),
}
buffers = {"decays": [0.98, 0.7, 0.2], "output_scales": [0.08, 0.12, 0.25]}
blt = buffered_toeplitz.BufferedToeplitz.build(buffers["decays"], buffers["output_scales"])
toeplitz_cases["buffers"] = (np.array(blt.toeplitz_coefs(60)).tolist(), 60)

cases = []
for name, (coefficients, n) in toeplitz_cases.items():
    matrix = np.array(toeplitz.materialize_lower_triangular(jnp.array(coefficients), n))
    cases.append((name, {"coefficients": coefficients}, matrix))
cases.append(("tree", {"tree": True}, tree(60)))
rng = np.random.default_rng(5)
dense = np.tril(rng.random((20, 20))) + np.eye(20)
signed = np.tril(rng.normal(size=(20, 20)) * 0.3) + np.eye(20)
cases.append(("dense", {"matrix": dense.tolist()}, dense))
cases.append(("dense with signs", {"matrix": signed.tolist()}, signed))

strategies = []
for name, form, matrix in cases:
    n = len(matrix)
    C = jnp.array(matrix)
    epochs = {e: sensitivity.fixed_epoch_sensitivity(C, e) for e in [2, 4, 5]}
    separated = {
        f"{b},{k}": sensitivity.get_min_sep_sensitivity_upper_bound(C, b, k)
        for b, k in [(4, 2), (4, -(-n // 4)), (10, -(-n // 10)), (1, 3)]
    }
    coefficients = form.get("coefficients")
    exact = {}
    if coefficients and min(coefficients) >= 0 and name != "increasing":
        for key in separated:
            b, k = map(int, key.split(","))
            square = toeplitz.minsep_sensitivity_squared(jnp.array(coefficients), b, k, n)
            exact[key] = math.sqrt(float(square))
    mean, largest = (
        errors_of_coefficients(coefficients, n) if coefficients else errors_of_matrix(matrix)
    )
    single = float(sensitivity.single_participation_sensitivity(C))
    strategies.append(
        {
            "name": name,
            "steps": n,
            **form,
            "single": single,
            "epochs": epochs,
            "separated_bound": separated,
            "separated_exact": exact,
            "mean_error": mean,
            "largest_error": largest,
            "epsilon": {"noise_multiplier": 2.0, "delta": DELTA, "value": gdp_epsilon(single / 2, DELTA)},
        }
    )

optimised = []
for n, bands, reduction in [(64, 4, "mean"), (64, 16, "mean"), (64, 16, "max"), (500, 24, "mean"), (500, 8, "max")]:
    fn = jnp.mean if reduction == "mean" else jnp.max
    coefficients = toeplitz.optimize_banded_toeplitz(n, bands, reduction_fn=fn, max_optimizer_steps=1000)
    loss = float(toeplitz.loss(coefficients, n, fn))
    optimised.append({"steps": n, "bands": bands, "objective": reduction, "cost": math.sqrt(loss)})
for n, b, k, error, count in [(128, 128, 1, "max", 2), (128, 128, 1, "mean", 3), (512, 64, 8, "mean", 3), (1000, 100, 10, "max", 2)]:
    found = buffered_toeplitz.optimize(n=n, min_sep=b, max_participations=k, error=error, min_buffers=count, max_buffers=count)
    loss = buffered_toeplitz.LossFn.build_min_sep(n=n, error=error, min_sep=b, max_participations=k).loss(found)
    optimised.append(
        {"steps": n, "buffers": count, "separation": b, "participations": k, "objective": error, "cost": math.sqrt(float(loss))}
    )

sampled = []
for steps, groups, rate, sigma in [(100, 5, 0.1, 1.0), (203, 10, 0.02, 0.8), (64, 64, 0.5, 1.2)]:
    event = dp_accounting.SelfComposedDpEvent(
        dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(sigma)), -(-steps // groups)
    )
    accountant = pld_privacy_accountant.PLDAccountant(value_discretization_interval=1e-4)
    accountant.compose(event)
    sampled.append(
        {"steps": steps, "groups": groups, "rate": rate, "noise_multiplier": sigma, "delta": DELTA, "epsilon": accountant.get_epsilon(DELTA)}
    )

data = {"buffers": {**buffers, "steps": 60}, "strategies": strategies, "optimised": optimised, "sampled": sampled}
(HERE / "matrix.json").write_text(json.dumps(data, indent=1) + "\n")
