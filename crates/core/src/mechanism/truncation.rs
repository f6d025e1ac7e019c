//! Truncated Poisson batches: how often one is full, and how often the target record is in it.
//!
//! n, the other records that are drawn, is Bin(N − 1, q); a batch is full if n ≥ B.

use super::MechanismError;
use crate::math;
use crate::special::{BetaDistribution, Tail, UnitPoint};

/// Bound of the relative error of a probability: about z√B rounding errors, with z the distance
/// from the mean in standard deviations.
const RELATIVE: f64 = 1e-9;

/// Most records.
const MOST_RECORDS: u64 = 10_000_000_000;

/// The parameters of truncated Poisson batches: of N records, each is drawn with the same
/// probability, and if there are more than B of them, a uniform subset of B is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Truncation {
    /// N, the target among them, 1 to 10¹⁰.
    pub dataset_size: u64,
    /// B, the maximum batch size, 1 to N.
    pub max_batch_size: u64,
}

impl Truncation {
    /// The chance that the target is in a batch: q·P(n < B) + (B/N)·P(Bin(N, q) > B), with n the
    /// number of other records that are drawn.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `sampling_rate` | q | [1e-9, 1] |
    ///
    /// # Errors
    /// A number of records or a maximum outside its domain.
    ///
    /// # Numerics
    /// Rounded down, by less than 1e-6 of it.
    pub fn presence(self, sampling_rate: f64) -> Result<f64, MechanismError> {
        Ok(Overflow::new(self, sampling_rate)?.presence)
    }

    /// Refuses a maximum below `least`.
    pub(super) fn check(self, least: u64) -> Result<(), MechanismError> {
        let Truncation { dataset_size, max_batch_size: value } = self;
        if !(1..=MOST_RECORDS).contains(&dataset_size) {
            let value = dataset_size as f64;
            return Err(MechanismError::outside("dataset_size", value, "1..=10000000000"));
        }
        if !(least..=dataset_size).contains(&value) {
            let domain = format!("{least}..={dataset_size}");
            return Err(MechanismError::outside("max_batch_size", value as f64, &domain));
        }
        Ok(())
    }
}

/// Probabilities of one step; each is rounded outward.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Overflow {
    /// An upper bound of P(n ≥ B).
    pub(crate) full: f64,
    /// An upper bound of P(n < B).
    pub(crate) not_full: f64,
    /// An upper and a lower bound of the chance that the target is in a full batch,
    /// E(qB/(n + 1) | n ≥ B).
    pub(crate) full_rate: [f64; 2],
    /// A lower bound of the chance that the target is in a batch.
    pub(crate) presence: f64,
}

impl Overflow {
    /// At the rate q, in [1e-9, 1].
    ///
    /// P(n ≥ B) = I_q(B, N − B), and the sum of qB/(n + 1) over n ≥ B is P(Bin(N, q) > B)·B/N.
    ///
    /// # Errors
    /// A number of records or a maximum outside its domain.
    pub(crate) fn new(truncation: Truncation, sampling_rate: f64) -> Result<Self, MechanismError> {
        truncation.check(1)?;
        let Truncation { dataset_size, max_batch_size } = truncation;
        if max_batch_size == dataset_size {
            let full_rate = [sampling_rate; 2];
            return Ok(Overflow { full: 0.0, not_full: 1.0, full_rate, presence: sampling_rate });
        }
        let (most, records) = (max_batch_size as f64, dataset_size as f64);
        let rate_point = UnitPoint::from_value(sampling_rate);
        let drawn = BetaDistribution::with_shapes(most, records - most);
        let kept = BetaDistribution::with_shapes(most + 1.0, records - most);
        let ln_full = drawn.ln_tail(Tail::Lower, rate_point);
        let ln_not_full = drawn.ln_tail(Tail::Upper, rate_point);
        let ln_kept = kept.ln_tail(Tail::Lower, rate_point);
        let above = |ln: f64| {
            let value = math::exp(ln) * (1.0 + (1.0 - ln.max(-700.0)) * RELATIVE);
            // a positive probability may underflow
            value.clamp(if ln > f64::NEG_INFINITY { f64::MIN_POSITIVE } else { 0.0 }, 1.0)
        };
        let below = |ln: f64| math::exp(ln) * (1.0 - (1.0 - ln.max(-700.0)) * RELATIVE);
        let (full, not_full) = (above(ln_full), above(ln_not_full));
        let rate = most / records * math::exp((ln_kept - ln_full).min(0.0));
        let margin = (2.0 - ln_full - ln_kept) * RELATIVE;
        // n + 1 is from B + 1 to N
        let [least, largest] = [records, most + 1.0].map(|drawn| sampling_rate * most / drawn);
        let full_rate = [
            (rate * (1.0 - margin)).max(least * (1.0 - RELATIVE)),
            (rate * (1.0 + margin)).min(largest * (1.0 + RELATIVE)).min(1.0),
        ];
        let presence = sampling_rate * below(ln_not_full) + most / records * below(ln_kept);
        let presence = math::clamp(presence, 0.0, sampling_rate);
        Ok(Overflow { full, not_full, full_rate, presence })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn truncation(dataset_size: u64, max_batch_size: u64) -> Truncation {
        Truncation { dataset_size, max_batch_size }
    }

    /// By the sums of their definitions.
    fn summed(records: u64, most: u64, rate: f64) -> [f64; 4] {
        let mut found = [0.0; 4];
        for drawn in 0..records {
            let ln = crate::special::ln_binomial_pmf(drawn, records - 1, rate).unwrap();
            let mass = math::exp(ln);
            let kept = rate * (most as f64 / (drawn + 1) as f64).min(1.0);
            found[usize::from(drawn < most)] += mass;
            found[2] += if drawn >= most { mass * kept } else { 0.0 };
            found[3] += mass * kept;
        }
        found
    }

    #[test]
    fn sums_lie_between_the_rounded_values() {
        for (records, most, rate) in [
            (6, 3, 0.4),
            (6, 5, 0.4),
            (50, 1, 0.02),
            (1000, 40, 0.03),
            (1000, 100, 0.03),
            (90, 30, 1.0),
        ] {
            let found = Overflow::new(truncation(records, most), rate).unwrap();
            let [full, not_full, kept, presence] = summed(records, most, rate);
            let near = |low: f64, high: f64| {
                assert!(
                    low <= high && high <= low * (1.0 + 1e-6) + 1e-300,
                    "{records} {most}: {low:e} {high:e}"
                );
            };
            near(full, found.full);
            near(not_full, found.not_full);
            near(found.full_rate[0], kept / full);
            near(kept / full, found.full_rate[1]);
            near(found.presence, presence);
        }
    }

    #[test]
    fn impossible_batches_are_refused() {
        for records in [0, MOST_RECORDS + 1] {
            let refused = Overflow::new(truncation(records, 1), 0.1).unwrap_err();
            assert_eq!(refused.parameter(), Some("dataset_size"), "{records}");
        }
        for most in [0, 6] {
            let refused = Overflow::new(truncation(5, most), 0.1).unwrap_err();
            assert_eq!(refused.parameter(), Some("max_batch_size"), "{most}");
        }
    }
}
