//! Balls in bins: each record is in one batch of each epoch, uniformly.

mod sums;

use super::bracket::{self, Bracket};
use super::calibration::{PrivacyTarget, SearchRange, calibrate};
use super::error::argument;
use super::pld::{
    LossCells, Masses, PrivacyLossDistribution, Rounding, check_delta, check_epsilon,
};
use super::proven::tightest;
use super::shuffle::sum;
use super::{
    Accountant, Accounted, AccountingError, AccountingResult, Deterministic, Given, Kind, Method,
    Parameter, Query, Training,
};
use crate::adjacency::Directions;
use crate::math;
use crate::special::normal;
use sums::{INFLATION, SumDistribution};

/// The accountant of balls-in-bins batches: each record is in one batch of each epoch, drawn
/// uniformly.
///
/// P = mean over t of N(e_t, σ²I), Q = N(0, σ²I), composed over the epochs;
/// e^L = (1/T) Σ_t W_t, W_t = e^{x_t/σ² − 1/(2σ²)}
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `noise_multiplier` | σ | [0.01, 100] |
/// | `steps_per_epoch` | T | 1 … 10⁶ |
/// | `epochs` | E | 1 … 10⁵ |
/// | `given` | δ | [1e-50, 1) |
/// | | or ε, nats | [0, ∞) |
/// | `error` | as in [`Query`] | [1e-6, 1] |
///
/// # Guarantee
/// An upper value is not below the exact one, a lower value not above
/// (`tests/oracles/golden.rs::accounting_agrees`,
/// `tests/oracles/accounting.rs::balls_in_bins_deltas_invert_epsilons`).
///
/// # Errors
/// [`AccountingError::Argument`] outside the domain; [`AccountingError::Grid`] where the grid would
/// be too large; [`AccountingError::NoValue`] for an estimate.
///
/// # Numerics
/// Under Q the W are independent with mean 1. A spread of each W that preserves its mean yields a
/// dominating pair, a merging of its values a dominated one, and sums preserve both: the
/// distribution of ΣW is computed by doubling, and spread to or merged in cells after each sum.
/// Cells are narrow in the bulk of a sum; ends with less than 1e-4 of δ in total are spread to 0
/// and infinity. Masses and values are rounded outward by more than the error of their sums. Grid
/// steps of the loss are narrow compared with its spread over one epoch. `numeric_error` is the
/// distance between the upper and the lower value. It may exceed the error of the query if the
/// finest grid does not suffice, or if E T is near 10¹¹: outward rounding in each sum changes the
/// total mass by a factor of about e^{1e-10 E T}, and the distance can be as large as the value
/// itself. δ below 1e-50 is rounded up to about that. Below σ = 0.2, where grids would be too large, an
/// upper value is that of deterministic batches, about ln T nats per epoch too large; a lower value is
/// that of σ = 0.2 or, if larger, that of the sums over epochs
/// (`unit::bounds_of_little_noise_contain_an_event`). The error of a query without one is the first of
/// 1e-3, 1e-2 and 0.1 whose grid is not too large.
///
/// # Reference
/// L. Chua and others (2024), "Balls-and-Bins Sampling for DP-SGD", for the dominating pair.
///
/// # Example
/// ```
/// use dpscope_core::accounting::{Accountant, BallsInBins, Given, Query, Training};
/// let training =
///     Training { noise_multiplier: 0.8, steps_per_epoch: 10, epochs: 1, sampling_rate: None };
/// let query = Query { error: Some(1e-2), ..Query::upper(training, Given::Delta(1e-8)) };
/// assert_eq!(format!("{:.1}", BallsInBins.account(&query)?.epsilon), "5.1");
/// # Ok::<(), dpscope_core::accounting::AccountingError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BallsInBins;

/// Errors to try, from the finest: slower to refine than those of Poisson sampling.
const ERRORS: [f64; 3] = [1e-3, 1e-2, 1e-1];

/// Finest grid of the sums.
const FINEST: f64 = 0.006;

const LEAST_DELTA: f64 = 1e-50;

/// Least noise of the grids; closed forms below it.
const LEAST_NOISE: f64 = 0.2;

