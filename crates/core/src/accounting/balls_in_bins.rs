//! Balls in bins: each record falls into one batch of each epoch, uniformly.

mod sums;

use super::bracket::Bracket;
use super::error::argument;
use super::pld::{LossCells, Masses, Rounding, Target, check_delta, check_epsilon};
use super::result::Account;
use super::{
    AccountingError, DeltaLowerBound, DeltaUpperBound, Directions, EpsilonLowerBound,
    EpsilonUpperBound, Method,
};
use crate::adjacency::Scope;
use crate::math;
use crate::special::normal;
use sums::{INFLATION, SumLaw};

/// Noisy sums of clipped gradients; of T batches an epoch the record's is drawn uniformly.
///
/// P = mean over t of N(e_t, σ²I), Q = N(0, σ²I), composed over the epochs;
/// e^L = (1/T) Σ_t W_t, W_t = e^{x_t/σ² − 1/(2σ²)}
///
/// # Reference
/// L. Chua and others (2024), "Balls-and-Bins Sampling for DP-SGD", for the dominating pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BallsInBins {
    /// σ, in [0.2, 100].
    pub noise_multiplier: f64,
    /// T, 1 … 10⁶.
    pub steps_per_epoch: u64,
    /// E, 1 … 10⁵.
    pub epochs: u64,
}

/// Finest grid of the sums.
const FINEST: f64 = 0.006;

const LEAST_DELTA: f64 = 1e-50;

impl BallsInBins {
    /// A value that ε does not exceed.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `delta` | δ | [1e-50, 1) |
    /// | `directions` | whose ε | – |
    /// | `error` | wanted distance of upper and lower value, nats, relative above 1 nat | [1e-6, 1] |
    ///
    /// # Guarantee
    /// Not below ε (`tests/oracles/accounting.rs::balls_in_bins_agree_with_the_golden_intervals`).
    ///
    /// # Errors
    /// [`AccountingError`] outside the domain, and where the grid would be too large.
    ///
    /// # Numerics
    /// Under Q the W are independent with mean 1. A spread of each W that keeps its mean gives a
    /// pair that dominates, a merging of its values one that is dominated, and both survive sums:
    /// the law of ΣW is built by doubling, spread to or merged in cells after each sum. Cells are
    /// narrow where the bulk of a sum lies; ends that hold less than 1e-4 of δ in all are spread to
    /// 0 and infinity. Masses and values are rounded outward by more than the error of their sums.
    /// Steps of the loss are narrow beside the spread of one epoch's. `numeric_error` is the
    /// distance of upper and lower value, which may exceed `error` where the finest grid does not
    /// suffice, and where E T is near 10¹¹: rounded outward in each sum, all masses together move
    /// by a factor of about e^{1e-10 E T}, and the distance can be as large as the value itself.
    /// Unlike that of [`super::PoissonSampling`], `error` is relative above 1 nat.
    ///
    /// # Example
    /// ```
    /// use dpscope_core::accounting::{BallsInBins, Directions};
    /// let training = BallsInBins { noise_multiplier: 0.8, steps_per_epoch: 10, epochs: 1 };
    /// let bound = training.epsilon_upper(1e-8, Directions::Both, 1e-2)?;
    /// assert_eq!(format!("{:.1}", bound.value()), "5.1");
    /// # Ok::<(), dpscope_core::accounting::AccountingError>(())
    /// ```
    pub fn epsilon_upper(
        &self,
        delta: f64,
        directions: Directions,
        error: f64,
    ) -> Result<EpsilonUpperBound, AccountingError> {
        let bracket = self.bracket(Target::Delta(delta), directions, error)?;
        Ok(EpsilonUpperBound::new(bracket.upper, delta, account(directions, bracket)))
    }

    /// A value that ε exceeds; arguments as [`Self::epsilon_upper`].
    ///
    /// # Guarantee
    /// Not above ε (`tests/oracles/accounting.rs::balls_in_bins_agree_with_the_golden_intervals`).
    ///
    /// # Errors
    /// As [`Self::epsilon_upper`].
    pub fn epsilon_lower(
        &self,
        delta: f64,
        directions: Directions,
        error: f64,
    ) -> Result<EpsilonLowerBound, AccountingError> {
        let bracket = self.bracket(Target::Delta(delta), directions, error)?;
        Ok(EpsilonLowerBound::new(bracket.lower, 0.0, account(directions, bracket)))
    }

    /// A value that δ does not exceed.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `epsilon` | ε, nats | [0, ∞) |
    /// | `directions` | whose δ | – |
    /// | `error` | wanted relative distance of upper and lower value | [1e-6, 1] |
    ///
    /// # Guarantee
    /// Not below δ (`tests/oracles/accounting.rs::balls_in_bins_deltas_undo_epsilons`).
    ///
    /// # Errors
    /// As [`Self::epsilon_upper`].
    ///
    /// # Numerics
    /// As [`Self::epsilon_upper`]; below 1e-50 δ is rounded up to about that.
    pub fn delta_upper(
        &self,
        epsilon: f64,
        directions: Directions,
        error: f64,
    ) -> Result<DeltaUpperBound, AccountingError> {
        let bracket = self.bracket(Target::Epsilon(epsilon), directions, error)?;
        Ok(DeltaUpperBound::new(bracket.upper, epsilon, account(directions, bracket)))
    }

