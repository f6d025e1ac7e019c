//! ε from limits of the two error rates.

use crate::adjacency::Direction;
use crate::math::ln;

/// Error rates at a threshold, predicted without the evaluated scores.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExpectedRates {
    /// False positive rate, in [0, 1].
    pub fpr: f64,
    /// False negative rate, in [0, 1].
    pub fnr: f64,
}

/// ε and the direction of the inequality behind it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EpsilonFromRates {
    /// Nats, ≥ 0; 0 without evidence.
    pub epsilon: f64,
    /// Remove if the event is "score above τ", whose probability in D′ is the FPR.
    pub direction: Direction,
}

/// The smallest ε for which an (ε, δ)-indistinguishable pair permits a test with these error rates.
///
/// ε = max{ ln((1 − FNR − δ)/FPR), ln((1 − FPR − δ)/FNR), 0 }
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `fpr_upper` | upper limit of the false positive rate | [0, 1] |
/// | `fnr_upper` | upper limit of the false negative rate | [0, 1] |
/// | `delta` | δ | [0, 1) |
///
/// A term whose logarithm is undefined counts as 0, and so does NaN.
///
/// # Guarantee
/// Decreasing in both rates and in δ, so upper limits of the rates yield a lower limit of ε
/// (`unit::decreases_in_every_argument`).
///
/// # Numerics
/// Rounded down: the result is at most the exact value, by no more than 1e-15·(1 + ε) + 5e-16/(1 −
/// rate − δ).
///
/// # Reference
/// Kairouz, Oh, Viswanath 2015 (arXiv 1311.0776v4), Theorem 2.1.
///
/// # Example
/// ```
/// let found = dpscope_core::audit::bound::epsilon_from_rates(0.01, 0.5, 1e-5);
/// assert_eq!(format!("{:.4}", found.epsilon), "3.9120");
/// ```
#[must_use]
pub fn epsilon_from_rates(fpr_upper: f64, fnr_upper: f64, delta: f64) -> EpsilonFromRates {
    let remove = log_ratio(fnr_upper, fpr_upper, delta);
    let add = log_ratio(fpr_upper, fnr_upper, delta);
    let direction = if add > remove { Direction::Add } else { Direction::Remove };
    EpsilonFromRates { epsilon: remove.max(add).max(0.0), direction }
}

/// ln((1 − miss − δ)/hit), rounded down; 0 where it is undefined.
pub(super) fn log_ratio(miss: f64, hit: f64, delta: f64) -> f64 {
    // 1 − miss is exact from ½ on, and off by at most ε/2 below.
    let inexact = if miss < 0.5 { f64::EPSILON } else { 0.0 };
    let numerator = ((1.0 - miss) - delta) - inexact;
    // Two more roundings of half an ulp in the ratio, one ulp in ln.
    let value = ln(numerator / hit);
    let rounding = 3.0 * f64::EPSILON + 2.0 * f64::EPSILON * value.abs();
    if numerator > 0.0 && hit >= 0.0 { value - rounding } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn epsilon_is_the_larger_direction_and_not_negative() {
        let remove = epsilon_from_rates(0.001, 0.9, 0.0);
        assert_eq!(remove.direction, Direction::Remove);
        assert!((remove.epsilon - crate::math::ln(100.0)).abs() < 1e-14);
        let add = epsilon_from_rates(0.9, 0.001, 0.0);
        assert_eq!((add.direction, add.epsilon), (Direction::Add, remove.epsilon));
        assert_eq!(epsilon_from_rates(0.6, 0.6, 0.0).epsilon, 0.0);
    }

    #[test]
    fn rates_without_evidence_yield_zero() {
        for (fpr, fnr, delta) in
            [(1.0, 1.0, 0.0), (0.5, 1.0, 1e-5), (f64::NAN, 0.1, 0.0), (0.1, f64::NAN, 0.0)]
        {
            let found = epsilon_from_rates(fpr, fnr, delta).epsilon;
            assert!(found == 0.0, "{fpr} {fnr} {delta}: {found}");
        }
    }

    #[test]
    fn cancellation_never_rounds_up() {
        // 1 − FNR − δ is 3.5e-13 here; the value at 60 digits, from mpmath.
        let (fpr, fnr, delta) = (1e-13, 0.399_999_999_999_648_25, 0.6);
        let found = epsilon_from_rates(fpr, fnr, delta).epsilon;
        let exact = 1.257_819_208_009_064;
        assert!(found <= exact && found > exact - 2e-3, "{found}");
    }

    #[test]
    fn decreases_in_every_argument() {
        let grid = [1e-9, 1e-4, 0.01, 0.2, 0.5, 0.7, 1.0];
        for &fpr in &grid {
            for &fnr in &grid {
                let here = epsilon_from_rates(fpr, fnr, 1e-5).epsilon;
                assert!(epsilon_from_rates(fpr * 1.01, fnr, 1e-5).epsilon <= here);
                assert!(epsilon_from_rates(fpr, fnr * 1.01, 1e-5).epsilon <= here);
                assert!(epsilon_from_rates(fpr, fnr, 1e-3).epsilon <= here);
            }
        }
    }
}
