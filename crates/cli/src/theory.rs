//! What theory says of a training set-up: the rows that a report sets beside an audit.

use dpscope_core::accounting::pair::Sampling;
use dpscope_core::accounting::shuffle::{self, ShuffleRun};
use dpscope_core::accounting::{
    AccountingError, BallsInBins, DeterministicBatches, Directions, PoissonSampling,
};
use dpscope_core::bound::Scope;
use dpscope_core::mechanism::BatchedGaussian;
use dpscope_engine::{Backend, EngineError, pair};
use serde::Serialize;

use crate::progress::Terminal;
use crate::report::{Accounted, Kind, ToAccounted, given};

/// A training: σ, T batches an epoch, E epochs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Setting {
    pub(crate) noise_multiplier: f64,
    pub(crate) steps: u64,
    pub(crate) epochs: u64,
}

/// Which of ε and δ is given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum At {
    Delta(f64),
    Epsilon(f64),
}

/// A closed form of shuffled batches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ShuffleMethod {
    /// The largest output of each epoch.
    MaxSlice,
    /// The sum of the outputs of each epoch.
    Sum,
    /// Whichever says more.
    Best,
}

pub(crate) type Found = Result<Accounted, AccountingError>;

/// Wanted errors of an accountant, nats for ε and relative for δ: the next one where the grid of one
/// would be too large. That of balls-in-bins is slow to refine.
const ERRORS: [f64; 4] = [1e-4, 1e-3, 1e-2, 1e-1];
const BALLS_IN_BINS_ERRORS: [f64; 2] = [1e-2, 1e-1];

impl Setting {
    /// Of a mechanism, whatever draws its batches.
    pub(crate) fn of(mechanism: &BatchedGaussian) -> Self {
        Setting {
            noise_multiplier: mechanism.noise_multiplier,
            steps: mechanism.steps_per_epoch.into(),
            epochs: mechanism.epochs.into(),
        }
    }

    /// What a user claims who accounts as if batches were Poisson sampled, q = 1/T.
    pub(crate) fn poisson(self, at: At) -> Found {
        self.poisson_sampled(None, at, Kind::Upper, Directions::Both)
    }

    /// The same, either side; the rate is 1/T if not given.
    pub(crate) fn poisson_sampled(
        self,
        sampling_rate: Option<f64>,
        at: At,
        side: Kind,
        directions: Directions,
    ) -> Found {
        let found = poisson(self.as_poisson(sampling_rate), at, side, directions);
        // what was given is T, not what follows from it
        found.map_err(|error| match error {
            AccountingError::Argument { name: "sampling_rate", .. } if sampling_rate.is_none() => {
                let allowed = "at most 1e9: the sampling rate is one over it";
                AccountingError::Argument { name: "steps", value: self.steps as f64, allowed }
            }
            AccountingError::Argument { name: "steps", value, .. } => {
                let allowed = "at most 1e9 in all epochs together";
                AccountingError::Argument { name: "steps", value, allowed }
            }
            error => error,
        })
    }

    /// The same training with Poisson sampled batches; the rate is 1/T if not given.
    pub(crate) fn as_poisson(self, sampling_rate: Option<f64>) -> PoissonSampling {
        let sampling_rate = sampling_rate.unwrap_or(1.0 / self.steps as f64);
        let steps = self.steps.saturating_mul(self.epochs);
        PoissonSampling { noise_multiplier: self.noise_multiplier, sampling_rate, steps }
    }

    /// Balls-in-bins batches, either side.
    pub(crate) fn balls_in_bins(self, at: At, side: Kind, directions: Directions) -> Found {
        let Setting { noise_multiplier, steps, epochs } = self;
        let training = BallsInBins { noise_multiplier, steps_per_epoch: steps, epochs };
        finest(&BALLS_IN_BINS_ERRORS, |error| {
            Ok(match (at, side) {
                (At::Delta(delta), Kind::Lower) => {
                    training.epsilon_lower(delta, directions, error)?.at(delta)
                }
                (At::Delta(delta), _) => {
                    training.epsilon_upper(delta, directions, error)?.at(delta)
                }
                (At::Epsilon(epsilon), Kind::Lower) => {
                    training.delta_lower(epsilon, directions, error)?.at(epsilon)
                }
                (At::Epsilon(epsilon), _) => {
                    training.delta_upper(epsilon, directions, error)?.at(epsilon)
                }
            })
        })
    }