    /// A value that δ exceeds; arguments as [`Self::delta_upper`].
    ///
    /// # Guarantee
    /// Not above δ (`tests/oracles/accounting.rs::balls_in_bins_deltas_undo_epsilons`).
    ///
    /// # Errors
    /// As [`Self::epsilon_upper`].
    pub fn delta_lower(
        &self,
        epsilon: f64,
        directions: Directions,
        error: f64,
    ) -> Result<DeltaLowerBound, AccountingError> {
        let bracket = self.bracket(Target::Epsilon(epsilon), directions, error)?;
        Ok(DeltaLowerBound::new(bracket.lower, 0.0, account(directions, bracket)))
    }

    fn check(&self, target: Target, error: f64) -> Result<(), AccountingError> {
        match target {
            Target::Epsilon(epsilon) => check_epsilon(epsilon)?,
            Target::Delta(delta) => {
                check_delta(delta)?;
                if !(delta >= LEAST_DELTA) {
                    return Err(argument("delta", delta, "at least 1e-50"));
                }
            }
        }
        if !(0.2..=100.0).contains(&self.noise_multiplier) {
            return Err(argument("noise_multiplier", self.noise_multiplier, "in [0.2, 100]"));
        }
        if !(1..=1_000_000).contains(&self.steps_per_epoch) {
            return Err(argument("steps_per_epoch", self.steps_per_epoch as f64, "in 1 to 10^6"));
        }
        if !(1..=100_000).contains(&self.epochs) {
            return Err(argument("epochs", self.epochs as f64, "in 1 to 100000"));
        }
        if !(1e-6..=1.0).contains(&error) {
            return Err(argument("error", error, "in [1e-6, 1]"));
        }
        Ok(())
    }

    /// Lower and upper value.
    fn bracket(
        &self,
        target: Target,
        directions: Directions,
        error: f64,
    ) -> Result<Bracket, AccountingError> {
        self.check(target, error)?;
        let mut width = 0.048;
        // about that of one epoch's loss, beside which a step must be narrow
        let variance = self.noise_multiplier * self.noise_multiplier;
        let spread = (math::exp_m1(1.0 / variance) / self.steps_per_epoch as f64).sqrt();
        let grid = |width: f64, error: f64, delta: f64| Fineness {
            width,
            step: (width * (4.0 * spread).min(0.05)).min((error / self.epochs as f64).sqrt()),
            delta,
        };
        // of a first look, which tells how large the value is
        let mut wanted = 10.0 * error;
        let delta = match target {
            Target::Delta(delta) => delta,
            Target::Epsilon(_) => {
                let coarse = grid(width, wanted, LEAST_DELTA);
                let value = self.value(target, directions, coarse, Rounding::Pessimistic)?;
                value.clamp(LEAST_DELTA, 0.5)
            }
        };
        let mut best = Bracket { lower: 0.0, upper: f64::INFINITY };
        loop {
            let grid = grid(width, wanted, delta);
            best = best.tighter(Bracket {
                lower: self.value(target, directions, grid, Rounding::Optimistic)?,
                upper: self.value(target, directions, grid, Rounding::Pessimistic)?,
            });
            wanted = match target {
                Target::Delta(_) => error * best.upper.max(1.0),
                Target::Epsilon(_) => error,
            };
            let excess = best.excess(target, wanted);
            if excess <= 1.0 || width <= FINEST {
                return Ok(best);
            }
            // the error falls with the square of the width
            width = (width * (0.8 / excess).sqrt().clamp(0.1, 0.8)).max(FINEST);
        }
    }

    fn value(
        &self,
        target: Target,
        directions: Directions,
        grid: Fineness,
        rounding: Rounding,
    ) -> Result<f64, AccountingError> {
        let Fineness { width, step, delta } = grid;
        let (steps, epochs) = (self.steps_per_epoch as f64, self.epochs as f64);
        let cut = -normal::quantile(1e-8 * delta / (steps * epochs));
        let depth = 2.0 * f64::from(u64::BITS - self.steps_per_epoch.leading_zeros());
        let tail = 1e-4 * delta / (depth * epochs);
        let law = SumLaw::of_one(self.noise_multiplier, cut, tail, width, rounding);
        let law = law.of_many(self.steps_per_epoch);
        let atoms: Vec<(f64, f64)> =
            law.points.iter().map(|&(value, mass)| (value / steps, mass)).collect();
        let mut cells = LossCells::of_atoms(step, &atoms, 1e-8 * delta / epochs);
        // an output beyond the cut: P has one with mean 1 among those with mean 0
        let sigma = self.noise_multiplier;
        let without = normal::normal_survival(cut + 1.0 / sigma);
        let with = normal::normal_survival(cut);
        cells.above =
            Masses { mass: with + steps * without + law.lost / steps, other_mass: steps * without };
        // values of the sums are as wrong as their masses, and a factor on each moves the loss
        let moved = match rounding {
            Rounding::Pessimistic => INFLATION * depth * epochs,
            Rounding::Optimistic => -INFLATION * depth * epochs,
        };
        let of = |cells: &LossCells| -> Result<f64, AccountingError> {
            let law = cells.law(rounding)?.self_composed_near(self.epochs, target)?;
            match target {
                Target::Delta(delta) => Ok((law.epsilon_at(delta)? + moved).max(0.0)),
                Target::Epsilon(epsilon) => law.delta_at(epsilon - moved),
            }
        };
        Ok(match directions {
            Directions::Remove => of(&cells)?,
            Directions::Add => of(&cells.reversed())?,
            Directions::Both => of(&cells)?.max(of(&cells.reversed())?),
        })
    }
}

