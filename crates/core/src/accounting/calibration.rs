//! Noise, steps or epochs for a wanted ε and δ.

use std::ops::RangeInclusive;

use super::error::argument;
use super::{AccountingError, BallsInBins, DeterministicBatches, Directions, PoissonSampling};
use crate::math;

/// The privacy that is wanted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PrivacyTarget {
    /// ε, nats, in [1e-6, 1e4].
    pub epsilon: f64,
    /// δ, in (0, 1).
    pub delta: f64,
    /// How far below ε the result may stay, nats, in [1e-9, 1].
    pub error: f64,
}

/// A value of one argument, and the ε that it gives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calibrated {
    /// The value: a noise multiplier, or a number of steps or epochs.
    pub value: f64,
    /// The upper bound of ε there; at most the target's.
    pub epsilon: f64,
}

/// The least noise multiplier with which Poisson sampled batches are (ε, δ)-DP.
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `target` | ε, δ, error | see [`PrivacyTarget`] |
/// | `sampling_rate` | q | (0, 1] |
/// | `steps` | steps in all | 1 … 10⁹ |
///
/// # Guarantee
/// ε at the result, rounded up, is at most the target, and above it less `error`
/// (`tests/oracles/accounting.rs::calibrated_noise_is_the_golden_one`).
///
/// # Errors
/// [`AccountingError::Argument`]; [`AccountingError::Unreachable`] where no value in [0.05, 1e4]
/// gives the target.
///
/// # Example
/// ```
/// use dpscope_core::accounting::{PrivacyTarget, poisson_noise};
/// let target = PrivacyTarget { epsilon: 4.0, delta: 1e-5, error: 1e-3 };
/// let noise = poisson_noise(target, 0.01, 100)?;
/// assert_eq!(format!("{:.3}", noise.value), "0.591");
/// # Ok::<(), dpscope_core::accounting::AccountingError>(())
/// ```
pub fn poisson_noise(
    target: PrivacyTarget,
    sampling_rate: f64,
    steps: u64,
) -> Result<Calibrated, AccountingError> {
    let width = sampling_rate * (steps as f64).sqrt();
    let start = target.epsilon / (4.0 * width) + 1.0 / (0.3 + 0.6 * target.epsilon.sqrt());
    let start = 1.0 / (1.0 / start).clamp(0.3, 100.0);
    least_noise(target, 1e-4..=20.0, start, &|noise_multiplier, error| {
        let training = PoissonSampling { noise_multiplier, sampling_rate, steps };
        let bound = training.epsilon_upper(target.delta, Directions::Both, error)?;
        Ok(bound.value())
    })
}

/// The most steps for which Poisson sampled batches are (ε, δ)-DP.
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `target` | ε, δ, error | see [`PrivacyTarget`] |
/// | `noise_multiplier` | σ | [0.01, 1e4] |
/// | `sampling_rate` | q | (0, 1] |
///
/// # Guarantee
/// ε after that many steps is at most the target, and one step more would exceed it or come within
/// `error` of it (`tests/oracles/accounting.rs::calibrated_steps_use_the_target_up`).
///
/// # Errors
/// [`AccountingError::Argument`]; [`AccountingError::Unreachable`] where one step is too many or
/// 10⁸ are too few.
pub fn poisson_steps(
    target: PrivacyTarget,
    noise_multiplier: f64,
    sampling_rate: f64,
) -> Result<Calibrated, AccountingError> {
    let search = Search { name: "steps", target, low: 1.0, high: 1e8, whole: true };
    search.largest(100.0, &|steps, error| {
        let training = PoissonSampling { noise_multiplier, sampling_rate, steps: steps as u64 };
        let bound = training.epsilon_upper(target.delta, Directions::Both, error)?;
        Ok(bound.value())
    })
}