    /// What is proven of every way to shuffle, from above: deterministic batches.
    pub(crate) fn deterministic(self, at: At) -> Found {
        let training = self.as_deterministic();
        finite(match at {
            At::Delta(delta) => training.epsilon_upper(delta)?.at(delta),
            At::Epsilon(epsilon) => training.delta_upper(epsilon)?.at(epsilon),
        })
    }

    /// The same from below, which says nothing of a shuffle.
    pub(crate) fn deterministic_lower(self, at: At) -> Found {
        let training = self.as_deterministic();
        let row = match at {
            At::Delta(delta) => training.epsilon_lower(delta)?.at(delta),
            At::Epsilon(epsilon) => training.delta_lower(epsilon)?.at(epsilon),
        };
        finite(Accounted { scope: Scope::Pair, ..row })
    }

    pub(crate) fn as_deterministic(self) -> DeterministicBatches {
        let Setting { noise_multiplier, epochs, .. } = self;
        DeterministicBatches { noise_multiplier, epochs }
    }

    /// A proven lower bound of shuffled batches, a new order each epoch.
    pub(crate) fn shuffle_lower(self, at: At, method: ShuffleMethod) -> Found {
        shuffle_lower(&self.as_shuffle(), at, method)
    }

    /// The same with one order for all epochs.
    pub(crate) fn persistent_shuffle_lower(self, at: At, method: ShuffleMethod) -> Found {
        self.persistent(shuffle_lower(&self.as_shuffle().persistent(), at, method))
    }

    /// The upper value of its pair; the noise is rounded down, which is up in ε.
    pub(crate) fn persistent_pair_upper(self, at: At) -> Found {
        let run = self.as_shuffle().persistent();
        let noise_multiplier = run.noise_multiplier * (1.0 - 8.0 * f64::EPSILON);
        self.persistent(pair_upper(&ShuffleRun { noise_multiplier, ..run }, at))
    }

    /// Tells of the noise that was given, where that of one epoch with the same leakage is refused.
    fn persistent(self, found: Found) -> Found {
        found.map_err(|error| match error {
            AccountingError::Argument { name, .. }
                if name == "noise_multiplier" && self.epochs > 1 =>
            {
                let allowed = "between 0.01 and 1e6 when divided by the root of the epochs";
                AccountingError::Argument { name, value: self.noise_multiplier, allowed }
            }
            error => error,
        })
    }

    /// The pair's upper value: of the mechanism only where the scope says so.
    pub(crate) fn pair_upper(self, at: At) -> Found {
        pair_upper(&self.as_shuffle(), at)
    }

    pub(crate) fn as_shuffle(self) -> ShuffleRun {
        let Setting { noise_multiplier, steps, epochs } = self;
        ShuffleRun { noise_multiplier, steps_per_epoch: steps, epochs }
    }
}

fn poisson(training: PoissonSampling, at: At, side: Kind, directions: Directions) -> Found {
    finest(&ERRORS, |error| {
        Ok(match (at, side) {
            (At::Delta(delta), Kind::Lower) => {
                training.epsilon_lower(delta, directions, error)?.at(delta)
            }
            (At::Delta(delta), _) => training.epsilon_upper(delta, directions, error)?.at(delta),
            (At::Epsilon(epsilon), Kind::Lower) => {
                training.delta_lower(epsilon, directions, error)?.at(epsilon)
            }
            (At::Epsilon(epsilon), _) => {
                training.delta_upper(epsilon, directions, error)?.at(epsilon)
            }
        })
    })
}

/// The value at the first error whose grid is not too large.
fn finest(errors: &[f64], value: impl Fn(f64) -> Found) -> Found {
    let too_fine = |found: &Found| {
        matches!(
            found,
            Err(AccountingError::Grid { .. } | AccountingError::Argument { name: "error", .. })
        )
    };
    let (last, finer) = errors.split_last().unwrap_or((&1.0, &[]));
    let found = finer.iter().map(|error| value(*error)).find(|found| !too_fine(found));
    finite(found.unwrap_or_else(|| value(*last))?)
}

