//! A training, and what each accountant says of it.

use super::{Accounted, Kind, ToAccounted};
use crate::accounting::shuffle::{self, ShuffleRun};
use crate::accounting::{
    AccountingError, BallsInBins, DeterministicBatches, Directions, PoissonSampling,
};
use crate::adjacency::Scope;
use crate::mechanism::BatchedGaussian;

/// A training: σ, T batches an epoch, E epochs.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Setting {
    /// σ.
    pub noise_multiplier: f64,
    /// T.
    pub steps: u64,
    /// E.
    pub epochs: u64,
}

/// Which of ε and δ is given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum At {
    /// δ, in (0, 1).
    Delta(f64),
    /// ε, nats.
    Epsilon(f64),
}

/// A closed form of shuffled batches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShuffleMethod {
    /// The largest output of each epoch.
    MaxSlice,
    /// The sum of the outputs of each epoch.
    Sum,
    /// Whichever says more.
    Best,
}

/// A value, or why there is none.
pub type Found = Result<Accounted, AccountingError>;

/// Wanted errors of an accountant, nats for ε and relative for δ: the next one where the grid of
/// one would be too large. That of balls-in-bins is slower to refine, and relative above 1 nat.
const ERRORS: [f64; 4] = [1e-4, 1e-3, 1e-2, 1e-1];
const BALLS_IN_BINS_ERRORS: [f64; 3] = [1e-3, 1e-2, 1e-1];

impl Setting {
    /// Of a mechanism, whatever draws its batches.
    #[must_use]
    pub fn of(mechanism: &BatchedGaussian) -> Self {
        Setting {
            noise_multiplier: mechanism.noise_multiplier,
            steps: mechanism.steps_per_epoch.into(),
            epochs: mechanism.epochs.into(),
        }
    }

    /// What a user claims who accounts as if batches were Poisson sampled, q = 1/T.
    ///
    /// # Errors
    /// An argument outside its domain, or a grid that would be too large.
    pub fn poisson(self, at: At) -> Found {
        self.poisson_sampled(None, at, Kind::Upper, Directions::Both)
    }

