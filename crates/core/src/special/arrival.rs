//! Arrival times of a Poisson process of rate 1: the gamma distribution with an integer shape.

use crate::math;
use crate::special::gamma::{deviance, stirling_series};
use crate::special::normal;

/// ln P\[N = n\] of a Poisson distribution; n may lie between integers.
pub(crate) fn ln_poisson_pmf(n: f64, mean: f64) -> f64 {
    if n == 0.0 {
        return -mean;
    }
    let ratio = mean / n;
    -n * deviance((mean - n) / n, ratio)
        - 0.5 * math::ln(n)
        - math::LN_SQRT_2PI
        - stirling_series(n)
}

/// P\[N ≥ n\]/P\[N = n\] = 1 + t/(n + 1) + t²/((n + 1)(n + 2)) + …
fn series(n: f64, time: f64) -> f64 {
    let (mut term, mut sum, mut next) = (1.0, 1.0, n + 1.0);
    while term > 1e-17 * sum {
        term *= time / next;
        sum += term;
        next += 1.0;
    }
    sum
}

/// P\[N ≥ n\] of a Poisson distribution, n ≥ 1.
pub(crate) fn probability_of_arrivals(n: f64, mean: f64) -> f64 {
    if mean <= 0.0 {
        return 0.0;
    }
    // beyond, 1 in f64, and the series would overflow
    if mean > n + 12.0 * n.sqrt() + 60.0 {
        return 1.0;
    }
    math::exp(ln_poisson_pmf(n, mean) + math::ln(series(n, mean))).min(1.0)
}

/// The time before which the n-th arrival comes with `probability`.
///
/// Newton's method on ln P over ln t, which is concave: from the first step on the iterates rise to
/// the root. Relative error about 1e-14.
pub(crate) fn arrival_quantile(n: f64, probability: f64) -> f64 {
    let ln_target = math::ln(probability);
    // Wilson and Hilferty, and t^n/n! for small probabilities
    let spread = 1.0 / (9.0 * n);
    let root = 1.0 - spread + normal::quantile(probability) * spread.sqrt();
    let power = math::exp((ln_target + math::lgamma(n + 1.0)) / n);
    let mut time = if root > 0.3 { n * root * root * root } else { power };
    for _ in 0..60 {
        let sum = series(n, time);
        let excess = ln_poisson_pmf(n, time) + math::ln(sum) - ln_target;
        let step = -excess * sum / n;
        time *= math::exp(step);
        if step.abs() < 1e-14 {
            break;
        }
    }
    time
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_undo_probabilities() {
        for n in [1.0, 2.0, 7.0, 100.0, 65_536.0] {
            for probability in [1e-200, 1e-12, 0.004, 0.05, 0.5, 0.97] {
                let time = arrival_quantile(n, probability);
                let back = probability_of_arrivals(n, time);
                assert!((back / probability - 1.0).abs() < 1e-10, "{n} {probability}: {back}");
            }
        }
        let first = arrival_quantile(1.0, 0.05);
        assert!((first + math::ln_1p(-0.05)).abs() < 1e-15, "{first}");
    }
}
