//! The distribution of the cosine of a direction that was not in.

use std::f64::consts::LN_2;

use super::{NullTails, OneShotError};
use crate::math;
use crate::special::{BetaDistribution, Tail, UnitPoint, normal};

/// Cosines between a fixed vector and a uniform random direction in R^d.
///
/// P\[cos ≥ t\] = ½ I_{1−t²}((d − 1)/2, ½) for t ≥ 0, with I the regularised incomplete beta function
///
/// It holds for every training and every d ≥ 2: the direction of a canary that was not in is independent
/// of the output. Canaries that were not in are independent of each other, given the output.
///
/// # Numerics
/// Relative error of ln p below 1e-10 down to −1e6 (`tests/oracles/golden.rs::federated_agrees`).
/// Smaller probabilities are rounded up to e^−1e6. The normal approximation N(0, 1/d) is not used.
///
/// # Example
/// ```
/// use dpscope_core::audit::one_shot::CosineNull;
/// let null = CosineNull::new(10_000_000)?;
/// assert_eq!(format!("{:.4}", null.ln_tail(0.02)?), "-2005.4661");
/// assert_eq!(format!("{:.4}", null.normal_score(0.02)?), "63.2519");
/// # Ok::<(), dpscope_core::audit::one_shot::OneShotError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CosineNull {
    dimension: u64,
    /// Of 1 − cos².
    square_sine: BetaDistribution,
}

/// Rounding may bring the cosine of parallel vectors this far above 1.
const ROUNDING: f64 = 1e-6;

impl CosineNull {
    /// Directions in R^d.
    ///
    /// # Errors
    /// [`OneShotError::Dimension`] if d lies outside 2 … 10¹⁵.
    pub fn new(dimension: u64) -> Result<Self, OneShotError> {
        if !(2..=1_000_000_000_000_000).contains(&dimension) {
            return Err(OneShotError::Dimension { dimension });
        }
        let square_sine = BetaDistribution::with_shapes(0.5 * (dimension - 1) as f64, 0.5);
        Ok(Self { dimension, square_sine })
    }

    /// d.
    #[must_use]
    pub const fn dimension(&self) -> u64 {
        self.dimension
    }

    /// ln P\[cos ≥ `cosine`\] of a direction that was not in.
    ///
    /// # Errors
    /// [`OneShotError::Cosine`] outside [−1, 1] by more than 10⁻⁶, or NaN.
    pub fn ln_tail(&self, cosine: f64) -> Result<f64, OneShotError> {
        let ln_beyond = self.ln_tail_beyond(cosine)?;
        let ln_p = if cosine < 0.0 { math::ln_1p(-math::exp(ln_beyond)) } else { ln_beyond };
        Ok(ln_p.max(super::tails::LEAST_LN_P))
    }

    /// Normal score of a cosine, z = Φ⁻¹(1 − p): N(0, 1) for a direction that was not in, at every d.
    ///
    /// # Errors
    /// [`OneShotError::Cosine`].
    pub fn normal_score(&self, cosine: f64) -> Result<f64, OneShotError> {
        let ln_beyond = self.ln_tail_beyond(cosine)?.max(super::tails::LEAST_LN_P);
        let z = -normal::quantile_from_ln(ln_beyond);
        Ok(if cosine < 0.0 { -z } else { z })
    }

    /// Null probabilities of the cosines of seen canaries.
    ///
    /// # Errors
    /// [`OneShotError::Cosine`] with the place of the cosine.
    pub fn tails(&self, cosines: &[f64]) -> Result<NullTails, OneShotError> {
        let ln_p: Result<Vec<f64>, OneShotError> = (cosines.iter().enumerate())
            .map(|(index, &cosine)| {
                self.ln_tail(cosine).map_err(|_| OneShotError::Cosine { index, cosine })
            })
            .collect();
        NullTails::new(ln_p?)
    }

    /// ln of an upper limit of P\[max over server rounds of cos ≥ `cosine`\]: the union bound.
    ///
    /// min(0, ln T + ln p), for any dependence between server rounds
    ///
    /// # Errors
    /// [`OneShotError::Cosine`], [`OneShotError::ServerRounds`] for none.
    pub fn ln_tail_of_maximum(&self, cosine: f64, server_rounds: u64) -> Result<f64, OneShotError> {
        if server_rounds == 0 {
            return Err(OneShotError::ServerRounds);
        }
        Ok((self.ln_tail(cosine)? + math::ln(server_rounds as f64)).min(0.0))
    }

