//! What null probabilities indicate about the protocol; no check changes a bound.

use super::{Gdp, IndependentCanaries, LEVEL, NullTails, OneShotError};
use crate::audit::one_run::{OneRunFinding, RepeatedScores};
use crate::audit::repeats::Repeats;
use crate::math;
use crate::special::arrival::probability_of_arrivals;
use crate::special::normal_cdf;

/// Sum of normal scores over √K below which signs are reversed: a chance of 3·10⁻⁵.
const REVERSED: f64 = -4.0;

/// A shift of this many standard deviations is that of hardly any noise.
const LITTLE_NOISE: f64 = 20.0;

/// More trailing zero bits are those of a format shorter than f32.
const MOST_ZERO_BITS: u32 = 34;

/// Significant digits of a number that was written with few.
const FEW_DIGITS: usize = 8;

/// Normal scores below have p = 1 in f64.
const LEAST_SCORE: f64 = -38.0;

/// Exact null probabilities of seen canaries, for checks of the protocol.
#[derive(Debug, Clone, Copy)]
pub struct ScoreChecks<'a> {
    tails: &'a NullTails,
}

impl<'a> ScoreChecks<'a> {
    /// Null probabilities that are exact, such as those of cosines.
    #[must_use]
    pub const fn new(tails: &'a NullTails) -> Self {
        Self { tails }
    }

    /// The mean of the normal scores times √K: N(0, 1) if no canary arrived; 0 without canaries.
    #[must_use]
    pub fn standardised_mean(&self) -> f64 {
        let (count, mean) = self.mean();
        mean * count.sqrt()
    }

    /// Signs that are reversed, canaries of unequal weight, hardly any noise.
    ///
    /// | finding | statistic | significance |
    /// |---|---|---|
    /// | `CosinesReversed` | √K z̄ < −4 | 3·10⁻⁵ |
    /// | `FarBelowNull` | K Φ(min z) | 10⁻⁵ |
    /// | `UnequalWeights` | Σ(z − z̄)² against χ² with K − 1 degrees of freedom | 10⁻⁵ |
    /// | `SpreadTooSmall` | K/(K − 2) Σ(z − z̄)² against its lower tail, K ≥ 3 | 10⁻⁵ |
    /// | `LittleNoise` | lower limit of μ above 20 | 10⁻⁵ |
    ///
    /// For one Gaussian sum the spread of normal scores does not depend on the noise. Without any noise, K
    /// canaries share their products, which leaves (K − 2)/K of it. Less of it shows another dimension than
    /// that of the update, or one cosine for all canaries.
    ///
    /// # Guarantee
    /// `unit::checks_detect_their_faults_and_nothing_else`,
    /// `unit::a_smaller_dimension_is_detected_and_few_canaries_without_noise_are_none`.
    ///
    /// # Errors
    /// [`OneShotError::Canaries`] for more than 10⁹ of them.
    pub fn findings(&self) -> Result<Vec<OneRunFinding>, OneShotError> {
        let (count, mean) = self.mean();
        if count < 2.0 {
            return Ok(Vec::new());
        }
        let mut findings = Vec::new();
        let z = mean * count.sqrt();
        if z < REVERSED {
            findings.push(OneRunFinding::CosinesReversed { z });
        } else {
            let score = self.scores().fold(f64::INFINITY, f64::min);
            let is_far = count * normal_cdf(score) < LEVEL;
            findings.extend(is_far.then_some(OneRunFinding::FarBelowNull { score }));
        }
        let square = |score: f64| (score - mean) * (score - mean);
        let dispersion: f64 = self.scores().map(square).sum();
        let p_value = 1.0 - probability_of_arrivals(0.5 * (count - 1.0), 0.5 * dispersion);
        if p_value < LEVEL {
            findings.push(OneRunFinding::UnequalWeights { dispersion: dispersion / (count - 1.0) });
        }
        if count >= 3.0 {
            let corrected = dispersion * count / (count - 2.0);
            if probability_of_arrivals(0.5 * (count - 1.0), 0.5 * corrected) < LEVEL {
                let dispersion = dispersion / (count - 1.0);
                findings.push(OneRunFinding::SpreadTooSmall { dispersion });
            }
        }
        let canaries = IndependentCanaries::new(self.tails.len() as u64, LEVEL)?;
        let gdp_mu = Gdp::new(&canaries).mu_lower(self.tails)?;
        if gdp_mu > LITTLE_NOISE {
            findings.push(OneRunFinding::LittleNoise { gdp_mu });
        }
        Ok(findings)
    }

    fn mean(&self) -> (f64, f64) {
        let count = self.tails.len() as f64;
        (count, self.scores().sum::<f64>() / count.max(1.0))
    }

    fn scores(&self) -> impl Iterator<Item = f64> + '_ {
        self.tails.normal_scores().map(|score| score.max(LEAST_SCORE))
    }
}

