//! Checks a score distribution and selects the scoring method, its constants and the unit of the
//! scores.

use super::fixed::Fixed;
use super::moving::Moving;
use super::slots::SlotTable;
use super::steps::{FixedSize, Linear, Poisson, including_words};
use crate::error::KernelError;
use crate::random::NORMAL_LIMIT;
use dpscope_core::math::{exp, exp_m1, exp2, ln, ln_1p, log2, powf};
use dpscope_core::mechanism::{ScoreDistribution, ScoreDistributionKind, SlotWeights};
use std::ops::RangeInclusive;

/// Noise multipliers supported by the kernels; f32 represents every intermediate value.
pub const NOISE_MULTIPLIERS: RangeInclusive<f64> = 1e-3..=1e4;
/// Gaps supported by the kernels.
pub const GAPS: RangeInclusive<f64> = 1.0..=1e6;
/// Sampling rates supported by the kernels.
pub const SAMPLING_RATES: RangeInclusive<f64> = 1e-9..=1.0;
/// Maximum number of entries per epoch.
pub const MAX_ENTRIES: u32 = 1 << 24;

/// Rounding error allowed in the sum of the weights.
const TOTAL_SLACK: f64 = 1e-9;

/// Largest possible score of an epoch, in units: half the range of an i32.
const UNITS: f64 = 1_073_741_824.0;

/// Scoring method of an epoch, with its constants.
#[derive(Clone, Debug)]
pub(crate) enum Scoring {
    Linear(Linear),
    Fixed(Fixed),
    Moving(Moving),
    Poisson(Poisson),
    FixedSize(FixedSize),
    /// Several slots of an epoch.
    Allocated(Poisson),
}

/// A score distribution prepared for the kernel.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub(crate) scoring: Scoring,
    /// Present if the target's slot is drawn.
    pub(crate) slots: Option<SlotTable>,
    /// Nats per unit: a power of two.
    pub(crate) unit: f64,
}

impl Setup {
    pub(crate) fn new(distribution: &ScoreDistribution) -> Result<Self, KernelError> {
        let sigma = distribution.noise_multiplier;
        if !NOISE_MULTIPLIERS.contains(&sigma) {
            return Err(KernelError::NoiseMultiplier { value: sigma });
        }
        if distribution.epochs == 0 {
            return Err(KernelError::Epochs);
        }
        if !(1..=MAX_ENTRIES).contains(&distribution.entries) {
            return Err(KernelError::Entries { value: distribution.entries });
        }
        match &distribution.kind {
            ScoreDistributionKind::OneSlot { gap, .. } if !GAPS.contains(gap) => {
                Err(KernelError::Gap { value: *gap })
            }
            ScoreDistributionKind::OneSlot { gap, weights: SlotWeights::Uniform } => {
                Ok(Setup::uniform(sigma, *gap, distribution.entries))
            }
            ScoreDistributionKind::OneSlot { gap, weights: SlotWeights::Weighted(weights) } => {
                let total = check_weights(weights, distribution.entries)?;
                Ok(Setup::weighted(sigma, *gap, weights, total))
            }
            ScoreDistributionKind::Poisson { sampling_rate }
            | ScoreDistributionKind::FixedSize { sampling_rate }
                if !SAMPLING_RATES.contains(sampling_rate) =>
            {
                Err(KernelError::SamplingRate { value: *sampling_rate })
            }
            ScoreDistributionKind::Poisson { sampling_rate } => {
                Ok(Setup::poisson(sigma, *sampling_rate, distribution.entries))
            }
            ScoreDistributionKind::FixedSize { sampling_rate } => {
                Ok(Setup::fixed_size(sigma, *sampling_rate, distribution.entries))
            }
            ScoreDistributionKind::SeveralSlots { uses_per_epoch } => {
                Setup::allocated(sigma, *uses_per_epoch, distribution.entries)
            }
        }
    }