fn shuffle_lower(run: &ShuffleRun, at: At, method: ShuffleMethod) -> Found {
    finite(match (at, method) {
        (At::Delta(delta), ShuffleMethod::MaxSlice) => {
            shuffle::max_slice_epsilon(run, delta)?.at(delta)
        }
        (At::Delta(delta), ShuffleMethod::Sum) => shuffle::sum_epsilon(run, delta)?.at(delta),
        (At::Delta(delta), ShuffleMethod::Best) => shuffle::best_epsilon(run, delta)?.at(delta),
        (At::Epsilon(epsilon), ShuffleMethod::MaxSlice) => {
            shuffle::max_slice_delta(run, epsilon)?.at(epsilon)
        }
        (At::Epsilon(epsilon), ShuffleMethod::Sum) => shuffle::sum_delta(run, epsilon)?.at(epsilon),
        (At::Epsilon(epsilon), ShuffleMethod::Best) => {
            shuffle::best_delta(run, epsilon)?.at(epsilon)
        }
    })
}

fn pair_upper(run: &ShuffleRun, at: At) -> Found {
    finite(match at {
        At::Delta(delta) => shuffle::pair_upper_epsilon(run, delta)?.at(delta),
        At::Epsilon(epsilon) => shuffle::pair_upper_delta(run, epsilon)?.at(epsilon),
    })
}

/// Refuses what no report could show.
fn finite(row: Accounted) -> Found {
    if row.epsilon.is_finite() && row.delta.is_finite() {
        return Ok(row);
    }
    let allowed = "larger: there is no finite epsilon at this delta";
    Err(AccountingError::Argument { name: "delta", value: row.delta, allowed })
}

/// How the exact pair is drawn.
pub(crate) struct PairSampler<'a> {
    pub(crate) backend: &'a Backend,
    /// No bar.
    pub(crate) quiet: bool,
    pub(crate) seed: u64,
    /// As many as take well under a second, if not given.
    pub(crate) observations: Option<u64>,
    pub(crate) significance: f64,
    /// Whether many epochs are drawn as whole runs, whose limit goes beyond the closed form.
    pub(crate) whole_runs: bool,
}

/// What sampling says of the exact pair.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct PairRows {
    /// Rigorous; the closed form where nothing was drawn.
    pub(crate) lower: Accounted,
    pub(crate) estimate: Cell,
    /// Drawn for the lower limit: epochs, or whole runs.
    pub(crate) observations: u64,
}

/// A row of a table: a value, or why there is none.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub(crate) enum Cell {
    Value(Accounted),
    Missing { reason: String },
}

/// Why an accountant gives no value, without advice that no option takes.
pub(crate) fn reason(error: &AccountingError) -> String {
    match error {
        AccountingError::Grid { most, .. } => {
            format!("the privacy loss would need a grid of more than {most} points")
        }
        AccountingError::Argument { name, value, allowed } => {
            format!("{name} is {}; it must be {allowed}", given(*value))
        }
        _ => error.to_string(),
    }
}

impl From<Found> for Cell {
    fn from(found: Found) -> Self {
        match found {
            Ok(row) => Cell::Value(row),
            Err(error) => Cell::Missing { reason: reason(&error) },
        }
    }
}

impl Cell {
    pub(crate) fn value(&self) -> Option<&Accounted> {
        match self {
            Cell::Value(row) => Some(row),
            Cell::Missing { .. } => None,
        }
    }

    pub(crate) fn missing(reason: &str) -> Self {
        Cell::Missing { reason: reason.to_owned() }
    }
}

/// Fewest draws that a sampler takes.
const FEWEST_DRAWS: u64 = 1_000;

/// Normals that are drawn in a fraction of a second, by the sampler of one epoch and by the others.
const ONE_EPOCH: f64 = 2e7;
const MANY_EPOCHS: f64 = 1e7;

