//! The proven accountants of each sampler.

use super::proven::tightest;
use super::shuffle::{TargetSlots, sum};
use super::{
    Accountant, AccountingError, AccountingResult, BallsInBins, Deterministic, FixedSize, Kind,
    Parameter, PersistentShuffle, Poisson, PoissonReplace, PrivacyTarget, Query, RandomAllocation,
    SearchRange, Shuffle, ShuffleMethod, Training, TruncatedPoisson,
};
use crate::adjacency::Adjacency;
use crate::mechanism::{BatchSampler, SamplerKind, Truncation};

/// The proven answer for a sampler with its parameters under an adjacency; `None` if none is known.
///
/// Batches that are cut from an order shift if a record is removed, so they have no upper value under
/// add-remove adjacency. Replacing a record changes a sum by up to twice the clip norm: see
/// [`PoissonReplace`], [`FixedSize`] and [`TruncatedPoisson`]. All other samplers draw the same batches
/// in both worlds. Their upper value is that of the Gaussian mechanism at half the noise, where it is
/// known which outputs contain the record. Lower values are those of a record and a substitute with
/// opposed gradients, where all other gradients are zero or, in shuffles, equal the substitute's.
///
/// # Guarantee
/// Values under replacement bracket the exact ones
/// (`tests/oracles/replacement.rs::orders_leak_what_their_bounds_say`).
#[must_use]
pub fn account(
    sampler: BatchSampler,
    adjacency: Adjacency,
    query: &Query,
) -> Option<AccountingResult> {
    let known = (sampler.kind(), sampler.truncation());
    with_accountant(known, adjacency, query.kind, |accountant| accountant.account(query))
}

/// Applies a function to the accountant that is proven for a sampler, with its truncation if it has one,
/// and an adjacency; `None` if none is known.
pub(super) fn with_accountant<T>(
    (sampler, truncation): (SamplerKind, Option<Truncation>),
    adjacency: Adjacency,
    kind: Kind,
    apply: impl FnOnce(&dyn Accountant) -> T,
) -> Option<T> {
    let known = accountant(sampler, kind);
    if sampler.limits_batch_size() {
        return with_subset_accountant((sampler, truncation), adjacency, apply);
    }
    Some(match (sampler, adjacency) {
        (SamplerKind::Poisson, Adjacency::Replace) => apply(&PoissonReplace),
        (_, Adjacency::Replace) => known.map(|_| apply(&Replaced(sampler)))?,
        (_, Adjacency::AddRemove) if sampler.cuts_an_order() && kind == Kind::Upper => return None,
        _ => apply(known?),
    })
}

/// Applies a function to the accountant of uniform subsets that is proven for a sampler: code that calls
/// nothing else links no other accountant. `None` for other samplers, and without the truncation that a
/// sampler needs.
pub(super) fn with_subset_accountant<T>(
    (sampler, truncation): (SamplerKind, Option<Truncation>),
    adjacency: Adjacency,
    apply: impl FnOnce(&dyn Accountant) -> T,
) -> Option<T> {
    Some(match sampler {
        SamplerKind::TruncatedPoisson => {
            apply(&TruncatedPoisson { adjacency, truncation: truncation? })
        }
        SamplerKind::FixedSize => apply(&FixedSize { adjacency }),
        SamplerKind::RandomAllocation => apply(&RandomAllocation),
        _ => return None,
    })
}

/// Batches that a record is in once per epoch, or k times, where it is replaced.
struct Replaced(SamplerKind);

impl Replaced {
    fn uses(&self, training: &Training) -> Result<u64, AccountingError> {
        if self.0.has_uses() { training.uses_per_epoch() } else { Ok(1) }
    }
}

