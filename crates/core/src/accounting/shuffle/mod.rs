//! Shuffled batches: lower bounds of ε in closed form, and the pair's upper value.

mod epochs;
pub(crate) mod max_slice;
pub(crate) mod maximum;
pub(crate) mod run;
mod slices;
pub(crate) mod sum;
mod target_slots;

pub use run::ShuffleRun;
use run::{check_delta, check_epsilon};
pub use target_slots::TargetSlots;
use target_slots::or_one_epoch;

use super::AccountingError;
use super::result::{DeltaLowerBound, DeltaUpperBound, EpsilonLowerBound, EpsilonUpperBound};

/// A lower bound of ε from the largest output of every epoch.
///
/// One epoch: max_C ln((mass(C, 2) − δ)/mass(C, 1)), mass(C, m) = 1 − Φ((C−m)/σ) Φ(C/σ)^{T−1}.
/// Weak at large σ: see [`sum_epsilon`].
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `run` | σ, T, E | see [`ShuffleRun`] |
/// | `delta` | δ | [1e-300, 1) |
///
/// # Guarantee
/// At most the ε of the pair, remove direction, and so of the mechanism
/// (`tests/oracles/shuffle_theory.rs::one_epoch_lower_bounds`).
///
/// # Errors
/// [`AccountingError::Argument`].
///
/// # Numerics
/// Rounded down by a limit of the floating-point error, about 1e-13; logarithms throughout.
///
/// # Reference
/// L. Chua et al. (ICML 2024), theorem 4.2; the cut is refined past a grid.
///
/// # Example
/// ```
/// use dpscope_core::accounting::shuffle::{ShuffleRun, max_slice_epsilon};
/// let run = ShuffleRun { noise_multiplier: 1.0, steps_per_epoch: 100, epochs: 1 };
/// assert_eq!(format!("{:.7}", max_slice_epsilon(&run, 1e-5)?.value()), "4.0631535");
/// # Ok::<(), dpscope_core::accounting::AccountingError>(())
/// ```
pub fn max_slice_epsilon(
    run: &ShuffleRun,
    delta: f64,
) -> Result<EpsilonLowerBound, AccountingError> {
    run.check()?;
    epochs::epsilon(&(*run).into(), delta)
}

/// A lower bound of δ from the largest output of every epoch; see [`max_slice_epsilon`].
///
/// # Errors
/// [`AccountingError::Argument`].
pub fn max_slice_delta(run: &ShuffleRun, epsilon: f64) -> Result<DeltaLowerBound, AccountingError> {
    run.check()?;
    epochs::delta(&(*run).into(), epsilon)
}

/// A lower bound of ε from the sums of the outputs of every epoch.
///
/// The sum of an epoch is Gaussian in both worlds, whatever the slot: μ-GDP with μ = √(E/T)/σ.
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `run` | σ, T, E | see [`ShuffleRun`] |
/// | `delta` | δ | [1e-300, 1) |
///
/// # Guarantee
/// At most the ε of the pair in both directions, and so of the mechanism
/// (`tests/oracles/shuffle_theory.rs::sums_are_gaussian`).
///
/// # Errors
/// [`AccountingError::Argument`].
///
/// # Numerics
/// Rounded down: δ at the result is checked to reach the wanted one.
///
/// # Example
/// ```
/// use dpscope_core::accounting::shuffle::{ShuffleRun, sum_epsilon};
/// let run = ShuffleRun { noise_multiplier: 5.0, steps_per_epoch: 100, epochs: 1 };
/// assert_eq!(format!("{:.4}", sum_epsilon(&run, 1e-5)?.value()), "0.0586");
/// # Ok::<(), dpscope_core::accounting::AccountingError>(())
/// ```
pub fn sum_epsilon(run: &ShuffleRun, delta: f64) -> Result<EpsilonLowerBound, AccountingError> {
    run.check()?;
    sum::epsilon(run, delta)
}