/// The most whole epochs for which batches sampled at q = 1/T, T steps an epoch, are (ε, δ)-DP.
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `target` | ε, δ, error | see [`PrivacyTarget`] |
/// | `noise_multiplier` | σ | [0.01, 1e4] |
/// | `steps_per_epoch` | T | 1 … 10⁸ |
///
/// # Guarantee
/// As [`poisson_steps`], an epoch for a step
/// (`tests/oracles/accounting.rs::calibrated_epochs_use_the_target_up`).
///
/// # Errors
/// As [`poisson_steps`]; [`AccountingError::Unreachable`] where one epoch is too many.
pub fn poisson_epochs(
    target: PrivacyTarget,
    noise_multiplier: f64,
    steps_per_epoch: u64,
) -> Result<Calibrated, AccountingError> {
    if !(1..=100_000_000).contains(&steps_per_epoch) {
        return Err(argument("steps_per_epoch", steps_per_epoch as f64, "in 1 to 10^8"));
    }
    let high = 1e8 / steps_per_epoch as f64;
    let search = Search { name: "epochs", target, low: 1.0, high, whole: true };
    let sampling_rate = 1.0 / steps_per_epoch as f64;
    let steps = match poisson_steps(target, noise_multiplier, sampling_rate) {
        Err(AccountingError::Unreachable { .. }) => return Err(search.unreachable()),
        steps => steps?.value as u64,
    };
    let epochs = steps / steps_per_epoch;
    if epochs == 0 {
        return Err(search.unreachable());
    }
    let training =
        PoissonSampling { noise_multiplier, sampling_rate, steps: epochs * steps_per_epoch };
    let bound = training.epsilon_upper(target.delta, Directions::Both, 0.5 * target.error)?;
    Ok(Calibrated { value: epochs as f64, epsilon: bound.value() })
}

/// The least noise multiplier with which balls-in-bins batches are (ε, δ)-DP.
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `target` | ε, δ, error | see [`PrivacyTarget`]; error at least 2e-6 |
/// | `steps_per_epoch` | T | 1 … 10⁶ |
/// | `epochs` | E | 1 … 10⁵ |
///
/// # Guarantee
/// As [`poisson_noise`] (`tests/oracles/accounting.rs::calibrated_balls_in_bins_undo_epsilons`);
/// ε comes as close to the target as [`BallsInBins::epsilon_upper`] is exact.
///
/// # Errors
/// As [`poisson_noise`], for [0.2, 100].
///
/// # Numerics
/// About ten evaluations on coarse grids and five on fine ones: up to a second at an error of 1e-3.
pub fn balls_in_bins_noise(
    target: PrivacyTarget,
    steps_per_epoch: u64,
    epochs: u64,
) -> Result<Calibrated, AccountingError> {
    let start = 1.0 / deterministic_noise(target, epochs)?.value;
    least_noise(target, 0.01..=5.0, start, &|noise_multiplier, error| {
        let training = BallsInBins { noise_multiplier, steps_per_epoch, epochs };
        bins_epsilon(training, target, error)
    })
}

/// The most epochs for which balls-in-bins batches are (ε, δ)-DP.
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `target` | ε, δ, error | see [`PrivacyTarget`]; error at least 2e-6 |
/// | `noise_multiplier` | σ | [0.2, 100] |
/// | `steps_per_epoch` | T | 1 … 10⁶ |
///
/// # Guarantee
/// As [`poisson_steps`], an epoch for a step
/// (`tests/oracles/accounting.rs::calibrated_balls_in_bins_undo_epsilons`).
///
/// # Errors
/// As [`poisson_steps`], for 1 … 10⁵ epochs.
///
/// # Numerics
/// As [`balls_in_bins_noise`].
pub fn balls_in_bins_epochs(
    target: PrivacyTarget,
    noise_multiplier: f64,
    steps_per_epoch: u64,
) -> Result<Calibrated, AccountingError> {
    let search = Search { name: "epochs", target, low: 1.0, high: 1e5, whole: true };
    search.largest(1.0, &|epochs, error| {
        let training = BallsInBins { noise_multiplier, steps_per_epoch, epochs: epochs as u64 };
        bins_epsilon(training, target, error)
    })
}

