//! How many draws of the exact pair a training can afford, and what they say.

use dpscope_core::accounting::pair::Sampling;
use dpscope_core::theory::{Accounted, At, Cell, Setting, ShuffleMethod, ToAccounted, reason};
use serde::Serialize;

use super::{plug_in_delta, plug_in_epsilon, runs_delta, runs_epsilon};
use crate::{Backend, Control, EngineError};

/// How the exact pair is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairSampler {
    /// Of the random stream.
    pub seed: u64,
    /// Draws; as many as take well under a second, if not given.
    pub observations: Option<u64>,
    /// Chance that the lower limit is wrong.
    pub significance: f64,
    /// Whether many epochs are drawn as whole runs, whose limit goes beyond the closed form.
    pub whole_runs: bool,
}

/// What sampling says of the exact pair.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PairRows {
    /// Rigorous; the closed form where nothing was drawn.
    pub lower: Accounted,
    /// Without coverage.
    pub estimate: Cell,
    /// Drawn for the lower limit: epochs, or whole runs.
    pub observations: u64,
}

/// Fewest draws that a sampler takes.
const FEWEST_DRAWS: u64 = 1_000;

/// Normals that are drawn in a fraction of a second, by the sampler of one epoch and by the others.
const ONE_EPOCH: f64 = 2e7;
const MANY_EPOCHS: f64 = 1e7;

/// Where draws are made, and who watches them.
type Where<'a> = (&'a Backend, &'a dyn Control);

impl PairSampler {
    /// A rigorous lower limit and an estimate of the pair, remove direction.
    ///
    /// # Guarantee
    /// As of [`epsilon`](super::epsilon), [`delta`](super::delta), [`runs_epsilon`], [`runs_delta`],
    /// [`plug_in_epsilon`] and [`plug_in_delta`]: the same for every device (`tests/agreement/pair.rs::results_depend_on_the_seed_alone`).
    ///
    /// # Errors
    /// An argument outside its domain; stopped by the caller.
    pub fn rows(
        &self,
        setting: Setting,
        at: At,
        backend: &Backend,
        control: &dyn Control,
    ) -> Result<PairRows, EngineError> {
        let place = (backend, control);
        if setting.epochs == 1 {
            self.one_epoch(setting, at, place)
        } else {
            self.many_epochs(setting, at, place)
        }
    }

    fn one_epoch(
        &self,
        setting: Setting,
        at: At,
        (backend, control): Where<'_>,
    ) -> Result<PairRows, EngineError> {
        let Some(sampling) = self.sampling(setting.steps, ONE_EPOCH, 0.1) else {
            return closed_form(setting, at, TOO_LONG);
        };
        let (run, seed) = (setting.as_shuffle(), self.seed);
        let (lower, estimate) = match at {
            At::Delta(delta) => {
                let found = super::epsilon(&run, delta, sampling, seed, backend, control)?;
                (found.lower.at(delta), found.estimate.at(delta))
            }
            At::Epsilon(epsilon) => {
                let found = super::delta(&run, epsilon, sampling, seed, backend, control)?;
                (found.lower.at(epsilon), found.estimate.at(epsilon))
            }
        };
        let observations = sampling.draws as u64;
        Ok(PairRows { lower, estimate: Cell::Value(estimate), observations })
    }

    /// Whole runs for the limit, the composed law of one epoch for the estimate.
    fn many_epochs(
        &self,
        setting: Setting,
        at: At,
        place: Where<'_>,
    ) -> Result<PairRows, EngineError> {
        let Some(plug_in) = self.sampling(setting.steps, MANY_EPOCHS, 0.1) else {
            return closed_form(setting, at, TOO_LONG);
        };
        let length = setting.steps.saturating_mul(setting.epochs);
        let whole = self.sampling(length, 0.4 * MANY_EPOCHS, 1.0).filter(|_| self.whole_runs);
        let whole = match whole {
            Some(whole) => Some((self.runs(setting, at, whole, place)?, whole.draws as u64)),
            None => None,
        };
        let (closed, estimate) = match self.plug_in(setting, at, plug_in.draws, place) {
            Ok((closed, estimate)) => (Ok(closed), Cell::Value(estimate)),
            // A limit stands without an estimate.
            Err(EngineError::Accounting(error)) => {
                let closed = setting.shuffle_lower(at, ShuffleMethod::Best);
                (closed, Cell::Missing { reason: reason(&error) })
            }
            Err(error) => return Err(error),
        };
        let (lower, observations) = match whole {
            Some(found) => found,
            None => (closed?, 0),
        };
        Ok(PairRows { lower, estimate, observations })
    }

    fn runs(
        &self,
        setting: Setting,
        at: At,
        whole: Sampling,
        (backend, control): Where<'_>,
    ) -> Result<Accounted, EngineError> {
        let (run, seed) = (setting.as_shuffle(), self.seed);
        Ok(match at {
            At::Delta(delta) => {
                runs_epsilon(&run, delta, whole, seed, backend, control)?.lower.at(delta)
            }
            At::Epsilon(epsilon) => {
                runs_delta(&run, epsilon, whole, seed, backend, control)?.lower.at(epsilon)
            }
        })
    }

    /// The closed form, and the estimate.
    fn plug_in(
        &self,
        setting: Setting,
        at: At,
        draws: usize,
        (backend, control): Where<'_>,
    ) -> Result<(Accounted, Accounted), EngineError> {
        let (run, seed) = (setting.as_shuffle(), self.seed);
        Ok(match at {
            At::Delta(delta) => {
                let found = plug_in_epsilon(&run, delta, draws, seed, backend, control)?;
                (found.lower.at(delta), found.estimate.at(delta))
            }
            At::Epsilon(epsilon) => {
                let found = plug_in_delta(&run, epsilon, draws, seed, backend, control)?;
                (found.lower.at(epsilon), found.estimate.at(epsilon))
            }
        })
    }

    /// As many draws as were asked for, else what `normals` allow; none where that is less than
    /// `share` of the fewest.
    fn sampling(&self, length: u64, normals: f64, share: f64) -> Option<Sampling> {
        let significance = self.significance;
        let affordable = normals / (length as f64 + 1.0);
        let draws = match self.observations {
            Some(asked) => asked,
            None if affordable < share * FEWEST_DRAWS as f64 => return None,
            None => (affordable as u64).clamp(FEWEST_DRAWS, 200_000),
        };
        Some(Sampling { draws: usize::try_from(draws).unwrap_or(usize::MAX), significance })
    }
}

const TOO_LONG: &str = "epochs so long are not drawn unless a number of observations is given";

/// What is proven without draws.
fn closed_form(setting: Setting, at: At, reason: &str) -> Result<PairRows, EngineError> {
    let lower = setting.shuffle_lower(at, ShuffleMethod::Best)?;
    Ok(PairRows { lower, estimate: Cell::missing(reason), observations: 0 })
}