impl Accountant for Replaced {
    fn account(&self, query: &Query) -> AccountingResult {
        let training = query.training;
        let uses = self.uses(&training)?;
        if query.kind == Kind::Upper || self.0 == SamplerKind::Deterministic {
            let epochs = training.epochs.saturating_mul(uses);
            let all = Training { epochs, ..training.doubled() };
            return Deterministic.account(&Query { training: all, ..*query });
        }
        // the sum of all outputs moves by 2 per use
        let with_sums = |accountant: &dyn Accountant| {
            let sums = sum::lower_of_mechanism(query, 2.0 * uses as f64);
            tightest(query, [accountant.account(query), sums])
        };
        let shuffle = |epochs: Training| {
            let slots = TargetSlots::from(epochs).replaced();
            slots.lower(query.given).and_then(|row| row.checked(query))
        };
        match self.0 {
            SamplerKind::BallsInBins => with_sums(&BallsInBins),
            SamplerKind::RandomAllocation => with_sums(&RandomAllocation),
            SamplerKind::Shuffle | SamplerKind::BatchThenShuffle => shuffle(training),
            SamplerKind::PersistentShuffle => shuffle(training.persistent()),
            _ => Err(AccountingError::NoValue { kind: query.kind, directions: query.directions }),
        }
    }

    fn search_range(
        &self,
        parameter: Parameter,
        target: &PrivacyTarget,
        training: &Training,
    ) -> Result<Option<SearchRange>, AccountingError> {
        let uses = self.uses(training)? as f64;
        let range = Deterministic.search_range(parameter, target, training)?;
        Ok(range.map(|range| match parameter {
            Parameter::Noise => {
                SearchRange { high: 0.5 * range.high, start: 0.5 * range.start, ..range }
            }
            Parameter::Epochs => SearchRange { high: (range.high / uses).floor(), ..range },
            Parameter::Steps => range,
        }))
    }
}

/// The accountant that is proven for a sampler and a kind of bound; `None` if none is determined by
/// σ, T and E, as for [`TruncatedPoisson`].
///
/// Deterministic batches are the upper bound of every shuffle: conditionally on the record's
/// position an epoch is one Gaussian mechanism, and δ is jointly convex.
///
/// # Example
/// ```
/// use dpscope_core::accounting::{Given, Kind, Query, Training, accountant};
/// use dpscope_core::mechanism::SamplerKind;
///
/// let training =
///     Training { noise_multiplier: 1.0, steps_per_epoch: 100, epochs: 1, sampling_rate: None };
/// let query = Query::lower(training, Given::Delta(1e-5));
/// let shuffle = accountant(SamplerKind::Shuffle, query.kind).ok_or("none")?;
/// assert_eq!(format!("{:.4}", shuffle.account(&query)?.epsilon), "4.0632");
/// assert!(accountant(SamplerKind::SlidingBuffer, Kind::Lower).is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn accountant(sampler: SamplerKind, kind: Kind) -> Option<&'static dyn Accountant> {
    let [upper, lower]: [Option<&'static dyn Accountant>; 2] = match sampler {
        SamplerKind::Poisson => [Some(&Poisson), Some(&Poisson)],
        SamplerKind::TruncatedPoisson => [None, None],
        SamplerKind::FixedSize => [Some(&FixedSize::ZERO_OUT), Some(&FixedSize::ZERO_OUT)],
        SamplerKind::RandomAllocation => [Some(&RandomAllocation), Some(&RandomAllocation)],
        SamplerKind::BallsInBins => [Some(&BallsInBins), Some(&BallsInBins)],
        SamplerKind::Deterministic => [Some(&Deterministic), Some(&Deterministic)],
        SamplerKind::Shuffle | SamplerKind::BatchThenShuffle => {
            [Some(&Deterministic), Some(&Shuffle(ShuffleMethod::Best))]
        }
        SamplerKind::PersistentShuffle => {
            [Some(&Deterministic), Some(&PersistentShuffle(ShuffleMethod::Best))]
        }
        SamplerKind::PartialShuffle | SamplerKind::SlidingBuffer => [Some(&Deterministic), None],
    };
    match kind {
        Kind::Upper => upper,
        Kind::Lower => lower,
        Kind::Estimate => None,
    }
}