/// ε rounded up, with an error in nats: that of the accountant is relative above 1 nat.
fn bins_epsilon(
    training: BallsInBins,
    target: PrivacyTarget,
    error: f64,
) -> Result<f64, AccountingError> {
    let relative = error / target.epsilon.max(1.0);
    // an error outside the domain stays there
    let error = if error < 1e-6 { error } else { relative.max(1e-6) };
    Ok(training.epsilon_upper(target.delta, Directions::Both, error)?.value())
}

/// The least noise multiplier with which deterministic batches, and all shuffles, are (ε, δ)-DP.
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `target` | ε, δ, error | see [`PrivacyTarget`] |
/// | `epochs` | E | 1 … 10¹² |
///
/// # Guarantee
/// As [`poisson_noise`] (`tests/oracles/accounting.rs::calibrated_noise_is_the_golden_one`).
///
/// # Errors
/// As [`poisson_noise`], for [1e-6, 1e6].
pub fn deterministic_noise(
    target: PrivacyTarget,
    epochs: u64,
) -> Result<Calibrated, AccountingError> {
    least_noise(target, 1e-6..=1e6, 1.0 / (epochs as f64).sqrt(), &|noise_multiplier, _| {
        let training = DeterministicBatches { noise_multiplier, epochs };
        Ok(training.epsilon_upper(target.delta)?.value())
    })
}

/// The most epochs for which deterministic batches, and all shuffles, are (ε, δ)-DP.
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `target` | ε, δ, error | see [`PrivacyTarget`] |
/// | `noise_multiplier` | σ | [1e-6, 1e6] |
///
/// # Guarantee
/// As [`poisson_steps`] (`tests/oracles/accounting.rs::calibrated_steps_use_the_target_up`).
///
/// # Errors
/// As [`poisson_steps`], for 1 … 10¹⁰ epochs.
pub fn deterministic_epochs(
    target: PrivacyTarget,
    noise_multiplier: f64,
) -> Result<Calibrated, AccountingError> {
    let search = Search { name: "epochs", target, low: 1.0, high: 1e10, whole: true };
    search.largest(1.0, &|epochs, _| {
        let training = DeterministicBatches { noise_multiplier, epochs: epochs as u64 };
        Ok(training.epsilon_upper(target.delta)?.value())
    })
}

/// ε at a value, with an error.
type EpsilonAt<'a> = dyn Fn(f64, f64) -> Result<f64, AccountingError> + 'a;

/// The least σ whose ε is at most the target, by 1/σ, with which ε grows, in `inverses`.
fn least_noise(
    target: PrivacyTarget,
    inverses: RangeInclusive<f64>,
    start: f64,
    epsilon_at: &EpsilonAt<'_>,
) -> Result<Calibrated, AccountingError> {
    let (low, high) = inverses.into_inner();
    let search = Search { name: "noise_multiplier", target, low, high, whole: false };
    let found = search.largest(start, &|inverse, error| epsilon_at(1.0 / inverse, error))?;
    Ok(Calibrated { value: 1.0 / found.value, epsilon: found.epsilon })
}

/// A search for the largest x whose ε, which grows with x, is at most the target.
struct Search {
    name: &'static str,
    target: PrivacyTarget,
    low: f64,
    high: f64,
    /// Whole numbers alone.
    whole: bool,
}

/// A place in a search: ln x, and ln ε less that of the target.
#[derive(Clone, Copy)]
struct Place {
    x: f64,
    ln_x: f64,
    excess: f64,
    epsilon: f64,
}

impl Search {
    /// Coarsely first, then with the error that is wanted.
    fn largest(
        &self,
        start: f64,
        epsilon_at: &EpsilonAt<'_>,
    ) -> Result<Calibrated, AccountingError> {
        let PrivacyTarget { epsilon, delta, error } = self.target;
        if !(1e-6..=1e4).contains(&epsilon) {
            return Err(argument("epsilon", epsilon, "in [1e-6, 10000]"));
        }
        super::pld::check_delta(delta)?;
        if !(1e-9..=1.0).contains(&error) {
            return Err(argument("error", error, "in [1e-9, 1]"));
        }
        let coarse = math::clamp(2e-3 * epsilon, error, 1.0);
        let near = self.root(start, 0.5, coarse, epsilon_at)?;
        if coarse == error {
            return Ok(near);
        }
        self.root(near.value, 2e-3, error, epsilon_at)
    }