    /// The unseen cosine that is as rare as a seen one, given the norm N of all that the canary was
    /// added to, in units of the canary.
    ///
    /// t √(1 − (1 − t²)/N²) − (1 − t²)/N, exact for one sum: a = c + r with ‖r‖ = N and the direction
    /// of c independent of r. P\[cos ≥ t | canary was in\] is the null tail there.
    ///
    /// # Errors
    /// [`OneShotError::Cosine`], [`OneShotError::Norm`] if N is below 1, infinite or NaN.
    pub fn equivalent_null_cosine(
        &self,
        cosine: f64,
        norm_of_rest: f64,
    ) -> Result<f64, OneShotError> {
        let t = clamped(cosine)?;
        if !(1.0..f64::INFINITY).contains(&norm_of_rest) {
            return Err(OneShotError::Norm { norm: norm_of_rest });
        }
        let square_sine = (1.0 - t) * (1.0 + t);
        let kept = (1.0 - square_sine / norm_of_rest / norm_of_rest).max(0.0).sqrt();
        Ok((t * kept - square_sine / norm_of_rest).max(-1.0))
    }

    /// ln P\[cos ≥ |t|\].
    fn ln_tail_beyond(&self, cosine: f64) -> Result<f64, OneShotError> {
        let t = clamped(cosine)?.abs();
        let square = t * t;
        let point = if square < 0.5 {
            UnitPoint::from_complement(square)
        } else {
            UnitPoint::from_value((1.0 - t) * (1.0 + t))
        };
        Ok(self.square_sine.ln_tail(Tail::Lower, point) - LN_2)
    }
}

fn clamped(cosine: f64) -> Result<f64, OneShotError> {
    if cosine.abs() <= 1.0 + ROUNDING {
        Ok(math::clamp(cosine, -1.0, 1.0))
    } else {
        Err(OneShotError::Cosine { index: 0, cosine })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plane_and_the_sphere_have_closed_forms() {
        let (plane, sphere) = (CosineNull::new(2).unwrap(), CosineNull::new(3).unwrap());
        for step in -19..=19 {
            let t = f64::from(step) / 20.0;
            // acos(t)/π, and (1 − t)/2
            let angle = math::atan2((1.0 - t * t).sqrt(), t) / std::f64::consts::PI;
            let seen = math::exp(plane.ln_tail(t).unwrap());
            assert!((seen / angle - 1.0).abs() < 1e-13, "{t}: {seen} {angle}");
            let seen = math::exp(sphere.ln_tail(t).unwrap());
            assert!((seen / (0.5 - 0.5 * t) - 1.0).abs() < 1e-13, "{t}: {seen}");
        }
    }

    #[test]
    fn both_sides_are_symmetric_and_finite() {
        for dimension in [2, 50, 1_000_000] {
            let null = CosineNull::new(dimension).unwrap();
            for t in [0.0, 1e-9, 0.01, 0.7, 1.0, 1.0 + 5e-7] {
                let (up, down) = (null.normal_score(t).unwrap(), null.normal_score(-t).unwrap());
                assert!(up.is_finite() && (up + down).abs() < 1e-15, "{dimension} {t}");
                let (over, under) = (null.ln_tail(t).unwrap(), null.ln_tail(-t).unwrap());
                let sum = math::exp(over) + math::exp(under);
                assert!(over >= -1e6 && (sum - 1.0).abs() < 1e-14, "{dimension} {t}: {sum}");
            }
        }
    }

    #[test]
    fn a_canary_in_a_large_sum_shifts_the_score_by_its_share() {
        let null = CosineNull::new(1_000_000).unwrap();
        // N = σ√d with σ = 1: the score moves by about 1/σ
        let at = null.equivalent_null_cosine(0.002, 1_000.0).unwrap();
        let moved = null.normal_score(0.002).unwrap() - null.normal_score(at).unwrap();
        assert!((moved - 1.0).abs() < 1e-3, "{moved}");
    }

    #[test]
    fn bad_arguments_are_refused() {
        let null = CosineNull::new(10).unwrap();
        assert!(CosineNull::new(1).is_err() && CosineNull::new(u64::MAX).is_err());
        for bad in [1.1, -1.1, f64::NAN, f64::INFINITY] {
            assert!(null.ln_tail(bad).is_err() && null.normal_score(bad).is_err());
            let refused = null.tails(&[0.0, bad]).unwrap_err().to_string();
            assert!(refused.starts_with("cosine 1 = "), "{refused}");
        }
        assert!(null.ln_tail_of_maximum(0.1, 0).is_err());
        assert!(null.equivalent_null_cosine(0.1, 0.9).is_err());
    }
}