/// A lower bound of δ from the sums of the outputs of every epoch; see [`sum_epsilon`].
///
/// # Errors
/// [`AccountingError::Argument`].
pub fn sum_delta(run: &ShuffleRun, epsilon: f64) -> Result<DeltaLowerBound, AccountingError> {
    run.check()?;
    sum::delta(run, epsilon)
}

/// The larger of [`max_slice_epsilon`] and [`sum_epsilon`]; both are proven, so their maximum is.
///
/// Where the grid of the slices of many epochs would be too large, those of one epoch count.
///
/// # Errors
/// [`AccountingError::Argument`].
pub fn best_epsilon(run: &ShuffleRun, delta: f64) -> Result<EpsilonLowerBound, AccountingError> {
    TargetSlots::from(*run).epsilon_lower(delta)
}

/// The larger of [`max_slice_delta`] and [`sum_delta`]; see [`best_epsilon`].
///
/// # Errors
/// [`AccountingError::Argument`].
pub fn best_delta(run: &ShuffleRun, epsilon: f64) -> Result<DeltaLowerBound, AccountingError> {
    run.check()?;
    let slice = or_one_epoch(&(*run).into(), |run| epochs::delta(run, epsilon))?;
    let sum = sum::delta(run, epsilon)?;
    Ok(if slice.value() > sum.value() { slice } else { sum })
}

/// An upper bound of the pair's ε.
///
/// L ≤ (max_t x_t − 1.5)/σ² in every epoch, composed; tight at small σ, useless at large, where it is
/// more than deterministic batching, whose bound is returned then: it has scope mechanism.
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `run` | σ, T, E | see [`ShuffleRun`] |
/// | `delta` | δ | [1e-300, 1) |
///
/// # Guarantee
/// At least the ε of the pair, remove direction; of the mechanism only where the result's scope says
/// so (`tests/oracles/shuffle_theory.rs::upper_values_bracket_the_pair`).
///
/// # Errors
/// [`AccountingError::Argument`], [`AccountingError::Grid`].
///
/// # Numerics
/// Rounded up; δ is convex in e^{−L}, so mass is spread to both ends of a grid cell, at an error of
/// the square of the step.
///
/// # Reference
/// L. Chua et al. (2024), arXiv 2411.04205, for slices; the spread instead of rounding up is ours.
///
/// # Example
/// ```
/// use dpscope_core::accounting::shuffle::{ShuffleRun, pair_upper_epsilon};
/// let run = ShuffleRun { noise_multiplier: 0.5, steps_per_epoch: 100, epochs: 1 };
/// assert_eq!(format!("{:.4}", pair_upper_epsilon(&run, 1e-5)?.value()), "9.9973");
/// # Ok::<(), dpscope_core::accounting::AccountingError>(())
/// ```
pub fn pair_upper_epsilon(
    run: &ShuffleRun,
    delta: f64,
) -> Result<EpsilonUpperBound, AccountingError> {
    run.check()?;
    check_delta(delta)?;
    let all = run.deterministic().epsilon_upper(delta)?;
    smaller(epochs::upper_epsilon(run, delta), all, EpsilonUpperBound::value)
}

/// An upper bound of the pair's δ; see [`pair_upper_epsilon`].
///
/// # Errors
/// [`AccountingError::Argument`], [`AccountingError::Grid`].
pub fn pair_upper_delta(
    run: &ShuffleRun,
    epsilon: f64,
) -> Result<DeltaUpperBound, AccountingError> {
    run.check()?;
    check_epsilon(epsilon)?;
    let all = run.deterministic().delta_upper(epsilon)?;
    smaller(epochs::upper_delta(run, epsilon), all, DeltaUpperBound::value)
}

/// The smaller of two bounds, the second where the first would need too large a grid.
fn smaller<T>(
    slices: Result<T, AccountingError>,
    all: T,
    value: impl Fn(&T) -> f64,
) -> Result<T, AccountingError> {
    match slices {
        Ok(slices) if value(&slices) < value(&all) => Ok(slices),
        Ok(_) | Err(AccountingError::Grid { .. }) => Ok(all),
        Err(error) => Err(error),
    }
}
