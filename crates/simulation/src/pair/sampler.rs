//! Sample budget and estimators for the exact pair.

use dpscope_core::accounting::pair::{ExactPair, PairMethod, PairValues};
use dpscope_core::accounting::{
    Accountant, Accounted, AccountingResult, Cell, Given, Query, Shuffle, ShuffleMethod, Training,
};
use dpscope_engine::{Control, EngineError};
use serde::Serialize;

use crate::Backend;

/// Parameters of sampling the exact pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairSampler {
    /// Seed of the random stream.
    pub seed: u64,
    /// Number of draws [default: chosen to finish in under a second].
    pub observations: Option<u64>,
    /// Probability that the lower bound is wrong.
    pub significance: f64,
    /// Whether several epochs are sampled as whole runs, whose bound exceeds the closed form.
    pub whole_runs: bool,
}

/// Results of sampling the exact pair.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PairRows {
    /// Rigorous lower bound; the closed form if nothing was sampled.
    pub lower: Accounted,
    /// Estimate without coverage.
    pub estimate: Cell,
    /// Samples behind the lower bound: epochs, or whole runs.
    pub observations: u64,
}

/// Minimum number of draws.
const MIN_DRAWS: u64 = 1_000;

/// Least share of the minimum number of draws that the budget must pay for; more would take seconds.
const LEAST_SHARE: f64 = 0.3;

/// Normals drawn in a fraction of a second, for one epoch and for several.
const ONE_EPOCH: f64 = 2e7;
const MANY_EPOCHS: f64 = 1e7;

/// Where samples are drawn, and the callbacks.
type Where<'a> = (&'a Backend, &'a dyn Control);

impl PairSampler {
    /// A rigorous lower bound and an estimate of the pair, remove direction.
    ///
    /// # Guarantee
    /// That of [`evaluate`](super::evaluate), and equal rows on every device
    /// (`tests/agreement/pair.rs::results_depend_on_the_seed_alone`).
    ///
    /// # Errors
    /// An argument outside its domain; cancelled by the caller.
    pub fn rows(
        &self,
        training: Training,
        given: Given,
        backend: &Backend,
        control: &dyn Control,
    ) -> Result<PairRows, EngineError> {
        let place = (backend, control);
        if training.epochs == 1 {
            self.one_epoch(&training, given, place)
        } else {
            self.many_epochs(&training, given, place)
        }
    }

    fn one_epoch(
        &self,
        training: &Training,
        given: Given,
        place: Where<'_>,
    ) -> Result<PairRows, EngineError> {
        let steps = training.steps_per_epoch;
        let Some(pair) = self.sized(PairMethod::OneEpoch, steps, ONE_EPOCH, LEAST_SHARE) else {
            return closed_form(training, given, TOO_LONG);
        };
        let found = self.evaluate(pair, training, given, place)?;
        let observations = pair.draws as u64;
        Ok(PairRows { lower: found.lower, estimate: Cell::Value(found.estimate), observations })
    }

    /// Whole runs for the bound, the composed distribution of one epoch for the estimate.
    fn many_epochs(
        &self,
        training: &Training,
        given: Given,
        place: Where<'_>,
    ) -> Result<PairRows, EngineError> {
        let steps = training.steps_per_epoch;
        let Some(plug_in) = self.sized(PairMethod::PlugIn, steps, MANY_EPOCHS, LEAST_SHARE) else {
            return closed_form(training, given, TOO_LONG);
        };
        let whole = self
            .sized(PairMethod::WholeRuns, training.steps(), 0.4 * MANY_EPOCHS, 1.0)
            .filter(|_| self.whole_runs);
        let whole = match whole {
            Some(pair) => {
                Some((self.evaluate(pair, training, given, place)?.lower, pair.draws as u64))
            }
            None => None,
        };
        let plug_in_draws = plug_in.draws as u64;
        let (closed, estimate) = match self.evaluate(plug_in, training, given, place) {
            Ok(found) => (Ok(found.lower), Cell::Value(found.estimate)),
            // The bound is valid without an estimate.
            Err(EngineError::Accounting(error)) => {
                (closed_lower(training, given), Cell::from(Err(error)))
            }
            Err(error) => return Err(error),
        };
        let drawn = estimate.value().map_or(0, |_| plug_in_draws);
        let (lower, observations) = match whole {
            Some((lower, draws)) => (lower, drawn + draws),
            None => (closed?, drawn),
        };
        // a plug-in may be too small, and its own lower limit is that of the closed form
        let estimate = match estimate {
            Cell::Value(value) if value.value(given) < lower.value(given) => {
                let Accounted { epsilon, delta, .. } = lower;
                Cell::Value(Accounted { epsilon, delta, ..value })
            }
            estimate => estimate,
        };
        Ok(PairRows { lower, estimate, observations })
    }

    fn evaluate(
        &self,
        pair: ExactPair,
        training: &Training,
        given: Given,
        (backend, control): Where<'_>,
    ) -> Result<PairValues, EngineError> {
        super::evaluate(&pair, training, given, self.seed, backend, control)
    }

    /// The requested number of draws, otherwise what the budget `normals` allows; `None` if that is
    /// less than `share` of the minimum.
    fn sized(
        &self,
        method: PairMethod,
        length: u64,
        normals: f64,
        share: f64,
    ) -> Option<ExactPair> {
        let significance = self.significance;
        let affordable = normals / (length as f64 + 1.0);
        let draws = match self.observations {
            Some(draws) => draws,
            None if affordable < share * MIN_DRAWS as f64 => return None,
            None => (affordable as u64).clamp(MIN_DRAWS, 200_000),
        };
        let draws = usize::try_from(draws).unwrap_or(usize::MAX);
        Some(ExactPair { method, draws, significance })
    }
}

const TOO_LONG: &str = "too long to sample by default; specify a number of observations";

fn closed_lower(training: &Training, given: Given) -> AccountingResult {
    Shuffle(ShuffleMethod::Best).account(&Query::lower(*training, given))
}

/// The proven bound without samples.
fn closed_form(training: &Training, given: Given, reason: &str) -> Result<PairRows, EngineError> {
    let lower = closed_lower(training, given)?;
    Ok(PairRows { lower, estimate: Cell::missing(reason), observations: 0 })
}
