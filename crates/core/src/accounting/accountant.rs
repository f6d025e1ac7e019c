//! Who answers queries, and which accountant is proven for which sampler.

use super::calibration::{PrivacyTarget, SearchRange};
use super::{
    AccountingError, AccountingResult, BallsInBins, Deterministic, Kind, Parameter,
    PersistentShuffle, Poisson, Query, Shuffle, ShuffleMethod, Training,
};
use crate::mechanism::SamplerKind;

/// A method that answers queries about training runs whose batches are drawn in one way.
pub trait Accountant {
    /// ε at a δ, or δ at an ε.
    ///
    /// # Errors
    /// [`AccountingError`]: an argument outside its domain, a grid that would be too large, no value of
    /// this kind.
    fn account(&self, query: &Query) -> AccountingResult;

    /// The values among which [`calibrate`](super::calibrate) searches; none for a parameter that does not
    /// change this accountant's ε.
    ///
    /// # Errors
    /// [`AccountingError`], where the search starts from another accountant's answer.
    fn search_range(
        &self,
        parameter: Parameter,
        target: &PrivacyTarget,
        training: &Training,
    ) -> Result<Option<SearchRange>, AccountingError> {
        let _ = (target, training);
        Ok(match parameter {
            Parameter::Noise => {
                Some(SearchRange { low: 1e-4, high: 100.0, ..SearchRange::default() })
            }
            Parameter::Epochs => Some(SearchRange { high: 1e6, ..SearchRange::default() }),
            Parameter::Steps => None,
        })
    }
}

/// The accountant that is proven for a sampler, from one side; `None` where there is none that needs no
/// more than σ, T and E.
///
/// Of every way to shuffle, deterministic batches are the upper bound: given the record's place, an epoch is
/// one Gaussian mechanism, and δ is jointly convex.
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
