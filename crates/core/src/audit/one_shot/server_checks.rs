//! What updates, weights and a control client indicate about a server; no check changes a bound.

use super::LEVEL;
use super::{CosineNull, NoiseNorm, OneShotError, ReplyWeights};
use crate::audit::one_run::OneRunFinding;
use crate::math;

/// What a server states about the noise of its updates.
///
/// An update is Σ times a scale, where Σ has Gaussian noise of standard deviation σC per coordinate.
/// Every check has a significance of 10⁻⁵, for all server rounds together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StatedNoise {
    /// Noise multiplier σ.
    pub noise_multiplier: f64,
    /// C times the scale: the norm of a clipped update as it arrives in the release.
    pub clip_norm: f64,
}

/// ‖·‖² of what is left of an update after projection on earlier ones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UpdateResidual {
    /// The squared norm.
    pub square_norm: f64,
    /// Number of earlier updates.
    pub earlier: u64,
}

impl UpdateResidual {
    /// From the products ⟨ρₛ, ρₜ⟩ of earlier updates and the last one, by the last pivot of Cholesky's
    /// factorisation; row i has the products with updates 0 … i.
    #[must_use]
    pub fn of_last(products: &[Vec<f64>]) -> Self {
        let mut factor: Vec<Vec<f64>> = Vec::with_capacity(products.len());
        let mut square_norm = 0.0;
        for row in products {
            let mut entries: Vec<f64> = Vec::with_capacity(row.len());
            let Some((&own, others)) = row.split_last() else { continue };
            for (product, earlier) in others.iter().zip(&factor) {
                let done: f64 = entries.iter().zip(earlier).map(|(a, b)| a * b).sum();
                let pivot = earlier.last().copied().unwrap_or(0.0);
                // an update that earlier ones determine takes no further direction away
                entries.push(if pivot > 0.0 { (product - done) / pivot } else { 0.0 });
            }
            square_norm = (own - entries.iter().map(|x| x * x).sum::<f64>()).max(0.0);
            let is_new = square_norm > 1e-12 * own;
            entries.push(if is_new { square_norm.sqrt() } else { 0.0 });
            factor.push(entries);
        }
        Self { square_norm, earlier: products.len().saturating_sub(1) as u64 }
    }
}

impl StatedNoise {
    /// Noise that is absent or too small, from ‖ρₜ‖² of every server round: [`NoiseNorm`].
    ///
    /// # Guarantee
    /// `unit::noise_is_detected_where_it_is_too_small_or_reused`.
    ///
    /// # Errors
    /// The errors of [`NoiseNorm`].
    pub fn noise_finding(
        &self,
        square_norms: &[f64],
        dimension: u64,
    ) -> Result<Option<OneRunFinding>, OneShotError> {
        let residuals = square_norms.iter().map(|&square_norm| (square_norm, 0));
        let least = self.least_noise(residuals, square_norms.len() as u64, dimension)?;
        Ok(least.map(|(server_round, noise_multiplier)| OneRunFinding::NoiseBelowStated {
            noise_multiplier,
            stated: self.noise_multiplier,
            server_round,
        }))
    }

    /// Noise that was used before: the test of [`Self::noise_finding`] after projection on s earlier
    /// updates, with d − s degrees of freedom, which holds for adaptive updates as well.
    ///
    /// # Errors
    /// The errors of [`NoiseNorm`].
    pub fn reuse_finding(
        &self,
        residuals: &[UpdateResidual],
        dimension: u64,
    ) -> Result<Option<OneRunFinding>, OneShotError> {
        let squares = residuals.iter().map(|residual| (residual.square_norm, residual.earlier));
        let least = self.least_noise(squares, residuals.len() as u64, dimension)?;
        Ok(least.map(|(server_round, noise_multiplier)| OneRunFinding::NoiseReused {
            noise_multiplier,
            stated: self.noise_multiplier,
            server_round,
        }))
    }

    /// The server round, from 1, with the least limit of σ below the stated one.
    fn least_noise(
        &self,
        squares: impl Iterator<Item = (f64, u64)>,
        server_rounds: u64,
        dimension: u64,
    ) -> Result<Option<(u64, f64)>, OneShotError> {
        let mut found: Option<(u64, f64)> = None;
        let mut norm: Option<(u64, NoiseNorm)> = None;
        for (round, (square, earlier)) in squares.enumerate() {
            let Some(left) = dimension.checked_sub(earlier).filter(|&left| left >= 2) else {
                continue;
            };
            let test = match norm {
                Some((of, test)) if of == left => test,
                _ => NoiseNorm::new(left, server_rounds, LEVEL)?,
            };
            norm = Some((left, test));
            let upper = test.noise_multiplier_upper(square / (self.clip_norm * self.clip_norm))?;
            if upper < found.map_or(self.noise_multiplier, |(_, least)| least) {
                found = Some((round as u64 + 1, upper));
            }
        }
        Ok(found)
    }