    fn root(
        &self,
        start: f64,
        first_change: f64,
        error: f64,
        epsilon_at: &EpsilonAt<'_>,
    ) -> Result<Calibrated, AccountingError> {
        // half of the error for the grid, half for the search
        let tolerance = 0.5 * error / self.target.epsilon;
        let look = |ln_x: f64| -> Result<Place, AccountingError> {
            let x = math::clamp(math::exp(ln_x), self.low, self.high);
            let x = if self.whole { (x + 1e-9).floor() } else { x };
            let epsilon = epsilon_at(x, 0.5 * error)?;
            let excess = math::ln(epsilon.max(1e-12) / self.target.epsilon);
            // beyond the target by less than a rounding is beyond
            let excess =
                if epsilon <= self.target.epsilon { excess.min(0.0) } else { excess.max(1e-300) };
            Ok(Place { x, ln_x: math::ln(x), excess, epsilon })
        };
        let (mut inside, mut outside) = self.bracket(start, first_change, &look)?;
        // Illinois: a side that stays twice counts half
        let (mut weight_inside, mut weight_outside) = (1.0, 1.0);
        for _ in 0..200 {
            let is_done = if self.whole {
                outside.x - inside.x <= 1.0
            } else {
                inside.excess >= -tolerance || outside.ln_x - inside.ln_x < 1e-13
            };
            if is_done {
                break;
            }
            let (below, above) = (weight_inside * inside.excess, weight_outside * outside.excess);
            // aim inside by a part of the tolerance
            let share = ((-0.3 * tolerance - below) / (above - below)).clamp(1e-3, 1.0 - 1e-3);
            let mut ln_x = inside.ln_x + share * (outside.ln_x - inside.ln_x);
            if self.whole {
                ln_x =
                    math::ln(math::clamp(math::exp(ln_x).floor(), inside.x + 1.0, outside.x - 1.0));
            }
            let place = look(ln_x)?;
            if place.excess <= 0.0 {
                (inside, weight_inside) = (place, 1.0);
                weight_outside *= 0.5;
            } else {
                (outside, weight_outside) = (place, 1.0);
                weight_inside *= 0.5;
            }
        }
        Ok(Calibrated { value: inside.x, epsilon: inside.epsilon })
    }

    fn bracket(
        &self,
        start: f64,
        first_change: f64,
        look: &dyn Fn(f64) -> Result<Place, AccountingError>,
    ) -> Result<(Place, Place), AccountingError> {
        let mut place = look(math::ln(math::clamp(start, self.low, self.high)))?;
        let is_inside = place.excess <= 0.0;
        let mut change = first_change;
        loop {
            let end = if is_inside { self.high } else { self.low };
            if place.x == end {
                return Err(self.unreachable());
            }
            let mut ln_x = place.ln_x + if is_inside { change } else { -change };
            if self.whole {
                let whole = if is_inside { place.x + 1.0 } else { place.x - 1.0 };
                let moved = math::exp(ln_x).floor();
                ln_x = math::ln(if is_inside { moved.max(whole) } else { moved.min(whole) });
            }
            let next = look(ln_x)?;
            if (next.excess <= 0.0) != is_inside {
                return Ok(if is_inside { (place, next) } else { (next, place) });
            }
            place = next;
            change *= 2.0;
        }
    }

    fn unreachable(&self) -> AccountingError {
        let (mut low, mut high) = (self.low, self.high);
        if !self.whole {
            (low, high) = (1.0 / high, 1.0 / low);
        }
        AccountingError::Unreachable {
            name: self.name,
            low,
            high,
            epsilon: self.target.epsilon,
            delta: self.target.delta,
        }
    }
}