    /// Whether a word per entry decides if it includes the target.
    pub(crate) const fn draws_inclusions(&self) -> bool {
        matches!(self.scoring, Scoring::Poisson(_) | Scoring::FixedSize(_))
    }

    fn uniform(sigma: f64, gap: f64, entries: u32) -> Self {
        let scoring = if entries == 1 {
            Scoring::Linear(Linear::new(sigma))
        } else if Fixed::fits(sigma, gap, entries, None) {
            Scoring::Fixed(Fixed::new(sigma, gap, entries, None))
        } else {
            Scoring::Moving(Moving::new(sigma, gap, entries, None))
        };
        let found = Some(ln(f64::from(entries)));
        Setup { scoring, slots: None, unit: unit_of(one_slot_bound(sigma, gap, found)) }
    }

    fn weighted(sigma: f64, gap: f64, weights: &[f64], total: f64) -> Self {
        let shares: Vec<f64> = weights.iter().map(|w| w / total).collect();
        let entries = weights.len() as u32;
        let scoring = if Fixed::fits(sigma, gap, entries, Some(&shares)) {
            Scoring::Fixed(Fixed::new(sigma, gap, entries, Some(&shares)))
        } else {
            Scoring::Moving(Moving::new(sigma, gap, entries, Some(&shares)))
        };
        let always = total >= 1.0 - TOTAL_SLACK;
        let found = always.then(|| -ln(shares.iter().copied().fold(1.0, f64::min)));
        Setup {
            scoring,
            slots: Some(SlotTable::new(weights)),
            unit: unit_of(one_slot_bound(sigma, gap, found)),
        }
    }

    fn poisson(sigma: f64, rate: f64, entries: u32) -> Self {
        let scoring = if including_words(rate) > u64::from(u32::MAX) {
            Scoring::Linear(Linear::new(sigma))
        } else {
            Scoring::Poisson(Poisson::new(sigma, rate))
        };
        Setup { scoring, slots: None, unit: unit_of(poisson_bound(sigma, rate, entries)) }
    }

    fn fixed_size(sigma: f64, rate: f64, entries: u32) -> Self {
        let scoring = if including_words(rate) > u64::from(u32::MAX) {
            Scoring::Linear(Linear::new(sigma))
        } else {
            Scoring::FixedSize(FixedSize::new(sigma, rate))
        };
        Setup { scoring, slots: None, unit: unit_of(fixed_size_bound(sigma, rate, entries)) }
    }

    fn allocated(sigma: f64, uses: u32, entries: u32) -> Result<Self, KernelError> {
        if !(1..=entries).contains(&uses) {
            return Err(KernelError::UsesPerEpoch { value: uses, entries });
        }
        let scoring = if uses == entries {
            Scoring::Linear(Linear::new(sigma))
        } else {
            Scoring::Allocated(Poisson::allocated(sigma, uses, entries))
        };
        Ok(Setup { scoring, slots: None, unit: unit_of(allocated_bound(sigma, uses, entries)) })
    }
}

/// Checks the weights and returns their sum.
fn check_weights(weights: &[f64], entries: u32) -> Result<f64, KernelError> {
    if weights.len() != entries as usize {
        return Err(KernelError::WeightCount { weights: weights.len(), entries });
    }
    for (index, &value) in weights.iter().enumerate() {
        if !(value > 0.0 && value <= 1.0) {
            return Err(KernelError::Weight { index, value });
        }
    }
    let total: f64 = weights.iter().sum();
    if !(0.0..=1.0 + TOTAL_SLACK).contains(&total) {
        return Err(KernelError::WeightTotal { value: total });
    }
    Ok(total)
}

/// The power of two, in nats, such that scores up to `bound` take at most 2³⁰ units.
fn unit_of(bound: f64) -> f64 {
    exp2(log2(bound / UNITS).ceil())
}