impl Accountant for BallsInBins {
    fn account(&self, query: &Query) -> AccountingResult {
        if query.training.noise_multiplier < LEAST_NOISE {
            return with_little_noise(query);
        }
        let found = account_of(&Bins::of(query.training), query);
        if query.kind == Kind::Upper && found.is_ok() {
            // known slots leak at least as much
            return tightest(query, [found, Deterministic.account(query)]);
        }
        found
    }

    fn search_range(
        &self,
        parameter: Parameter,
        target: &PrivacyTarget,
        training: &Training,
    ) -> Result<Option<SearchRange>, AccountingError> {
        // finer grids take many seconds
        let error = (3e-3 * target.epsilon).clamp(1e-4, 1e-2);
        let nats_per_error = target.epsilon.max(1.0);
        let range =
            SearchRange { error, nats_per_error, least_error: 1e-6, ..SearchRange::default() };
        Ok(match parameter {
            Parameter::Noise => {
                let target = PrivacyTarget { error: target.error.or(Some(error)), ..*target };
                let noise = calibrate(&Deterministic, parameter, &target, training)?;
                Some(SearchRange { low: 0.01, high: 5.0, start: 1.0 / noise.value, ..range })
            }
            Parameter::Epochs => Some(SearchRange { high: 1e5, ..range }),
            Parameter::Steps => None,
        })
    }
}

/// As [`BallsInBins`], with further epochs that have one step more; at noise that grids allow.
pub(super) fn account_with_larger_epochs(query: &Query, larger_epochs: u64) -> AccountingResult {
    account_of(&Bins { training: query.training, larger_epochs }, query)
}

fn account_of(bins: &Bins, query: &Query) -> AccountingResult {
    let bracket = |error| bins.bracket(query.given, query.directions, error);
    bracket::answer(query, &ERRORS, Method::PrivacyLossDistribution, &bracket)
}

/// Bounds below the least noise of the grids. Deterministic batches, which have known slots, leak at
/// least as much; a run with more noise and the sums over epochs leak at most as much.
fn with_little_noise(query: &Query) -> AccountingResult {
    let noisier = Training { noise_multiplier: LEAST_NOISE, ..query.training };
    let lower = Query { kind: Kind::Lower, ..*query };
    let noisier = BallsInBins.account(&Query { training: noisier, ..lower });
    let sums = || sum::lower_of_mechanism(&lower, 1.0);
    let lower = noisier.and_then(|noisier| tightest(&lower, [Ok(noisier), sums()]));
    let upper = Deterministic.account(&Query { kind: Kind::Upper, ..*query })?;
    let value = |row: &Accounted| row.value(query.given);
    let most = value(&upper);
    let (row, least) = match (query.kind, lower) {
        (Kind::Upper, lower) => (upper, lower.as_ref().map_or(0.0, value)),
        (Kind::Lower, Ok(lower)) => (lower, value(&lower)),
        (Kind::Lower, Err(error)) => return Err(error),
        (Kind::Estimate, _) => return Err(query.refused()),
    };
    Ok(Accounted { numeric_error: most - least, ..row })
}

/// The pair of a training run.
#[derive(Debug, Clone, Copy)]
struct Bins {
    training: Training,
    /// Epochs besides, of T + 1 steps.
    larger_epochs: u64,
}

impl Bins {
    const fn of(training: Training) -> Self {
        Bins { training, larger_epochs: 0 }
    }

    fn all_epochs(&self) -> u64 {
        self.training.epochs.saturating_add(self.larger_epochs)
    }

    fn check(&self, given: Given, error: f64) -> Result<(), AccountingError> {
        let Training { noise_multiplier, steps_per_epoch, .. } = self.training;
        let epochs = self.all_epochs();
        match given {
            Given::Epsilon(epsilon) => check_epsilon(epsilon)?,
            Given::Delta(delta) => {
                check_delta(delta)?;
                if !(delta >= LEAST_DELTA) {
                    return Err(argument("delta", delta, "at least 1e-50"));
                }
            }
        }
        if !(LEAST_NOISE..=100.0).contains(&noise_multiplier) {
            return Err(argument("noise_multiplier", noise_multiplier, "in [0.01, 100]"));
        }
        if !(1..=1_000_000).contains(&steps_per_epoch) {
            return Err(argument("steps_per_epoch", steps_per_epoch as f64, "in 1 to 10^6"));
        }
        if !(1..=100_000).contains(&epochs) {
            return Err(argument("epochs", epochs as f64, "in 1 to 100000"));
        }
        if !(1e-6..=1.0).contains(&error) {
            return Err(argument("error", error, "in [1e-6, 1]"));
        }
        Ok(())
    }