impl PairSampler<'_> {
    /// A rigorous lower limit and an estimate of the pair, remove direction.
    pub(crate) fn rows(&self, setting: Setting, at: At) -> Result<PairRows, EngineError> {
        let run = setting.as_shuffle();
        let terminal = Terminal::new(self.quiet, None);
        terminal.say("drawing the exact pair");
        match at {
            At::Delta(delta) if run.epochs == 1 => self.one_epoch(&run, delta, &terminal),
            At::Epsilon(epsilon) if run.epochs == 1 => {
                self.one_epoch_delta(&run, epsilon, &terminal)
            }
            _ => self.many_epochs(&run, at, &terminal),
        }
    }

    fn one_epoch(
        &self,
        run: &ShuffleRun,
        delta: f64,
        terminal: &Terminal,
    ) -> Result<PairRows, EngineError> {
        let Some(sampling) = self.sampling(run.steps_per_epoch, ONE_EPOCH, 0.1) else {
            return closed_form(run, At::Delta(delta), TOO_LONG);
        };
        let found = pair::epsilon(run, delta, sampling, self.seed, self.backend, terminal)?;
        Ok(PairRows {
            lower: found.lower.at(delta),
            estimate: Cell::Value(found.estimate.at(delta)),
            observations: sampling.draws as u64,
        })
    }

    fn one_epoch_delta(
        &self,
        run: &ShuffleRun,
        epsilon: f64,
        terminal: &Terminal,
    ) -> Result<PairRows, EngineError> {
        let Some(sampling) = self.sampling(run.steps_per_epoch, ONE_EPOCH, 0.1) else {
            return closed_form(run, At::Epsilon(epsilon), TOO_LONG);
        };
        let found = pair::delta(run, epsilon, sampling, self.seed, self.backend, terminal)?;
        Ok(PairRows {
            lower: found.lower.at(epsilon),
            estimate: Cell::Value(found.estimate.at(epsilon)),
            observations: sampling.draws as u64,
        })
    }

    /// Whole runs for the limit, the composed law of one epoch for the estimate.
    fn many_epochs(
        &self,
        run: &ShuffleRun,
        at: At,
        terminal: &Terminal,
    ) -> Result<PairRows, EngineError> {
        let Some(plug_in) = self.sampling(run.steps_per_epoch, MANY_EPOCHS, 0.1) else {
            return closed_form(run, at, TOO_LONG);
        };
        let length = run.steps_per_epoch.saturating_mul(run.epochs);
        let whole = self.sampling(length, 0.4 * MANY_EPOCHS, 1.0).filter(|_| self.whole_runs);
        let (lower, observations) = match whole {
            None => (shuffle_lower(run, at, ShuffleMethod::Best)?, 0),
            Some(whole) => (self.runs_lower(run, at, whole, terminal)?, whole.draws as u64),
        };
        let estimate = match self.plug_in(run, at, plug_in.draws, terminal) {
            Ok(estimate) => Cell::Value(estimate),
            // A limit stands without an estimate.
            Err(EngineError::Accounting(error)) => Cell::Missing { reason: reason(&error) },
            Err(error) => return Err(error),
        };
        Ok(PairRows { lower, estimate, observations })
    }

    fn runs_lower(
        &self,
        run: &ShuffleRun,
        at: At,
        whole: Sampling,
        terminal: &Terminal,
    ) -> Result<Accounted, EngineError> {
        let (seed, backend) = (self.seed, self.backend);
        Ok(match at {
            At::Delta(delta) => {
                pair::runs_epsilon(run, delta, whole, seed, backend, terminal)?.lower.at(delta)
            }
            At::Epsilon(epsilon) => {
                pair::runs_delta(run, epsilon, whole, seed, backend, terminal)?.lower.at(epsilon)
            }
        })
    }

    fn plug_in(
        &self,
        run: &ShuffleRun,
        at: At,
        draws: usize,
        terminal: &Terminal,
    ) -> Result<Accounted, EngineError> {
        let (seed, backend) = (self.seed, self.backend);
        Ok(match at {
            At::Delta(delta) => {
                pair::plug_in_epsilon(run, delta, draws, seed, backend, terminal)?.at(delta)
            }
            At::Epsilon(epsilon) => {
                pair::plug_in_delta(run, epsilon, draws, seed, backend, terminal)?.at(epsilon)
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

const TOO_LONG: &str = "epochs so long are not drawn by default; --observations N draws N of them";

/// What is proven without draws.
fn closed_form(run: &ShuffleRun, at: At, reason: &str) -> Result<PairRows, EngineError> {
    let lower = shuffle_lower(run, at, ShuffleMethod::Best)?;
    Ok(PairRows { lower, estimate: Cell::missing(reason), observations: 0 })
}