    /// Canaries that arrive with another weight than clients may have: the mean of ⟨cᵢ, a⟩/(C·|Rᵢ|),
    /// which is 1 ± its standard error.
    ///
    /// `products` are ⟨cᵢ, a⟩/|Rᵢ| and ‖a‖/|Rᵢ| of the sum a of the updates of each canary. Two-sided.
    ///
    /// # Guarantee
    /// `unit::canaries_of_another_weight_are_detected`.
    #[must_use]
    pub fn weight_finding(
        &self,
        products: &[(f64, f64)],
        dimension: u64,
        planned_clients: u64,
    ) -> Option<OneRunFinding> {
        let count = products.len() as f64;
        let sum: f64 = products.iter().map(|(product, _)| product / self.clip_norm).sum();
        let square = |norm: f64| norm * norm / (self.clip_norm * self.clip_norm);
        let variance: f64 = products.iter().map(|&(_, norm)| square(norm)).sum();
        let weight = sum / count;
        let standard_error = (variance / dimension as f64).sqrt() / count;
        let z = (weight - 1.0).abs() / standard_error;
        let is_other = 2.0 * crate::special::normal::normal_cdf(-z) < LEVEL;
        is_other.then_some(OneRunFinding::CanaryWeight { weight, standard_error, planned_clients })
    }

    /// Replies that leave less noise than stated: weights that differ, or fewer replies than planned.
    /// No statistic: a certainty from the weights of one server round, counted from 1.
    #[must_use]
    pub fn reply_findings(
        &self,
        server_round: u64,
        weights: &ReplyWeights,
        planned: u64,
    ) -> Vec<OneRunFinding> {
        let stated = self.noise_multiplier;
        let equal = weights.noise_multiplier_at_equal_weights(stated, planned);
        let heaviest = weights.noise_multiplier_of_heaviest(stated, planned);
        let is_less = |one: f64, other: f64| one < other * (1.0 - 1e-9);
        let mut findings = Vec::new();
        if is_less(equal, stated) {
            findings.push(OneRunFinding::FewReplies {
                replies: weights.replies(),
                planned,
                server_round,
                noise_multiplier: equal,
            });
        }
        if is_less(heaviest, equal) {
            let noise_multiplier = heaviest;
            findings.push(OneRunFinding::UnequalReplies { noise_multiplier, stated, server_round });
        }
        findings
    }
}