    /// Lower and upper value.
    fn bracket(
        &self,
        given: Given,
        directions: Directions,
        error: f64,
    ) -> Result<Bracket, AccountingError> {
        self.check(given, error)?;
        let mut width = 0.048;
        // about that of one epoch's loss; a step must be narrow compared with it
        let variance = self.training.noise_multiplier * self.training.noise_multiplier;
        let spread = (math::exp_m1(1.0 / variance) / self.training.steps_per_epoch as f64).sqrt();
        let grid = |width: f64, error: f64, delta: f64| Fineness {
            width,
            step: (width * (4.0 * spread).min(0.05)).min((error / self.all_epochs() as f64).sqrt()),
            delta,
        };
        // of a first evaluation, which yields the order of magnitude
        let mut required = 10.0 * error;
        let delta = match given {
            Given::Delta(delta) => delta,
            Given::Epsilon(_) => {
                let coarse = grid(width, required, LEAST_DELTA);
                let value = self.value(given, directions, coarse, Rounding::Pessimistic)?;
                value.clamp(LEAST_DELTA, 0.5)
            }
        };
        let mut best = Bracket { lower: 0.0, upper: f64::INFINITY };
        loop {
            let grid = grid(width, required, delta);
            best = best.tighter(Bracket {
                lower: self.value(given, directions, grid, Rounding::Optimistic)?,
                upper: self.value(given, directions, grid, Rounding::Pessimistic)?,
            });
            required = match given {
                Given::Delta(_) => error * best.upper.max(1.0),
                Given::Epsilon(_) => error,
            };
            let excess = best.excess(given, required);
            if excess <= 1.0 || width <= FINEST {
                return Ok(best);
            }
            // the error falls with the square of the width
            width = (width * (0.8 / excess).sqrt().clamp(0.1, 0.8)).max(FINEST);
        }
    }

    fn value(
        &self,
        given: Given,
        directions: Directions,
        grid: Fineness,
        rounding: Rounding,
    ) -> Result<f64, AccountingError> {
        let Training { steps_per_epoch, epochs, .. } = self.training;
        let parts = [(steps_per_epoch, epochs), (steps_per_epoch + 1, self.larger_epochs)];
        let parts = parts.into_iter().filter(|(_, epochs)| *epochs > 0);
        let parts: Vec<(LossCells, u64)> =
            parts.map(|(steps, epochs)| (self.cells(steps, grid, rounding), epochs)).collect();
        // values of the sums have the same relative error as their masses, which shifts the loss
        let most = if self.larger_epochs > 0 { steps_per_epoch + 1 } else { steps_per_epoch };
        let inflation = INFLATION * depth(most) * self.all_epochs() as f64;
        let moved = match rounding {
            Rounding::Pessimistic => inflation,
            Rounding::Optimistic => -inflation,
        };
        let of = |is_add: bool| -> Result<f64, AccountingError> {
            let of_one = |(cells, _): &(LossCells, u64)| {
                if is_add {
                    cells.reversed().distribution(rounding)
                } else {
                    cells.distribution(rounding)
                }
            };
            let epochs = parts.iter().map(of_one).collect::<Result<Vec<_>, AccountingError>>()?;
            let epochs: Vec<_> =
                epochs.iter().zip(&parts).map(|(epoch, part)| (epoch, part.1)).collect();
            let distribution = PrivacyLossDistribution::sum_of(&epochs, given, 1e-9)?;
            match given {
                Given::Delta(delta) => Ok((distribution.epsilon_at(delta)? + moved).max(0.0)),
                Given::Epsilon(epsilon) => distribution.delta_at(epsilon - moved),
            }
        };
        Ok(match directions {
            Directions::Remove => of(false)?,
            Directions::Add => of(true)?,
            Directions::Both => of(false)?.max(of(true)?),
        })
    }

