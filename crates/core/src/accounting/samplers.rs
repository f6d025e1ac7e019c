//! The proven accountants of each sampler.

use super::{
    Accountant, AccountingResult, BallsInBins, Deterministic, FixedSize, Kind, PersistentShuffle,
    Poisson, Query, RandomAllocation, Shuffle, ShuffleMethod, TruncatedPoisson,
};
use crate::mechanism::{BatchSampler, SamplerKind};

/// The answer that is proven for a sampler with its parameters, under zero-out adjacency; `None` if
/// none is known.
#[must_use]
pub fn account(sampler: BatchSampler, query: &Query) -> Option<AccountingResult> {
    match sampler.truncation() {
        Some(truncation) => Some(TruncatedPoisson::zero_out(truncation).account(query)),
        None => accountant(sampler.kind(), query.kind).map(|known| known.account(query)),
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