/// How fine the grids of one value are.
#[derive(Clone, Copy)]
struct Fineness {
    /// Of the sums, relative.
    width: f64,
    /// Of the loss, nats.
    step: f64,
    /// About the δ; what is cut off is far less.
    delta: f64,
}

fn account(directions: Directions, bracket: Bracket) -> Account {
    Account {
        scope: Scope::Mechanism,
        directions,
        method: Method::PrivacyLossDistribution,
        numeric_error: bracket.gap(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::DeterministicBatches;

    /// What is found for one batch an epoch, and what is exact: the Gaussian mechanism.
    fn one_batch(sigma: f64, of: f64, epochs: u64, directions: Directions) -> (Bracket, f64) {
        let training = BallsInBins { noise_multiplier: sigma, steps_per_epoch: 1, epochs };
        let exact = DeterministicBatches { noise_multiplier: of, epochs };
        let exact = exact.epsilon_upper(1e-5).unwrap().value();
        (training.bracket(Target::Delta(1e-5), directions, 1e-3).unwrap(), exact)
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
                let training = BallsInBins { noise_multiplier, steps_per_epoch: 533, epochs };
                training.bracket(Target::Delta(1e-5), directions, 0.1).unwrap()
            };
            let seen = (of(1.466, Directions::Add), of(1.466, Directions::Remove));
            assert!(holds(seen.0, add) && holds(seen.1, remove), "{epochs}: {seen:?}");
            assert!(seen.0.gap() < 0.02 && seen.1.gap() < 0.02, "{epochs}: {seen:?}");
            assert!(!holds(of(1.43, Directions::Add), add), "{epochs}");
            assert!(!holds(of(1.43, Directions::Remove), remove), "{epochs}");
        }
    }

    #[test]
    fn losses_narrower_than_a_step_keep_their_sides() {
        // so many batches that an epoch's loss is nearly Gaussian, μ² = (e^{1/σ²} − 1)/T
        let of = |noise_multiplier: f64, directions| {
            let training =
                BallsInBins { noise_multiplier, steps_per_epoch: 1_000_000, epochs: 100_000 };
            training.bracket(Target::Delta(1e-50), directions, 0.5).unwrap()
        };
        let noise_multiplier = (10.0 / math::exp_m1(1.0)).sqrt();
        let exact = DeterministicBatches { noise_multiplier, epochs: 1 };
        let exact = exact.epsilon_upper(1e-50).unwrap().value();
        for directions in [Directions::Remove, Directions::Add] {
            let seen = of(1.0, directions);
            assert!(seen.lower < exact && exact < seen.upper, "{seen:?} {exact}");
            assert!(of(0.85, directions).lower > exact, "{seen:?} {exact}");
        }
    }

    /// With steps that were as wide as the spread of a loss, brackets were a sixth of the value
    /// wide.
    #[test]
    fn steps_are_narrow_beside_a_loss() {
        for (noise_multiplier, steps_per_epoch, epochs) in [(10.0, 10_000, 50), (100.0, 10_000, 50)]
        {
            let training = BallsInBins { noise_multiplier, steps_per_epoch, epochs };
            let seen = training.bracket(Target::Delta(1e-5), Directions::Both, 1e-3).unwrap();
            assert!(seen.gap() < 0.03 * seen.upper, "{training:?}: {seen:?}");
        }
    }

    #[test]
    fn slightly_more_noise_is_seen() {
        let (seen, exact) = one_batch(1.002, 1.0, 1, Directions::Both);
        assert!(seen.upper < exact, "{seen:?} {exact}");
    }

    #[test]
    fn refuses_bad_arguments() {
        let good = BallsInBins { noise_multiplier: 1.0, steps_per_epoch: 10, epochs: 1 };
        let value = |training: BallsInBins, delta, error| {
            training.epsilon_upper(delta, Directions::Both, error)
        };
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(value(BallsInBins { noise_multiplier: bad, ..good }, 1e-5, 1e-2).is_err());
            assert!(value(good, bad, 1e-2).is_err() && value(good, 1e-5, bad).is_err());
        }
        assert!(value(BallsInBins { steps_per_epoch: 0, ..good }, 1e-5, 1e-2).is_err());
        assert!(value(BallsInBins { epochs: 0, ..good }, 1e-5, 1e-2).is_err());
    }
}
