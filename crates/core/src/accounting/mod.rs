//! Privacy accounting: an [`Accountant`] answers a [`Query`] about a [`Training`] run with an
//! [`Accounted`] value.
//!
//! | batches | accountant | upper bound | lower bound |
//! |---|---|---|---|
//! | each record in each batch with probability q | [`Poisson`] | mechanism | mechanism |
//! | Poisson batches under replacement | [`PoissonReplace`] | mechanism | mechanism |
//! | Poisson batches, at most B records kept | [`TruncatedPoisson`] | mechanism | mechanism |
//! | a random subset of fixed size in each step | [`FixedSize`] | mechanism | mechanism |
//! | each record in one random batch of each epoch | [`BallsInBins`] | mechanism | mechanism |
//! | each record in k random batches of each epoch | [`RandomAllocation`] | mechanism | a statistic |
//! | the same batches in each epoch | [`Deterministic`] | also for every shuffle | for this order only |
//! | shuffled in each epoch | [`Shuffle`] | deterministic, or the pair's own | closed forms |
//! | shuffled once | [`PersistentShuffle`] | deterministic, or the pair's own | closed forms |
//! | a record that may be absent from an epoch | [`shuffle::TargetSlots`] | – | closed forms |
//! | shuffled, by sampling the exact pair | [`pair::SeededPair`] | – | with confidence, and an estimate |
//!
//! Runs of several phases, such as events of other accountants, are composed by [`account_phases`].
//! Votes of teachers (PATE) are accounted for in [`pate`], noise that is correlated between steps
//! (DP-FTRL) in [`matrix`].
//!
//! [`accountant`] returns the proven one for a sampler; [`calibrate`] inverts any of them. [`BOUNDS`] is
//! the table of all that commands and pages show. A new sampler is a file that implements
//! [`Accountant`], a row of [`accountant`] and its rows of [`BOUNDS`].
//!
//! These bounds are proven, or hold with confidence for draws of a known pair; bounds from training
//! runs are in [`audit`](crate::audit).

mod accountant;
mod answer;
mod balls_in_bins;
mod bounds;
mod bracket;
mod calibration;
pub(crate) mod deterministic;
mod error;
mod fft;
mod fixed_size;
mod kind;
mod known_draws;
pub mod matrix;
pub mod pair;
pub mod pate;
mod phases;
mod pld;
pub(crate) mod poisson;
mod poisson_replace;
mod proven;
mod query;
mod random_allocation;
mod resolution;
mod samplers;
mod schedule;
mod search;
pub mod shuffle;
mod spectrum;
mod truncated_poisson;

pub use accountant::Accountant;
pub use answer::{Accounted, AccountingResult, Cell};
pub use balls_in_bins::BallsInBins;
pub use bounds::{BOUNDS, BoundRow, Cost, KnownBound, Setting, deciding_bounds};
pub use calibration::{
    Calibrated, Calibration, CalibrationError, Parameter, PrivacyTarget, SearchRange, calibrate,
};
pub(crate) use calibration::{error_near, noise_above};
pub use deterministic::Deterministic;
pub use error::AccountingError;
pub use fixed_size::FixedSize;
pub use kind::{Kind, Method};
pub use phases::{Phase, PhasesEpsilon, account_phases};
pub use pld::{PrivacyLossDistribution, Rounding, TradeOffPoint};
pub use poisson::Poisson;
pub use poisson_replace::PoissonReplace;
pub use query::{Given, Query, Training};
pub use random_allocation::RandomAllocation;
pub use samplers::{account, accountant};
#[cfg(feature = "serde")]
pub(crate) use schedule::is_zero;
pub use schedule::{EpochLength, RunLength, Schedule};
pub use shuffle::{PersistentShuffle, Shuffle, ShuffleMethod};
pub use truncated_poisson::TruncatedPoisson;

pub use crate::adjacency::Directions;