    /// The losses of an epoch of so many steps.
    fn cells(&self, steps_per_epoch: u64, grid: Fineness, rounding: Rounding) -> LossCells {
        let Fineness { width, step, delta } = grid;
        let sigma = self.training.noise_multiplier;
        let (steps, epochs) = (steps_per_epoch as f64, self.all_epochs() as f64);
        let cut = -normal::quantile(1e-8 * delta / (steps * epochs));
        let tail = 1e-4 * delta / (depth(steps_per_epoch) * epochs);
        let distribution = SumDistribution::of_one(sigma, cut, tail, width, rounding);
        let distribution = distribution.of_many(steps_per_epoch);
        let atoms: Vec<(f64, f64)> =
            distribution.points.iter().map(|&(value, mass)| (value / steps, mass)).collect();
        let mut cells = LossCells::of_atoms(step, &atoms, 1e-8 * delta / epochs);
        // an output beyond the truncation: P has one with mean 1 among those with mean 0
        let without = normal::normal_survival(cut + 1.0 / sigma);
        let with = normal::normal_survival(cut);
        cells.above = Masses {
            mass: with + steps * without + distribution.lost / steps,
            other_mass: steps * without,
        };
        cells
    }
}

/// Sums that a sum of all steps takes.
fn depth(steps: u64) -> f64 {
    2.0 * f64::from(u64::BITS - steps.leading_zeros())
}

/// Resolution of the grids of one value.
#[derive(Clone, Copy)]
struct Fineness {
    /// Relative width of cells of the sums.
    width: f64,
    /// Grid step of the loss, nats.
    step: f64,
    /// About the δ; the truncated mass is far smaller.
    delta: f64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::deterministic;

    fn run(noise_multiplier: f64, steps_per_epoch: u64, epochs: u64) -> Training {
        Training { noise_multiplier, steps_per_epoch, epochs, sampling_rate: None }
    }

    /// ε of the Gaussian mechanism.
    fn gaussian(noise_multiplier: f64, epochs: u64, delta: f64) -> f64 {
        let training = run(noise_multiplier, 1, epochs);
        deterministic::upper(&training, Given::Delta(delta)).unwrap().epsilon
    }

    /// The bracket for one batch per epoch, and the exact value: the Gaussian mechanism.
    fn one_batch(sigma: f64, of: f64, epochs: u64, directions: Directions) -> (Bracket, f64) {
        let exact = gaussian(of, epochs, 1e-5);
        (
            Bins::of(run(sigma, 1, epochs)).bracket(Given::Delta(1e-5), directions, 1e-3).unwrap(),
            exact,
        )
    }

    /// ε of the event that an output exceeds a threshold, from below: the best of many.
    fn event(sigma: f64, steps: u64, delta: f64) -> f64 {
        let of = |place: u32| {
            let threshold = 1.0 + (f64::from(place) / 50.0 - 4.5) * sigma;
            let found = normal::normal_survival((threshold - 1.0) / sigma);
            let false_alarms = steps as f64 * normal::normal_survival(threshold / sigma);
            math::ln((found - delta) / false_alarms)
        };
        (0..450).map(of).filter(|value| value.is_finite()).fold(0.0, f64::max)
    }

    #[test]
    fn bounds_of_little_noise_contain_an_event() {
        for (sigma, steps) in [(0.199, 100), (0.1, 100), (0.1, 10), (0.05, 1000)] {
            let query = Query::upper(run(sigma, steps, 1), Given::Delta(1e-5));
            let side = |kind| BallsInBins.account(&Query { kind, ..query }).unwrap();
            let [lower, upper] = [Kind::Lower, Kind::Upper].map(side);
            let seen = event(sigma, steps, 1e-5);
            assert!(lower.epsilon <= seen + 0.1 && seen <= upper.epsilon, "{sigma} {steps}");
            assert_eq!(upper.numeric_error, upper.epsilon - lower.epsilon);
            // twice the noise is noticed
            assert!(gaussian(2.0 * sigma, 1, 1e-5) < seen, "{sigma} {steps}: {seen}");
        }
    }