    /// The same, either side; the rate is 1/T if not given.
    ///
    /// # Errors
    /// An argument outside its domain, or a grid that would be too large.
    pub fn poisson_sampled(
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
    #[must_use]
    pub fn as_poisson(self, sampling_rate: Option<f64>) -> PoissonSampling {
        let sampling_rate = sampling_rate.unwrap_or(1.0 / self.steps as f64);
        let steps = self.steps.saturating_mul(self.epochs);
        PoissonSampling { noise_multiplier: self.noise_multiplier, sampling_rate, steps }
    }

    /// Balls-in-bins batches, either side.
    ///
    /// # Errors
    /// An argument outside its domain, or a grid that would be too large.
    pub fn balls_in_bins(self, at: At, side: Kind, directions: Directions) -> Found {
        let Setting { noise_multiplier, steps, epochs } = self;
        let training = BallsInBins { noise_multiplier, steps_per_epoch: steps, epochs };
        let errors = &BALLS_IN_BINS_ERRORS;
        match (at, side) {
            (At::Delta(delta), Kind::Lower) => {
                finest(errors, delta, &|error| training.epsilon_lower(delta, directions, error))
            }
            (At::Delta(delta), _) => {
                finest(errors, delta, &|error| training.epsilon_upper(delta, directions, error))
            }
            (At::Epsilon(epsilon), Kind::Lower) => {
                finest(errors, epsilon, &|error| training.delta_lower(epsilon, directions, error))
            }
            (At::Epsilon(epsilon), _) => {
                finest(errors, epsilon, &|error| training.delta_upper(epsilon, directions, error))
            }
        }
    }

    /// What is proven of every way to shuffle, from above: deterministic batches.
    ///
    /// # Errors
    /// An argument outside its domain, or a grid that would be too large.
    pub fn deterministic(self, at: At) -> Found {
        let training = self.as_deterministic();
        finite(match at {
            At::Delta(delta) => training.epsilon_upper(delta)?.at(delta),
            At::Epsilon(epsilon) => training.delta_upper(epsilon)?.at(epsilon),
        })
    }

    /// The same from below, which says nothing of a shuffle.
    ///
    /// # Errors
    /// An argument outside its domain, or a grid that would be too large.
    pub fn deterministic_lower(self, at: At) -> Found {
        let training = self.as_deterministic();
        let row = match at {
            At::Delta(delta) => training.epsilon_lower(delta)?.at(delta),
            At::Epsilon(epsilon) => training.delta_lower(epsilon)?.at(epsilon),
        };
        finite(Accounted { scope: Scope::Pair, ..row })
    }

    /// The same training with the same batches in every epoch.
    #[must_use]
    pub fn as_deterministic(self) -> DeterministicBatches {
        let Setting { noise_multiplier, epochs, .. } = self;
        DeterministicBatches { noise_multiplier, epochs }
    }

    /// A proven lower bound of shuffled batches, a new order each epoch.
    ///
    /// # Errors
    /// An argument outside its domain, or a grid that would be too large.
    pub fn shuffle_lower(self, at: At, method: ShuffleMethod) -> Found {
        shuffle_lower(&self.as_shuffle(), at, method)
    }

    /// The same with one order for all epochs.
    ///
    /// # Errors
    /// An argument outside its domain, or a grid that would be too large.
    pub fn persistent_shuffle_lower(self, at: At, method: ShuffleMethod) -> Found {
        self.persistent(shuffle_lower(&self.as_shuffle().persistent(), at, method))
    }

    /// The upper value of its pair; the noise is rounded down, which is up in ε.
    ///
    /// # Errors
    /// An argument outside its domain, or a grid that would be too large.
    pub fn persistent_pair_upper(self, at: At) -> Found {
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
    ///
    /// # Errors
    /// An argument outside its domain, or a grid that would be too large.
    pub fn pair_upper(self, at: At) -> Found {
        pair_upper(&self.as_shuffle(), at)
    }

    /// The same training with shuffled batches.
    #[must_use]
    pub fn as_shuffle(self) -> ShuffleRun {
        let Setting { noise_multiplier, steps, epochs } = self;
        ShuffleRun { noise_multiplier, steps_per_epoch: steps, epochs }
    }
}

fn poisson(training: PoissonSampling, at: At, side: Kind, directions: Directions) -> Found {
    let errors = &ERRORS;
    match (at, side) {
        (At::Delta(delta), Kind::Lower) => {
            finest(errors, delta, &|error| training.epsilon_lower(delta, directions, error))
        }
        (At::Delta(delta), _) => {
            finest(errors, delta, &|error| training.epsilon_upper(delta, directions, error))
        }
        (At::Epsilon(epsilon), Kind::Lower) => {
            finest(errors, epsilon, &|error| training.delta_lower(epsilon, directions, error))
        }
        (At::Epsilon(epsilon), _) => {
            finest(errors, epsilon, &|error| training.delta_upper(epsilon, directions, error))
        }
    }
}

/// The value at the first error whose grid is not too large, beside what was given.
fn finest<T: ToAccounted>(
    errors: &[f64],
    given: f64,
    value: &dyn Fn(f64) -> Result<T, AccountingError>,
) -> Found {
    let too_fine = |found: &Result<T, AccountingError>| {
        matches!(
            found,
            Err(AccountingError::Grid { .. } | AccountingError::Argument { name: "error", .. })
        )
    };
    let mut found = value(errors.first().copied().unwrap_or(1.0));
    for &error in errors.iter().skip(1) {
        if !too_fine(&found) {
            break;
        }
        found = value(error);
    }
    finite(found?.at(given))
}

fn shuffle_lower(run: &ShuffleRun, at: At, method: ShuffleMethod) -> Found {
    finite(match at {
        At::Delta(delta) => match method {
            ShuffleMethod::MaxSlice => shuffle::max_slice_epsilon(run, delta),
            ShuffleMethod::Sum => shuffle::sum_epsilon(run, delta),
            ShuffleMethod::Best => shuffle::best_epsilon(run, delta),
        }?
        .at(delta),
        At::Epsilon(epsilon) => match method {
            ShuffleMethod::MaxSlice => shuffle::max_slice_delta(run, epsilon),
            ShuffleMethod::Sum => shuffle::sum_delta(run, epsilon),
            ShuffleMethod::Best => shuffle::best_delta(run, epsilon),
        }?
        .at(epsilon),
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