/// A control client that is not seen although it surely took part, or is seen although it did not, at
/// a significance of 10⁻⁵.
///
/// # Guarantee
/// `unit::a_control_shows_whether_the_pipeline_works`.
///
/// # Errors
/// [`OneShotError::Cosine`], [`OneShotError::ServerRounds`].
pub fn control_finding(
    null: &CosineNull,
    cosine: f64,
    server_rounds: u64,
    took_part: bool,
) -> Result<Option<OneRunFinding>, OneShotError> {
    let ln_p = null.ln_tail_of_maximum(cosine, server_rounds)?;
    let is_seen = ln_p < math::ln(LEVEL);
    Ok(match (took_part, is_seen) {
        (true, false) => Some(OneRunFinding::ControlNotSeen { p_value: math::exp(ln_p) }),
        (false, true) => Some(OneRunFinding::ControlSeen { ln_p }),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, WideNormals};

    const DIMENSION: usize = 2_000;
    const STATED: StatedNoise = StatedNoise { noise_multiplier: 0.8, clip_norm: 0.5 };

    /// Updates with noise of a stream each, beside a common part.
    fn updates(seed: u64, noise: f64, stream: impl Fn(u64) -> u64) -> Vec<Vec<f64>> {
        let update = |round: u64| {
            let mut normals = vec![0.0; DIMENSION];
            WideNormals::new(100 * seed + stream(round), Purpose::Test, 34).fill(&mut normals);
            let part = |i: usize| if i == 0 { 3.0 + round as f64 } else { 0.0 };
            (0..DIMENSION).map(|i| part(i) + 0.5 * noise * normals[i]).collect()
        };
        (0..6).map(update).collect()
    }

    fn dot(one: &[f64], other: &[f64]) -> f64 {
        one.iter().zip(other).map(|(a, b)| a * b).sum()
    }

    fn found(updates: &[Vec<f64>]) -> [bool; 2] {
        let squares: Vec<f64> = updates.iter().map(|update| dot(update, update)).collect();
        let products = |last: usize| -> Vec<Vec<f64>> {
            let row = |i: usize| (0..=i).map(|j| dot(&updates[i], &updates[j])).collect();
            (0..=last).map(row).collect()
        };
        let residual = |last| UpdateResidual::of_last(&products(last));
        let residuals: Vec<UpdateResidual> = (0..updates.len()).map(residual).collect();
        let dimension = DIMENSION as u64;
        [
            STATED.noise_finding(&squares, dimension).unwrap().is_some(),
            STATED.reuse_finding(&residuals, dimension).unwrap().is_some(),
        ]
    }

    #[test]
    fn noise_is_detected_where_it_is_too_small_or_reused() {
        for seed in 0..20 {
            assert_eq!(found(&updates(seed, 0.8, |round| round)), [false, false], "{seed}");
            assert_eq!(found(&updates(seed, 1.6, |round| round)), [false, false], "{seed}");
            assert_eq!(found(&updates(seed, 0.4, |round| round)), [true, true], "{seed}");
            assert_eq!(found(&updates(seed, 0.0, |round| round)), [true, true], "{seed}");
            assert_eq!(found(&updates(seed, 0.8, |_| 0)), [false, true], "{seed}");
            assert_eq!(found(&updates(seed, 0.8, |round| round.min(4))), [false, true], "{seed}");
        }
    }

    #[test]
    fn a_residual_is_orthogonal_to_earlier_updates() {
        let of = |rows: &[&[f64]]| {
            let rows: Vec<Vec<f64>> = rows.iter().map(|row| row.to_vec()).collect();
            UpdateResidual::of_last(&rows).square_norm
        };
        // (1, 0), (1, 0), (3, 4)
        assert!((of(&[&[1.0], &[1.0, 1.0], &[3.0, 3.0, 25.0]]) - 16.0).abs() < 1e-12);
        assert!(of(&[&[2.0], &[2.0, 2.0]]) < 1e-12);
        assert_eq!(of(&[&[2.5]]), 2.5);
    }

    #[test]
    fn canaries_of_another_weight_are_detected() {
        let finding = |seed: u64, weight: f64, stated: StatedNoise| {
            let mut normals = vec![0.0; 50];
            WideNormals::new(seed, Purpose::Test, 35).fill(&mut normals);
            // ‖a‖ = 20, d = 2,000: a standard error of 0.45 per canary
            let product = |z: &f64| (0.5 * weight + z * 20.0 / 2_000_f64.sqrt(), 20.0);
            let products: Vec<(f64, f64)> = normals.iter().map(product).collect();
            stated.weight_finding(&products, 2_000, 10)
        };
        for seed in 0..20 {
            assert_eq!(finding(seed, 1.0, STATED), None, "{seed}");
            assert!(finding(seed, 5.0, STATED).is_some() && finding(seed, 0.1, STATED).is_some());
            // a mean where a sum was stated
            let sum = StatedNoise { clip_norm: 5.0, ..STATED };
            assert!(finding(seed, 1.0, sum).is_some());
        }
        assert_eq!(STATED.weight_finding(&[], 2_000, 10), None);
    }

    #[test]
    fn replies_that_leave_less_noise_are_reported() {
        let findings = |weights: &[f64], planned: u64| {
            STATED.reply_findings(3, &ReplyWeights::new(weights).unwrap(), planned)
        };
        assert_eq!(findings(&[7.0; 5], 5), []);
        let few = findings(&[7.0; 4], 5);
        assert!(matches!(few[..], [OneRunFinding::FewReplies { replies: 4, planned: 5, .. }]));
        let uneven = findings(&[960.0, 10.0, 10.0, 10.0, 10.0], 5);
        assert!(matches!(uneven[..], [OneRunFinding::UnequalReplies { server_round: 3, .. }]));
    }

    #[test]
    fn a_control_shows_whether_the_pipeline_works() {
        let null = CosineNull::new(10_000).unwrap();
        let finding = |cosine, took_part| control_finding(&null, cosine, 1, took_part).unwrap();
        assert!(finding(0.1, true).is_none() && finding(0.0, false).is_none());
        for cosine in [0.0, 0.03, -0.1] {
            assert!(matches!(finding(cosine, true), Some(OneRunFinding::ControlNotSeen { .. })));
        }
        assert!(matches!(finding(0.1, false), Some(OneRunFinding::ControlSeen { .. })));
        assert!(control_finding(&null, f64::NAN, 1, true).is_err());
    }
}
