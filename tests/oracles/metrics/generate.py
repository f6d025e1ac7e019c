"""Writes metrics.csv: AUC and true positive rates with limits by scipy, bounds at one threshold by
jax-privacy.

Python 3.11, jax-privacy==2.0.0, numpy==2.4.6, scipy==1.17.1; run by `cargo xtask oracles metrics`. Scores
are those of ../data/scores. Limits of the true positive rate: order statistics of D' by the beta
quantile function of scipy, counts of D by its binomial test. The AUC is the U statistic of Mann and Whitney: jax-privacy's is that
of the concave hull, which is larger.
"""

import pathlib

import numpy as np
import scipy.stats
from jax_privacy import auditing

SIGNIFICANCE = 0.05
TAIL = SIGNIFICANCE / 4
HERE = pathlib.Path(__file__).parent


def limits(target, zero_out, fpr):
    n, m = len(target), len(zero_out)
    ascending = np.sort(zero_out)
    ranks = np.arange(m)
    # the (k + 1)-th largest score of D' has k above it; its rate is Beta(k + 1, m - k)
    below = ranks[scipy.stats.beta.ppf(1 - TAIL, ranks + 1, m - ranks) <= fpr]
    above = ranks[scipy.stats.beta.ppf(TAIL, ranks + 1, m - ranks) >= fpr]
    lower, upper = 0.0, 1.0
    interval = lambda events: scipy.stats.binomtest(int(events), n).proportion_ci(1 - 2 * TAIL)
    if len(below):
        lower = interval(np.sum(target > ascending[m - 1 - below[-1]])).low
    if len(above):
        # the next score of D' below the (k + 1)-th largest
        reached = ascending[ascending < ascending[m - 1 - above[0]]]
        upper = interval(np.sum(target > (reached[-1] if len(reached) else -np.inf))).high
    return lower, upper


rows = ["scores,quantity,at,value,lower,upper"]
for path in sorted(HERE.glob("../data/scores/*_in.npy")):
    name = path.name.removesuffix("_in.npy")
    target, zero_out = np.load(path), np.load(path.with_name(f"{name}_out.npy"))
    auditor = auditing.CanaryScoreAuditor(target, zero_out)
    pairs = len(target) * len(zero_out)
    auc = scipy.stats.mannwhitneyu(target, zero_out, method="asymptotic").statistic / pairs
    rows.append(f"{name},auc,,{float(auc)!r},,")
    for fpr in (0.001, 0.01, 0.1):
        threshold = np.sort(zero_out)[::-1][int(np.floor(fpr * len(zero_out)))]
        value = float(np.mean(target > threshold))
        lower, upper = limits(target, zero_out, fpr)
        rows.append(f"{name},tpr,{fpr},{value!r},{float(lower)!r},{float(upper)!r}")
    threshold = float(np.median(np.concatenate([target, zero_out])))
    for delta in (0.0, 1e-5, 0.05):
        # jax-privacy decides for the target from the threshold on, we above it
        explicit = auditing.Explicit(np.nextafter(threshold, np.inf))
        bound = auditor.epsilon_clopper_pearson(
            SIGNIFICANCE, delta, one_sided=False, threshold_strategy=explicit
        )
        rows.append(f"{name},epsilon,{delta!r},{float(bound)!r},{threshold!r},")
(HERE / "metrics.csv").write_text("\n".join(rows) + "\n")
