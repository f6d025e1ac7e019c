//! Null probabilities of the seen canaries.

use super::{OneShotError, check_cut};
use crate::math;
use crate::special::normal;

/// The probability p of each seen canary that an unseen one scores as high, in logarithms.
///
/// All bounds start from these. p may be exact, as for cosines of uniform directions, or an upper limit
/// from scores of fresh draws that holds with probability 1 − α₁ for all canaries together: then pass
/// the bounds a significance of α − α₁. A p that is too large keeps every bound valid. A canary without
/// a score has ln p = 0.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NullTails {
    ascending: Vec<f64>,
}

/// Smaller probabilities are rounded up to e^−1e6, so that no score makes a bound infinite.
pub(super) const LEAST_LN_P: f64 = -1e6;

impl NullTails {
    /// ln p of each seen canary, in any order.
    ///
    /// # Errors
    /// [`OneShotError::LnP`] for a positive number or NaN.
    pub fn new(ln_p: Vec<f64>) -> Result<Self, OneShotError> {
        if let Some(index) = ln_p.iter().position(|ln_p| !(*ln_p <= 0.0)) {
            return Err(OneShotError::LnP { index, ln_p: ln_p[index] });
        }
        let mut ascending = ln_p;
        ascending.iter_mut().for_each(|ln_p| *ln_p = ln_p.max(LEAST_LN_P));
        ascending.sort_unstable_by(f64::total_cmp);
        Ok(Self { ascending })
    }

    /// From p in (0, 1].
    pub(super) fn of_probabilities(p: impl Iterator<Item = f64>) -> Self {
        let mut ascending: Vec<f64> = p.map(|p| math::ln(p).clamp(LEAST_LN_P, 0.0)).collect();
        ascending.sort_unstable_by(f64::total_cmp);
        Self { ascending }
    }

    /// ln p, the smallest first.
    #[must_use]
    pub fn ln_p(&self) -> &[f64] {
        &self.ascending
    }

    /// Number of canaries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ascending.len()
    }

    /// Whether no canary was seen.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ascending.is_empty()
    }

    /// Number of canaries with p ≤ `p_cut`.
    ///
    /// # Errors
    /// [`OneShotError::Cut`].
    pub fn hits(&self, p_cut: f64) -> Result<u64, OneShotError> {
        check_cut(p_cut)?;
        let ln_cut = math::ln(p_cut);
        Ok(self.ascending.partition_point(|&ln_p| ln_p <= ln_cut) as u64)
    }

    /// Normal scores z = Φ⁻¹(1 − p), the largest first; −∞ where p is 1.
    pub fn normal_scores(&self) -> impl Iterator<Item = f64> + '_ {
        self.ascending.iter().map(|&ln_p| normal_score(ln_p))
    }

    pub(super) fn check_at_most(&self, canaries: u64) -> Result<(), OneShotError> {
        let observations = self.len();
        if observations as u64 > canaries {
            return Err(OneShotError::Observations { observations, canaries });
        }
        Ok(())
    }

    /// ln p of the `rank`-th smallest, counted from 1.
    pub(super) fn ranked(&self, rank: u64) -> Option<f64> {
        self.ascending.get(usize::try_from(rank.checked_sub(1)?).ok()?).copied()
    }
}

/// z = Φ⁻¹(1 − p); −∞ where p is 1.
pub(super) fn normal_score(ln_p: f64) -> f64 {
    if ln_p < 0.0 { -normal::quantile_from_ln(ln_p) } else { f64::NEG_INFINITY }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_sorted_and_bounded_below() {
        let tails = NullTails::new(vec![-1.0, f64::NEG_INFINITY, 0.0, -3.0]).unwrap();
        assert_eq!(tails.ln_p(), [LEAST_LN_P, -3.0, -1.0, 0.0]);
        assert_eq!((tails.hits(0.04).unwrap(), tails.ranked(2)), (1, Some(-3.0)));
        assert_eq!((tails.ranked(0), tails.ranked(5)), (None, None));
        assert!(tails.hits(0.0).is_err() && tails.hits(f64::NAN).is_err());
    }

    #[test]
    fn the_place_of_a_bad_value_is_named() {
        for bad in [0.1, f64::NAN, f64::INFINITY] {
            let refused = NullTails::new(vec![-1.0, bad]).unwrap_err();
            assert!(refused.to_string().starts_with("ln p of canary 1 = "), "{refused}");
        }
    }
}