/// Largest |score| of an epoch with one slot.
///
/// The score is the logarithm of a mean of exp((x_t + ½)/σ²), so it lies between the least and the
/// largest (x_t + ½)/σ²: within (½ + Zσ)/σ² above, with Z the largest normal, and (gap + Zσ − ½)/σ²
/// below. If the target's entry is always among the entries, the largest x is at least −1 − Zσ,
/// and the score at least (½ + that)/σ² − `found`, with `found` = −ln of the least weight.
fn one_slot_bound(sigma: f64, gap: f64, found: Option<f64>) -> f64 {
    let variance = sigma * sigma;
    let above = (0.5 + NORMAL_LIMIT * sigma) / variance;
    let below = (gap + NORMAL_LIMIT * sigma - 0.5) / variance;
    let below = found.map_or(below, |found| below.min(above + found));
    above.max(below)
}

/// Largest |score| of an epoch with Poisson sampling, except with probability below e⁻⁷⁰.
///
/// Each step lies within ln(1 + q(e^±A − 1)), A = Z/σ + ½/σ², a bound of T times that. For long
/// epochs Chernoff's is tighter: below, −T·|ln(1 − q)|; above, for any λ in (0, 1], by
/// (1 − q + q·e^a)^λ ≤ 1 + q^λ·e^{λa},
///
/// P_D(L > c) ≤ exp(−λc)·(1 + q^λ·[(1 − q)·e^{−λ(1−λ)/(2σ²)} + q·e^{λ(1+λ)/(2σ²)}])^T.
///
/// An i32 represents twice the bound; larger scores saturate.
fn poisson_bound(sigma: f64, rate: f64, entries: u32) -> f64 {
    let half = 0.5 / (sigma * sigma);
    let steps = f64::from(entries);
    let above = chernoff(|lambda| {
        let out = (1.0 - rate) * exp(-lambda * (1.0 - lambda) * half);
        let ins = exp(lambda * (1.0 + lambda) * half) * rate;
        steps * ln_1p(powf(rate, lambda) * (out + ins))
    });
    let [most, least] = step_bounds(sigma, rate);
    above.min(steps * most).max(steps * least)
}

/// Largest |score| of an epoch with several slots, except with probability below e⁻⁷⁰.
///
/// As for Poisson; E_D e^{λL} is at most 1 at each of the T − k steps without the target, where
/// E e^L = 1.
fn allocated_bound(sigma: f64, uses: u32, entries: u32) -> f64 {
    let half = 0.5 / (sigma * sigma);
    let rate = f64::from(uses) / f64::from(entries);
    let above = chernoff(|lambda| {
        let ins = exp(lambda * (1.0 + lambda) * half);
        f64::from(uses) * ln_1p(powf(rate, lambda) * ins)
    });
    let [most, least] = step_bounds(sigma, rate);
    above.min(f64::from(entries) * most).max(f64::from(entries) * least)
}

/// Largest |score| of an epoch with batches of fixed size, except with probability below e⁻⁷⁰.
///
/// W_s = (1 − q)·N(0, σ²) + q·N(s, σ²). E_D e^{λL} = ∫ W₂^{1+λ} W₁^{−λ} ≤ 1 − q + q·e^{λ(1+λ)/(2σ²)}
/// by joint convexity, and so is E_{D′} e^{−λL}; P_D(L < −c) and P_{D′}(L > c) are below e^{−c}. Each
/// step lies between the logarithms of 1 and of N(2, σ²)/N(1, σ²), within (Z σ + 3/2)/σ². It is
/// positive only where N(1, σ²) > N(0, σ²), and negative only where N(1, σ²) < e^{1/σ²} N(0, σ²).
fn fixed_size_bound(sigma: f64, rate: f64, entries: u32) -> f64 {
    let variance = sigma * sigma;
    let steps = f64::from(entries);
    let moved = |exponent: f64| {
        if exponent < 600.0 { ln_1p(rate * exp_m1(exponent)) } else { exponent + ln(rate) }
    };
    let tail = chernoff(|lambda| steps * moved(lambda * (1.0 + lambda) * 0.5 / variance));
    let target = 2.0 * (1.0 + NORMAL_LIMIT * sigma) / variance;
    let either = moved(target).max(moved(1.0 / variance) - moved(-target));
    let most = either.min((NORMAL_LIMIT * sigma + 1.5) / variance);
    tail.min(steps * most)
}