    #[test]
    fn one_batch_is_the_gaussian_mechanism() {
        for (sigma, epochs) in [(1.0, 1), (0.5, 1), (3.0, 1), (2.0, 7)] {
            for directions in [Directions::Remove, Directions::Add, Directions::Both] {
                let (seen, exact) = one_batch(sigma, sigma, epochs, directions);
                assert!(seen.upper >= exact && seen.lower <= exact + 1e-9, "{seen:?} {exact}");
                assert!(seen.gap() <= 1e-3 * seen.upper.max(1.0), "{sigma} {epochs}: {seen:?}");
            }
        }
    }

    #[test]
    fn grids_whose_ends_are_empty_have_an_answer() {
        // by Fourier transforms of densities, far finer
        let exact = [
            (1, 0.101_718, 0.104_037),
            (2, 0.148_948, 0.151_385),
            (4, 0.217_787, 0.220_360),
            (8, 0.318_141, 0.320_867),
        ];
        let holds = |seen: Bracket, exact: f64| seen.lower < exact && exact < seen.upper;
        for (epochs, add, remove) in exact {
            let of = |noise_multiplier, directions| {
                Bins::of(run(noise_multiplier, 533, epochs))
                    .bracket(Given::Delta(1e-5), directions, 0.1)
                    .unwrap()
            };
            let seen = (of(1.466, Directions::Add), of(1.466, Directions::Remove));
            assert!(holds(seen.0, add) && holds(seen.1, remove), "{epochs}: {seen:?}");
            assert!(seen.0.gap() < 0.02 && seen.1.gap() < 0.02, "{epochs}: {seen:?}");
            assert!(!holds(of(1.43, Directions::Add), add), "{epochs}");
            assert!(!holds(of(1.43, Directions::Remove), remove), "{epochs}");
        }
    }

    #[test]
    fn losses_narrower_than_a_step_round_to_their_side() {
        // so many batches that an epoch's loss is nearly Gaussian, μ² = (e^{1/σ²} − 1)/T
        let of = |noise_multiplier: f64, directions| {
            let training = run(noise_multiplier, 1_000_000, 100_000);
            Bins::of(training).bracket(Given::Delta(1e-50), directions, 0.5).unwrap()
        };
        let exact = gaussian((10.0 / math::exp_m1(1.0)).sqrt(), 1, 1e-50);
        for directions in [Directions::Remove, Directions::Add] {
            let seen = of(1.0, directions);
            assert!(seen.lower < exact && exact < seen.upper, "{seen:?} {exact}");
            assert!(of(0.85, directions).lower > exact, "{seen:?} {exact}");
        }
    }

    /// Steps as wide as the spread of a loss would widen brackets to a sixth of the value.
    #[test]
    fn steps_are_narrow_compared_with_the_loss() {
        for (noise_multiplier, steps_per_epoch, epochs) in [(10.0, 10_000, 50), (100.0, 10_000, 50)]
        {
            let training = run(noise_multiplier, steps_per_epoch, epochs);
            let seen =
                Bins::of(training).bracket(Given::Delta(1e-5), Directions::Both, 1e-3).unwrap();
            assert!(seen.gap() < 0.03 * seen.upper, "{training:?}: {seen:?}");
        }
    }

    #[test]
    fn slightly_more_noise_is_detected() {
        let (seen, exact) = one_batch(1.002, 1.0, 1, Directions::Both);
        assert!(seen.upper < exact, "{seen:?} {exact}");
    }

    #[test]
    fn refuses_bad_arguments() {
        let good = run(1.0, 10, 1);
        let value = |training: Training, delta, error| {
            let given = Given::Delta(delta);
            BallsInBins.account(&Query { error: Some(error), ..Query::upper(training, given) })
        };
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(value(run(bad, 10, 1), 1e-5, 1e-2).is_err());
            assert!(value(good, bad, 1e-2).is_err() && value(good, 1e-5, bad).is_err());
        }
        assert!(value(run(1.0, 0, 1), 1e-5, 1e-2).is_err());
        assert!(value(run(1.0, 10, 0), 1e-5, 1e-2).is_err());
    }
}
