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
    /// Distribution of 1 − cos².
    square_sine: BetaDistribution,
    expansion: Option<Expansion>,
}

/// Rounding may move the cosine of nearly parallel vectors this far.
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
        let expansion = (dimension > 1_000).then(|| Expansion::new((dimension - 1) as f64));
        Ok(Self { dimension, square_sine, expansion })
    }

    /// Dimension d of the vectors.
    #[must_use]
    pub const fn dimension(&self) -> u64 {
        self.dimension
    }

    /// ln P\[cos ≥ `cosine`\] of a direction that was not in; above 1 − 10⁻⁶ it is that of this cosine, as
    /// rounding hides how close to 1 the cosine was.
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

    /// ln P\[cos ≥ |t|\], rounded up where t is near 1.
    fn ln_tail_beyond(&self, cosine: f64) -> Result<f64, OneShotError> {
        let t = clamped(cosine)?.min(1.0 - ROUNDING).abs();
        let square = t * t;
        if let Some(ln_tail) = self.expansion.and_then(|expansion| expansion.ln_tail(square)) {
            return Ok(ln_tail);
        }
        let point = if square < 0.5 {
            UnitPoint::from_complement(square)
        } else {
            UnitPoint::from_value((1.0 - t) * (1.0 + t))
        };
        Ok(self.square_sine.ln_tail(Tail::Lower, point) - LN_2)
    }
}

/// The tail of the cosine in many dimensions, as the normal tail and a correction.
///
/// With N = d − 1 and w = −ln(1 − t²), P\[cos ≥ t\] is the integral of e^{−Nv²/2} g(v), divided by S √(2π/N),
/// over v ≥ √w, where g(v) = v/√(1 − e^{−v²}). Integration by parts yields
///
/// P = φ(√(Nw)) (m + √w (b₀(w) + b₁(w)/N + b₂(w)/N² + …)/(S √N)), m the Mills ratio at √(Nw),
///
/// b₀ = (g − 1)/w, b_k with the coefficients (2j + 3) of those of b_{k−1} one power higher, and
/// S = 1 + b₀(0)/N + b₁(0)/N² + …. Four terms have a relative error below 1e-13 for N ≥ 1,000.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Expansion {
    n: f64,
    /// Coefficients of the powers of w.
    correction: [f64; TERMS],
}

/// Number of powers of w in the correction.
const TERMS: usize = 12;
/// Up to this w the powers that are left out are below 1e-14.
const LARGEST_W: f64 = 0.5;

/// Coefficients of b₀ = (g − 1)/w in powers of w.
const B_0: [f64; TERMS + 1] = [
    1.0 / 4.0,
    1.0 / 96.0,
    -1.0 / 384.0,
    -1.0 / 10_240.0,
    19.0 / 368_640.0,
    79.0 / 61_931_520.0,
    -55.0 / 49_545_216.0,
    -2_339.0 / 118_908_518_400.0,
    11_813.0 / 475_634_073_600.0,
    677.0 / 1_993_133_260_800.0,
    -2_117.0 / 3_720_515_420_160.0,
    -6.337_230_155_667_13e-12,
    1.325_131_515_587_89e-11,
];

impl Expansion {
    fn new(n: f64) -> Self {
        let (mut level, mut correction) = (B_0, [0.0; TERMS]);
        let (mut scale, mut total) = (1.0, 1.0);
        for _ in 0..4 {
            for (sum, coefficient) in correction.iter_mut().zip(level) {
                *sum += scale * coefficient;
            }
            scale /= n;
            total += scale * level[0];
            for power in 0..TERMS {
                level[power] = (2 * power + 3) as f64 * level[power + 1];
            }
            level[TERMS] = 0.0;
        }
        Self { n, correction: correction.map(|coefficient| coefficient / (total * n.sqrt())) }
    }

    /// ln P\[cos ≥ t\] for t² = `square`; none where the powers of w do not converge fast.
    fn ln_tail(self, square: f64) -> Option<f64> {
        let w = -math::ln_1p(-square);
        if !(w <= LARGEST_W) {
            return None;
        }
        let correction = self.correction.iter().rev().fold(0.0, |sum, term| sum * w + term);
        let mills = normal::mills_ratio((self.n * w).sqrt());
        let ln_ratio = math::ln(mills + w.sqrt() * correction);
        Some(ln_ratio - 0.5 * self.n * w - math::LN_SQRT_2PI)
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
    fn the_expansion_agrees_with_the_beta_distribution() {
        for dimension in [1_001, 1_002, 25_186, 1_000_000, 4_000_000_000_000] {
            let null = CosineNull::new(dimension).unwrap();
            let slow = CosineNull { expansion: None, ..null };
            let mut largest: f64 = 0.0;
            for z in [0.0, 1e-9, 1e-3, 0.1, 0.5, 1.0, 2.0, 5.0, 7.9, 8.1, 15.0, 20.0, 200.0] {
                let t = z / (dimension as f64).sqrt();
                if t < 0.62 {
                    let (fast, slow) = (null.ln_tail(t).unwrap(), slow.ln_tail(t).unwrap());
                    largest = largest.max((fast - slow).abs() / (1.0 + slow.abs()));
                }
            }
            assert!(largest < 3e-14, "{dimension}: {largest:e}");
        }
    }

    #[test]
    fn an_expansion_without_its_correction_fails_this_check() {
        let null = CosineNull::new(1_001).unwrap();
        let plain = Expansion { n: 1_000.0, correction: [0.0; TERMS] };
        let (exact, normal) = (null.ln_tail(0.1).unwrap(), plain.ln_tail(0.01).unwrap());
        assert!((normal / exact - 1.0).abs() > 1e-4);
    }

    #[test]
    fn both_sides_are_symmetric_and_finite() {
        for dimension in [2, 50, 1_000_000] {
            let null = CosineNull::new(dimension).unwrap();
            for t in [0.0, 1e-9, 0.01, 0.7, 1.0 - 1e-6] {
                let (up, down) = (null.normal_score(t).unwrap(), null.normal_score(-t).unwrap());
                assert!(up.is_finite() && (up + down).abs() < 1e-15, "{dimension} {t}");
                let (over, under) = (null.ln_tail(t).unwrap(), null.ln_tail(-t).unwrap());
                let sum = math::exp(over) + math::exp(under);
                assert!(over >= -1e6 && (sum - 1.0).abs() < 1e-14, "{dimension} {t}: {sum}");
            }
        }
    }

    /// In few dimensions a cosine that rounds to 1 would refute any claim.
    #[test]
    fn rounding_to_one_is_no_evidence() {
        for dimension in [2, 5, 1_000] {
            let null = CosineNull::new(dimension).unwrap();
            let at = |cosine: f64| null.ln_tail(cosine).unwrap();
            assert_eq!([1.0, 1.0 + 5e-7, 1.0 - 1e-9].map(at), [at(1.0 - 1e-6); 3]);
            assert!(at(1.0 - 1e-6) < at(1.0 - 1.1e-6));
            assert!(at(-1.0) <= 0.0 && at(-1.0) > -1e-12, "{dimension}");
        }
        let plane = CosineNull::new(2).unwrap();
        // acos(1 − 1e-6)/π
        assert!((math::exp(plane.ln_tail(1.0).unwrap()) / 4.501_582e-4 - 1.0).abs() < 1e-6);
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
