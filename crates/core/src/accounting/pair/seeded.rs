//! The exact pair as an accountant, drawn from the random stream of a seed.

use super::{ExactPair, PairValues};
use crate::accounting::{
    Accountant, AccountingError, AccountingResult, Given, Kind, Query, Training,
};
use crate::random::{Purpose, WideNormals};

/// The exact pair, drawn in f64 by this thread from the random stream of a seed.
///
/// The lower limit and the estimate of one query come from the same draws; each query draws anew,
/// so that an answer depends only on the query, the sampling and the seed. [`Self::values`] returns
/// both from one sampling.
///
/// # Guarantee
/// The lower limit holds as that of [`ExactPair::evaluate`]; the same query has the same answer
/// (`unit::answers_depend_on_the_seed_alone`).
///
/// # Errors
/// As [`ExactPair::evaluate`], and [`AccountingError::NoValue`] for an upper value.
///
/// # Example
/// ```
/// use dpscope_core::accounting::pair::{ExactPair, PairMethod, SeededPair};
/// use dpscope_core::accounting::{Accountant, Given, Query, Training};
///
/// let method = PairMethod::OneEpoch;
/// let sampling = ExactPair { method, draws: 20_000, significance: 0.025 };
/// let pair = SeededPair { sampling, seed: 1 };
/// let training =
///     Training { noise_multiplier: 1.0, steps_per_epoch: 100, epochs: 1, sampling_rate: None };
/// let limit = pair.account(&Query::lower(training, Given::Delta(1e-5)))?;
/// assert_eq!(format!("{:.2}", limit.epsilon), "4.06");
/// # Ok::<(), dpscope_core::accounting::AccountingError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SeededPair {
    /// Method, number of draws and significance.
    pub sampling: ExactPair,
    /// Seed of the random stream.
    pub seed: u64,
}

impl SeededPair {
    /// The lower limit and the estimate.
    ///
    /// # Errors
    /// As [`ExactPair::evaluate`].
    pub fn values(&self, training: &Training, given: Given) -> Result<PairValues, AccountingError> {
        let mut normals = WideNormals::new(self.seed, Purpose::PairRuns, 0);
        self.sampling.evaluate(training, given, &mut |out: &mut [f64]| normals.fill(out))
    }
}

impl Accountant for SeededPair {
    fn account(&self, query: &Query) -> AccountingResult {
        if query.kind == Kind::Upper {
            return Err(query.refused());
        }
        let values = self.values(&query.training, query.given)?;
        let answer = if query.kind == Kind::Lower { values.lower } else { values.estimate };
        answer.checked(query)
    }
}

#[cfg(test)]
mod tests {
    use super::super::PairMethod;
    use super::*;

    #[test]
    fn answers_depend_on_the_seed_alone() {
        let method = PairMethod::OneEpoch;
        let sampling = ExactPair { method, draws: 1_000, significance: 0.05 };
        let training =
            Training { noise_multiplier: 1.0, steps_per_epoch: 20, epochs: 1, sampling_rate: None };
        let given = Given::Delta(1e-5);
        let query = Query { kind: Kind::Estimate, ..Query::upper(training, given) };
        let answer = |seed| SeededPair { sampling, seed }.account(&query).unwrap();
        assert_eq!(answer(1), answer(1));
        assert_ne!(answer(1), answer(2));
        let both = SeededPair { sampling, seed: 1 }.values(&training, given).unwrap();
        assert_eq!(both.estimate, answer(1));
        let above = SeededPair { sampling, seed: 1 }.account(&Query::upper(training, given));
        assert!(matches!(above, Err(AccountingError::NoValue { .. })));
    }
}