/// Cosines that occur several times, with more digits than rounding leaves: cosines of different
/// directions are continuous, so K of them have K²/2²¹ equal pairs of such numbers at most on average, at
/// a significance of 10⁻⁵. Shorter numbers are compared as scores are.
pub fn repeated_cosines(cosines: &[f64]) -> Option<OneRunFinding> {
    let is_long = |cosine: &f64| {
        let digits = format!("{:e}", cosine.abs());
        let digits = digits.bytes().take_while(|&byte| byte != b'e').filter(u8::is_ascii_digit);
        digits.count() > FEW_DIGITS && cosine.to_bits().trailing_zeros() <= MOST_ZERO_BITS
    };
    let mut long: Vec<f64> = cosines.iter().copied().filter(is_long).collect();
    long.sort_unstable_by(f64::total_cmp);
    let groups = long.chunk_by(|one, other| one == other).map(<[f64]>::len);
    let copied: Vec<u64> = groups.filter(|&times| times > 1).map(|times| times as u64).collect();
    let pairs: f64 = copied.iter().map(|&times| (times * (times - 1) / 2) as f64).sum();
    let count = long.len() as f64;
    let expected = count * count / f64::from(1 << 21);
    let p_value = math::exp((pairs * (1.0 + math::ln(expected / pairs))).min(0.0));
    if pairs > expected && p_value < LEVEL {
        let (values, times) = (copied.len() as u64, copied.iter().copied().max()?);
        let scores = RepeatedScores::Cosines;
        return Some(OneRunFinding::RepeatedScores { scores, values, times, p_value });
    }
    Repeats::within(cosines).map(|found| OneRunFinding::repeated(RepeatedScores::Canaries, found))
}