/// The least c with P(|L| > c) ≤ e⁻⁷⁰ by Markov's inequality of e^{λ|L|}, from ln E e^{λ|L|}.
fn chernoff(log_moment: impl Fn(f64) -> f64) -> f64 {
    const NATS: f64 = 70.0;
    let at = |k| {
        let lambda = f64::from(k) / 64.0;
        (log_moment(lambda) + NATS) / lambda
    };
    (1..=64).map(at).fold(f64::INFINITY, f64::min)
}

/// Largest size of a positive and of a negative score ln(1 + q(e^a − 1)) of a step.
fn step_bounds(sigma: f64, rate: f64) -> [f64; 2] {
    let reach = NORMAL_LIMIT / sigma + 0.5 / (sigma * sigma);
    let most = if reach < 600.0 { ln_1p(rate * exp_m1(reach)) } else { reach + ln(rate) };
    [most, (-ln_1p(rate * exp_m1(-reach))).min(reach)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use dpscope_core::mechanism::{BatchSampler, BatchedGaussian, ThreatModel};

    fn distribution(
        noise_multiplier: f64,
        epochs: u32,
        entries: u32,
        kind: ScoreDistributionKind,
    ) -> ScoreDistribution {
        ScoreDistribution { noise_multiplier, epochs, entries, kind }
    }

    fn one_slot(gap: f64) -> ScoreDistributionKind {
        ScoreDistributionKind::OneSlot { gap, weights: SlotWeights::Uniform }
    }

    fn weighted(weights: &[f64]) -> ScoreDistributionKind {
        ScoreDistributionKind::OneSlot {
            gap: 2.0,
            weights: SlotWeights::Weighted(weights.to_vec()),
        }
    }

    fn poisson(sampling_rate: f64) -> ScoreDistributionKind {
        ScoreDistributionKind::Poisson { sampling_rate }
    }

    fn allocated(uses_per_epoch: u32) -> ScoreDistributionKind {
        ScoreDistributionKind::SeveralSlots { uses_per_epoch }
    }

    #[test]
    fn unsupported_distributions_are_rejected() {
        for (distribution, message) in [
            (
                distribution(f64::NAN, 1, 1, one_slot(2.0)),
                "noise_multiplier is NaN; it must be between 0.001 and 10000",
            ),
            (
                distribution(0.0, 1, 1, one_slot(2.0)),
                "noise_multiplier is 0; it must be between 0.001 and 10000",
            ),
            (distribution(1.0, 0, 1, one_slot(2.0)), "epochs is 0; it must be at least 1"),
            (
                distribution(1.0, 1, 0, one_slot(2.0)),
                "entries is 0; it must be between 1 and 16777216",
            ),
            (
                distribution(1.0, 1, 1, one_slot(0.5)),
                "gap is 0.5; it must be between 1 and 1000000",
            ),
            (
                distribution(1.0, 1, 1, one_slot(f64::NAN)),
                "gap is NaN; it must be between 1 and 1000000",
            ),
            (
                distribution(1.0, 1, 1, poisson(0.0)),
                "sampling_rate is 0; it must be between 1e-9 and 1",
            ),
            (
                distribution(1.0, 1, 1, poisson(1.5)),
                "sampling_rate is 1.5; it must be between 1e-9 and 1",
            ),
            (
                distribution(1.0, 1, 1, ScoreDistributionKind::FixedSize { sampling_rate: 0.0 }),
                "sampling_rate is 0; it must be between 1e-9 and 1",
            ),
            (
                distribution(1.0, 1, 5, allocated(0)),
                "uses_per_epoch is 0; it must be between 1 and 5, the entries",
            ),
            (
                distribution(1.0, 1, 5, allocated(6)),
                "uses_per_epoch is 6; it must be between 1 and 5, the entries",
            ),
            (
                distribution(1.0, 1, 2, weighted(&[0.5])),
                "1 weights are given for 2 entries; there must be one per entry",
            ),
            (
                distribution(1.0, 1, 2, weighted(&[0.5, 0.0])),
                "weight 1 is 0; weights must be above 0 and at most 1",
            ),
            (
                distribution(1.0, 1, 2, weighted(&[0.5, f64::NAN])),
                "weight 1 is NaN; weights must be above 0 and at most 1",
            ),
            (
                distribution(1.0, 1, 2, weighted(&[0.5, 0.75])),
                "the sum of the weights is 1.25; it must be at most 1",
            ),
        ] {
            assert_eq!(Setup::new(&distribution).unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn the_largest_supported_gap_is_accepted() {
        let mechanism = BatchedGaussian {
            noise_multiplier: 1.0,
            steps_per_epoch: 10,
            epochs: 1,
            sampler: BatchSampler::BatchThenShuffle,
            threat_model: ThreatModel::WorstCase,
            batch_size: Some(500_000),
            dataset_size: None,
        };
        assert!(Setup::new(&mechanism.distribution().unwrap()).is_ok());
        let larger = BatchedGaussian { batch_size: Some(500_001), ..mechanism };
        assert!(larger.distribution().is_err());
        assert!(Setup::new(&distribution(1.0, 1, 10, one_slot(1_000_002.0))).is_err());
    }

    /// Rough lower bound on the standard deviation of an epoch's score.
    fn spread(distribution: &ScoreDistribution) -> f64 {
        let sigma = distribution.noise_multiplier;
        let entries = f64::from(distribution.entries);
        match distribution.kind {
            ScoreDistributionKind::OneSlot { .. } => {
                (1.0 / sigma).min(1.0 / (sigma * entries.sqrt()))
            }
            ScoreDistributionKind::Poisson { sampling_rate: q }
            | ScoreDistributionKind::FixedSize { sampling_rate: q } => q * entries.sqrt() / sigma,
            ScoreDistributionKind::SeveralSlots { uses_per_epoch } => {
                f64::from(uses_per_epoch) / (sigma * entries.sqrt())
            }
        }
    }

    #[test]
    fn unit_resolves_the_spread() {
        for sigma in [0.0063, 0.1, 0.2, 0.35, 1.0, 3.0, 20.0] {
            for entries in [1, 2, 100, 1000, 100_000] {
                for kind in [one_slot(1.0), one_slot(2.0), one_slot(200.0), one_slot(20_000.0)] {
                    let distribution = distribution(sigma, 1, entries, kind);
                    let unit = Setup::new(&distribution).unwrap().unit;
                    assert!(unit <= spread(&distribution) / 4096.0, "{distribution:?}: {unit:e}");
                    assert_eq!(unit.to_bits() << 12, 0, "a power of two");
                }
            }
            for (rate, entries) in [(1e-5, 100_000), (0.01, 100), (0.001, 1000), (0.5, 100_000)] {
                let fixed_size = ScoreDistributionKind::FixedSize { sampling_rate: rate };
                let uses = (rate * f64::from(entries)).ceil() as u32;
                for kind in [poisson(rate), fixed_size, allocated(uses)] {
                    let distribution = distribution(sigma.max(0.2), 1, entries, kind);
                    let unit = Setup::new(&distribution).unwrap().unit;
                    assert!(unit <= spread(&distribution) / 4096.0, "{distribution:?}: {unit:e}");
                }
            }
        }
    }
}
