//! Limits for data sets that are two steps apart.

use crate::math;

/// The (ε, δ) of data sets that are two steps apart: (2ε, (1 + e^ε)δ).
pub(super) fn of_two_steps(epsilon: f64, delta: f64) -> (f64, f64) {
    (2.0 * epsilon, (1.0 + math::exp(epsilon)) * delta)
}

/// A limit P\[…\] ≤ `limit`(ε, δ) for one step, at two steps; 1 where their δ says nothing.
pub(super) fn limit_of_two_steps(
    epsilon: f64,
    delta: f64,
    limit: impl FnOnce(f64, f64) -> f64,
) -> f64 {
    let (epsilon, delta) = of_two_steps(epsilon, delta);
    if delta < 1.0 { limit(epsilon, delta) } else { 1.0 }
}