/// Whether canaries that were not in have p-values that are not uniform, at a significance of 10⁻⁵.
///
/// The test of Kolmogorov and Smirnov, with the correction of Stephens for small numbers. Such p-values
/// are uniform and independent given the output, whatever the training did: if they are not, dimension,
/// flattening or directions are wrong, and no bound holds.
///
/// # Guarantee
/// `unit::unseen_canaries_of_another_dimension_are_detected`.
///
/// # Reference
/// M. Stephens (1970), Journal of the Royal Statistical Society B 32.
#[must_use]
pub fn unseen_finding(unseen: &NullTails) -> Option<OneRunFinding> {
    let count = unseen.len() as f64;
    let places = unseen.ln_p().iter().map(|&ln_p| math::exp(ln_p)).enumerate();
    let distance = places.fold(0.0_f64, |most, (place, p)| {
        most.max(p - place as f64 / count).max((place + 1) as f64 / count - p)
    });
    let root = count.sqrt();
    let scaled = (root + 0.12 + 0.11 / root) * distance;
    let term = |j: i32| {
        let sign = if j % 2 == 1 { 2.0 } else { -2.0 };
        sign * math::exp(-2.0 * f64::from(j * j) * scaled * scaled)
    };
    let p_value = if scaled < 0.3 { 1.0 } else { (1..=20).map(term).sum::<f64>() };
    (p_value < LEVEL).then_some(OneRunFinding::UnseenNotUniform { distance, unseen: count as u64 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::one_shot::CosineNull;
    use crate::random::{Purpose, WideNormals};
    use crate::special::normal;

    fn tails(seed: u64, score: impl Fn(usize, f64) -> f64) -> NullTails {
        let mut draws = vec![0.0; 400];
        WideNormals::new(seed, Purpose::Test, 31).fill(&mut draws);
        let ln_p = draws.iter().enumerate();
        NullTails::new(ln_p.map(|(i, &z)| normal::normal_ln_cdf(-score(i, z))).collect()).unwrap()
    }

    fn count(score: impl Fn(usize, f64) -> f64) -> [usize; 4] {
        let mut counts = [0; 4];
        for seed in 0..20 {
            for finding in ScoreChecks::new(&tails(seed, &score)).findings().unwrap() {
                counts[match finding {
                    OneRunFinding::CosinesReversed { .. } => 0,
                    OneRunFinding::UnequalWeights { .. } => 1,
                    OneRunFinding::LittleNoise { .. } => 2,
                    _ => 3,
                }] += 1;
            }
        }
        counts
    }

    #[test]
    fn checks_detect_their_faults_and_nothing_else() {
        assert_eq!(count(|_, z| z), [0, 0, 0, 0]);
        assert_eq!(count(|_, z| z + 3.0), [0, 0, 0, 0]);
        assert_eq!(count(|_, z| z - 0.5), [20, 0, 0, 0]);
        assert_eq!(count(|i, z| if i % 4 == 0 { z + 3.0 } else { z + 1.0 }), [0, 20, 0, 0]);
        assert_eq!(count(|_, z| z + 22.0), [0, 0, 20, 0]);
        // far below any p that differs from 1, so all scores are equal
        assert_eq!(count(|_, z| z - 1_000.0), [20, 0, 0, 20]);
        assert_eq!(count(|_, z| 0.6 * z), [0, 0, 0, 20]);
        assert_eq!(count(|_, _| 0.0), [0, 0, 0, 20]);
    }

    #[test]
    fn a_smaller_dimension_is_detected_and_few_canaries_without_noise_are_none() {
        let narrow = |cosines: &[f64], dimension: u64| {
            let tails = CosineNull::new(dimension).unwrap().tails(cosines).unwrap();
            let findings = ScoreChecks::new(&tails).findings().unwrap();
            findings.iter().any(|found| matches!(found, OneRunFinding::SpreadTooSmall { .. }))
        };
        let mut draws = vec![0.0; 52];
        for seed in 0..40 {
            WideNormals::new(seed, Purpose::Test, 33).fill(&mut draws);
            let cosines: Vec<f64> = draws.iter().map(|z| (z + 3.0) / 1e7_f64.sqrt()).collect();
            assert!(!narrow(&cosines, 10_000_000), "{seed}");
            assert!(narrow(&cosines, 1_000_000) && narrow(&cosines, 100_000), "{seed}");
        }
        // sums of canaries alone: the fewer, the more of their products are shared
        for seed in 0..200 {
            for canaries in [2, 3, 4, 10] {
                assert!(!narrow(&of_noiseless_sum(seed, canaries, 400), 400), "{canaries} {seed}");
            }
        }
    }

    #[test]
    fn a_larger_dimension_is_detected() {
        let null = CosineNull::new(1_000_000).unwrap();
        let mut draws = vec![0.0; 100];
        for seed in 0..40 {
            WideNormals::new(seed, Purpose::Test, 35).fill(&mut draws);
            let is_below = |dimension: f64, shift: f64| {
                let cosines = draws.iter().map(|z| (z + shift) / dimension.sqrt());
                let tails = null.tails(&cosines.collect::<Vec<f64>>()).unwrap();
                let findings = ScoreChecks::new(&tails).findings().unwrap();
                findings.iter().any(OneRunFinding::costs_coverage)
            };
            assert!(!is_below(1e6, 0.0) && !is_below(1e6, 3.0), "{seed}");
            assert!(is_below(1e5, 0.0), "{seed}");
        }
    }

    #[test]
    fn equal_cosines_are_copies_unless_they_are_rounded() {
        let mut draws = vec![0.0; 1_000];
        WideNormals::new(1, Purpose::Test, 36).fill(&mut draws);
        let cosines: Vec<f64> = draws.iter().map(|z| z / 1e3).collect();
        assert_eq!(repeated_cosines(&cosines), None);
        let few = repeated_cosines(&cosines[..4].repeat(250));
        let Some(OneRunFinding::RepeatedScores { scores, values, times, .. }) = few else {
            panic!("{few:?}");
        };
        assert_eq!((scores, values, times), (RepeatedScores::Cosines, 4, 250));
        let of = |rounded: &dyn Fn(f64) -> f64| -> Vec<f64> {
            cosines.iter().map(|&cosine| rounded(cosine)).collect()
        };
        let bf16 = |cosine: f64| f64::from(f32::from_bits((cosine as f32).to_bits() & 0xffff_0000));
        let shorter: [&dyn Fn(f64) -> f64; 3] =
            [&|cosine| f64::from(cosine as f32), &|cosine| (1e5 * cosine).round() / 1e5, &bf16];
        for rounded in shorter {
            assert_eq!(repeated_cosines(&of(rounded)), None);
        }
        let copied: Vec<f64> = of(shorter[0])[..10].repeat(20);
        assert!(repeated_cosines(&copied).is_some(), "f32");
    }

    /// Cosines of random directions with their sum.
    fn of_noiseless_sum(seed: u64, canaries: usize, dimension: usize) -> Vec<f64> {
        let mut entries = vec![0.0; canaries * dimension];
        WideNormals::new(seed, Purpose::Test, 34).fill(&mut entries);
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let directions = entries.chunks_mut(dimension).map(|direction| {
            let norm = dot(direction, direction).sqrt();
            direction.iter().map(|entry| entry / norm).collect::<Vec<f64>>()
        });
        let directions: Vec<Vec<f64>> = directions.collect();
        let entry = |i: usize| directions.iter().map(|direction| direction[i]).sum();
        let sum: Vec<f64> = (0..dimension).map(entry).collect();
        let norm = dot(&sum, &sum).sqrt();
        directions.iter().map(|direction| dot(direction, &sum) / norm).collect()
    }

    #[test]
    fn unseen_canaries_of_another_dimension_are_detected() {
        let null = CosineNull::new(1_000).unwrap();
        let mut draws = vec![0.0; 1_000];
        for seed in 0..20 {
            WideNormals::new(seed, Purpose::Test, 32).fill(&mut draws);
            let cosines = |dimension: f64| -> Vec<f64> {
                draws.iter().map(|z| z / (dimension + z * z).sqrt()).collect()
            };
            let finding =
                |dimension: f64| unseen_finding(&null.tails(&cosines(dimension)).unwrap());
            assert_eq!(finding(1_000.0), None, "{seed}");
            assert!(finding(2_500.0).is_some(), "{seed}");
        }
        assert_eq!(unseen_finding(&NullTails::default()), None);
    }
}
