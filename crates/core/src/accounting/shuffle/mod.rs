//! Shuffled batches: lower bounds on ε in closed form, and the upper value of the pair.

mod best;
mod epochs;
pub(crate) mod max_slice;
pub(crate) mod maximum;
pub(crate) mod run;
mod slices;
pub(crate) mod sum;
mod target_slots;

pub use target_slots::TargetSlots;

use run::check_given;

use super::calibration::{PrivacyTarget, SearchRange};
use super::error::argument;
use super::{
    Accountant, Accounted, AccountingError, AccountingResult, Deterministic, Given, Kind,
    Parameter, Query, Training, deterministic,
};

/// The statistic of an epoch's outputs that a bound uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShuffleMethod {
    /// The largest output of each epoch.
    ///
    /// Lower bound for one epoch: max_C ln((mass(C, 2) − δ)/mass(C, 1)), mass(C, m) = 1 −
    /// Φ((C−m)/σ) Φ(C/σ)^{T−1}. Weak at large σ. Many epochs: slices of it, composed, or the bound
    /// of one epoch if that is larger, or if the grid of all would be too large.
    ///
    /// Upper bound: L ≤ (max_t x_t − 1.5)/σ² in every epoch, composed; tight at small σ. At large σ
    /// the answer is the smaller bound of deterministic batches, whose scope is the mechanism;
    /// otherwise the scope is the pair.
    MaxSlice,
    /// The sum of the outputs of each epoch, which is Gaussian in both worlds, for every slot:
    /// μ-GDP with μ = √(E/T)/σ. Lower bounds only.
    Sum,
    /// Lower bound: the larger of the two. Upper bound: deterministic batches, which is proven for
    /// the mechanism.
    Best,
}

/// The accountant of batches that are shuffled anew in every epoch.
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `noise_multiplier` | σ | [0.01, 1e6] |
/// | `steps_per_epoch` | T | 1 to 1e9 |
/// | `epochs` | E | 1 to 1e6 |
/// | `given` | δ | [1e-300, 1) |
/// | | or ε, nats | [0, 1e6] |
///
/// # Guarantee
/// A lower value is at most that of the pair, remove direction (both directions for sums), and so
/// of the mechanism (`tests/oracles/shuffle_theory.rs::one_epoch_lower_bounds`,
/// `tests/oracles/shuffle_theory.rs::sums_are_gaussian`). An upper value is at least that of the
/// pair, and that of the mechanism if the scope of the answer is the mechanism
/// (`tests/oracles/shuffle_theory.rs::upper_values_bracket_the_pair`).
///
/// # Errors
/// [`AccountingError::Argument`]; [`AccountingError::Grid`] for slices of many epochs;
/// [`AccountingError::NoValue`] for an estimate and for upper bounds from sums.
///
/// # Numerics
/// Closed forms are rounded outward by a limit of the floating-point error, about 1e-13; logarithms
/// throughout. Many epochs: δ is convex in e^{−L}, so mass is spread to both ends of a grid cell,
/// at an error of the square of the step.
///
/// # Reference
/// L. Chua et al. (ICML 2024), theorem 4.2, for one epoch from below; the threshold is refined
/// beyond a grid. L. Chua et al. (2024), arXiv 2411.04205, for slices; spreading instead of
/// rounding up is ours. The closed form of arXiv 2601.10237 for one epoch (at σ ≤ 1/√(2 ln T) the
/// trade-off curve is at least (1 − 1/√(4π ln T))/8 away from the diagonal) is implied by these values
/// (`tests/oracles/shuffle_theory.rs::a_published_separation_is_implied`), so it is no method of its
/// own.
///
/// # Example
/// ```
/// use dpscope_core::accounting::{Accountant, Given, Query, Shuffle, ShuffleMethod, Training};
/// let training =
///     Training { noise_multiplier: 0.5, steps_per_epoch: 100, epochs: 1, sampling_rate: None };
/// let delta = Given::Delta(1e-5);
/// let lower = Shuffle(ShuffleMethod::Best).account(&Query::lower(training, delta))?;
/// let upper = Shuffle(ShuffleMethod::Best).account(&Query::upper(training, delta))?;
/// assert_eq!(format!("{:.4} ≤ ε ≤ {:.4}", lower.epsilon, upper.epsilon), "9.9972 ≤ ε ≤ 9.9973");
/// # Ok::<(), dpscope_core::accounting::AccountingError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shuffle(pub ShuffleMethod);

/// The accountant of batches that are shuffled once, in the same order for every epoch.
///
/// As [`Shuffle`] for one epoch at σ/√E, which is equivalent: see [`Training::persistent`].
///
/// # Guarantee
/// As [`Shuffle`]
/// (`crates/core/src/accounting/shuffle/run.rs::persistent_run_is_one_epoch_of_less_noise`).
///
/// # Errors
/// As [`Shuffle`]; σ/√E must lie in its domain of σ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PersistentShuffle(pub ShuffleMethod);

impl Accountant for Shuffle {
    fn account(&self, query: &Query) -> AccountingResult {
        let Query { training, given, .. } = *query;
        match (query.kind, self.0) {
            (Kind::Lower, method) => lower(&training, given, method),
            (Kind::Upper, ShuffleMethod::Best) => return Deterministic.account(query),
            (Kind::Upper, ShuffleMethod::MaxSlice) => upper(&training, given),
            (Kind::Upper, ShuffleMethod::Sum) | (Kind::Estimate, _) => Err(query.refused()),
        }?
        .checked(query)
    }

    fn search_range(
        &self,
        parameter: Parameter,
        target: &PrivacyTarget,
        training: &Training,
    ) -> Result<Option<SearchRange>, AccountingError> {
        Deterministic.search_range(parameter, target, training)
    }
}

impl Accountant for PersistentShuffle {
    fn account(&self, query: &Query) -> AccountingResult {
        let Query { training, given, .. } = *query;
        let one_epoch = training.persistent();
        let answer = match (query.kind, self.0) {
            (Kind::Lower, method) => lower(&one_epoch, given, method),
            (Kind::Upper, ShuffleMethod::Best) => return Deterministic.account(query),
            (Kind::Upper, ShuffleMethod::MaxSlice) => {
                // rounding σ down rounds ε up
                let noise_multiplier = one_epoch.noise_multiplier * (1.0 - 8.0 * f64::EPSILON);
                upper(&Training { noise_multiplier, ..one_epoch }, given)
            }
            (Kind::Upper, ShuffleMethod::Sum) | (Kind::Estimate, _) => Err(query.refused()),
        };
        answer.and_then(|answer| answer.checked(query)).map_err(|error| match error {
            AccountingError::Argument { name: "noise_multiplier", .. } if training.epochs > 1 => {
                let allowed = "between 0.01 and 1e6 when divided by the root of the epochs";
                argument("noise_multiplier", training.noise_multiplier, allowed)
            }
            error => error,
        })
    }

    fn search_range(
        &self,
        parameter: Parameter,
        target: &PrivacyTarget,
        training: &Training,
    ) -> Result<Option<SearchRange>, AccountingError> {
        Deterministic.search_range(parameter, target, training)
    }
}

/// The lower bound for the pair.
pub(crate) fn lower(training: &Training, given: Given, method: ShuffleMethod) -> AccountingResult {
    training.check_shuffle()?;
    let slots = TargetSlots::from(*training);
    match method {
        ShuffleMethod::MaxSlice => epochs::lower(&slots, given),
        ShuffleMethod::Sum => sum::lower(training, 1.0, given),
        ShuffleMethod::Best => slots.lower(given),
    }
}

/// The upper value of the pair, or that of deterministic batches if it is smaller or the grid would
/// be too large.
fn upper(training: &Training, given: Given) -> AccountingResult {
    training.check_shuffle()?;
    check_given(given)?;
    let all = deterministic::upper(training, given)?;
    let is_smaller = |slices: &Accounted| slices.value(given) < all.value(given);
    match epochs::upper(training, given) {
        Ok(slices) if is_smaller(&slices) => Ok(slices),
        Ok(_) | Err(AccountingError::Grid { .. }) => Ok(all),
        Err(error) => Err(error),
    }
}
