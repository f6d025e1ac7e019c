//! The Gaussian mechanism with Poisson sampled batches.
//!
//! ε at error 1e-4, both directions, in ms on one core of a 2-core machine:
//!
//! | method | σ=1 T=100 | σ=.5 T=100 | σ=.4 T=1000 | σ=.3 T=100 | σ=.2 T=1000 | σ=1 T=440 E=509 |
//! |---|---|---|---|---|---|---|
//! | grids alone, refined until near | 5 | 24 | 80 | – | – | 340 |
//! | inversion, ends where a bound of the density's layers by halvings says | 2.2 | 2.4 | 94 | – | – | 430 |
//! | the same, layers of the whole staircase, Chernoff for the other direction | .5 | 1.9 | 3.8 | 35, off by 1.5e-4 | 440, off by 2.4e-3 | .4 |
//! | the same, spectra by gridding, slow terms smoothed, a coarse search for the tilt | .2 | .4 | .7 | 4 | 10 | .2 |
//!
//! Smoothing alone would have saved little: terms times outputs was the work. Grids are left for a
//! loss that is rare or has few steps behind it, and q = 1 needs neither.

mod cells;
mod decay;
mod inversion;
mod quadrature;
mod spectrum;

use super::bracket::{Bracket, Pair, Question, Resolution};
use super::error::argument;
use super::pld::{LossCells, PrivacyLossDistribution, Rounding, Target};
use super::result::Account;
use super::{
    AccountingError, DeltaLowerBound, DeltaUpperBound, DeterministicBatches, Directions,
    EpsilonLowerBound, EpsilonUpperBound, Method,
};
use crate::adjacency::Scope;
use crate::math;
use crate::special::normal;
use cells::CutStep;
use inversion::Losses;
use quadrature::OneStep;

/// Noisy sums of clipped gradients, each record in each batch with the same probability.
///
/// P = (1 − q) N(0, σ²) + q N(1, σ²), Q = N(0, σ²), composed over all steps. The pair dominates
/// every pair of neighbours that differ by one record, so that its values are the mechanism's.
///
/// # Reference
/// M. Abadi and others (2016); Y. Zhu, J. Dong and Y.-X. Wang (2022) for the dominating pair and
/// for characteristic functions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PoissonSampling {
    /// σ, in [0.01, 1e4].
    pub noise_multiplier: f64,
    /// q, in (0, 1].
    pub sampling_rate: f64,
    /// Steps in all, 1 … 10⁹.
    pub steps: u64,
}

impl PoissonSampling {
    /// A value that ε does not exceed.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `delta` | δ | [1e-200, 1) |
    /// | `directions` | whose ε | – |
    /// | `error` | wanted distance of upper and lower value, nats | [1e-9, 1] |
    ///
    /// # Guarantee
    /// Not below ε (`tests/oracles/accounting.rs::poisson_brackets_hold_the_golden_intervals`).
    ///
    /// # Errors
    /// [`AccountingError`] outside the domain, and where the error needs too large a grid.
    ///
    /// # Numerics
    /// δ is a sum over the characteristic function of the losses, with a bound of all that it
    /// leaves out and of each rounding. Where its terms fall off slowly (few steps, little noise),
    /// they are smoothed at a cost that has a bound. Where there would still be too many, a grid is
    /// refined until the values rounded up and down are within `error`. q = 1 is the Gaussian
    /// mechanism, in closed form. `numeric_error` is the distance of upper and lower value; where
    /// neither method gets as close as `error`, it is larger.
    ///
    /// # Example
    /// ```
    /// use dpscope_core::accounting::{Directions, PoissonSampling};
    /// let training =
    ///     PoissonSampling { noise_multiplier: 1.0, sampling_rate: 0.01, steps: 100 };
    /// let bound = training.epsilon_upper(1e-5, Directions::Both, 1e-4)?;
    /// assert_eq!(format!("{:.3}", bound.value()), "0.718");
    /// # Ok::<(), dpscope_core::accounting::AccountingError>(())
    /// ```
    pub fn epsilon_upper(
        &self,
        delta: f64,
        directions: Directions,
        error: f64,
    ) -> Result<EpsilonUpperBound, AccountingError> {
        let bracket = self.bracket(Target::Delta(delta), directions, error)?;
        Ok(EpsilonUpperBound::new(bracket.upper, delta, self.account(directions, bracket)))
    }

    /// A value that ε exceeds; arguments as [`Self::epsilon_upper`].
    ///
    /// # Guarantee
    /// Not above ε (`tests/oracles/accounting.rs::poisson_brackets_hold_the_golden_intervals`).
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
        Ok(EpsilonLowerBound::new(bracket.lower, 0.0, self.account(directions, bracket)))
    }

    /// A value that δ does not exceed.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `epsilon` | ε, nats | [0, ∞) |
    /// | `directions` | whose δ | – |
    /// | `error` | wanted relative distance of upper and lower value | [1e-9, 1] |
    ///
    /// # Guarantee
    /// Not below δ (`tests/oracles/accounting.rs::deltas_bracket_quadrature`).
    ///
    /// # Errors
    /// As [`Self::epsilon_upper`].
    pub fn delta_upper(
        &self,
        epsilon: f64,
        directions: Directions,
        error: f64,
    ) -> Result<DeltaUpperBound, AccountingError> {
        let bracket = self.bracket(Target::Epsilon(epsilon), directions, error)?;
        Ok(DeltaUpperBound::new(bracket.upper, epsilon, self.account(directions, bracket)))
    }

    /// A value that δ exceeds; arguments as [`Self::delta_upper`].
    ///
    /// # Guarantee
    /// Not above δ (`tests/oracles/accounting.rs::deltas_bracket_quadrature`).
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
        Ok(DeltaLowerBound::new(bracket.lower, 0.0, self.account(directions, bracket)))
    }

    fn check(&self) -> Result<(), AccountingError> {
        if !(0.01..=1e4).contains(&self.noise_multiplier) {
            return Err(argument("noise_multiplier", self.noise_multiplier, "in [0.01, 10000]"));
        }
        if !(1e-9..=1.0).contains(&self.sampling_rate) {
            return Err(argument("sampling_rate", self.sampling_rate, "in [1e-9, 1]"));
        }
        Ok(())
    }

    pub(super) fn bracket(
        &self,
        target: Target,
        directions: Directions,
        error: f64,
    ) -> Result<Bracket, AccountingError> {
        self.check()?;
        let question = Question { compositions: self.steps, target, directions, error };
        question.check()?;
        if let Some(same) = self.as_deterministic() {
            return same.bracket(target);
        }
        let one = |is_add: bool| {
            if let Some(known) = self.obvious(target, is_add, error) {
                return Ok(known);
            }
            let directions = if is_add { Directions::Add } else { Directions::Remove };
            let inverted = |error: f64| inversion::bracket(self.losses(is_add), target, error);
            let found = inverted(error);
            match found {
                Some(found) if found.is_near(target, error) => Ok(found),
                _ => match self.on_a_grid(Question { directions, ..question }) {
                    Ok(other) => Ok(found.map_or(other, |found| found.tighter(other))),
                    Err(reason) => {
                        found.or_else(|| inverted((100.0 * error).min(1.0))).ok_or(reason)
                    }
                },
            }
        };
        match directions {
            Directions::Remove => one(false),
            Directions::Add => one(true),
            Directions::Both => {
                let remove = one(false)?;
                // a Chernoff bound of the other direction will mostly do
                if self.losses(true).is_at_most(target, remove.lower) {
                    return Ok(remove);
                }
                Ok(remove.larger(one(true)?))
            }
        }
    }

    /// All records in all batches: the Gaussian mechanism, of μ = √n/σ.
    fn as_deterministic(&self) -> Option<DeterministicBatches> {
        let PoissonSampling { noise_multiplier, sampling_rate, steps } = *self;
        (sampling_rate == 1.0).then_some(DeterministicBatches { noise_multiplier, epochs: steps })
    }

    /// The answer where it is 0, or where δ is nearly 1.
    fn obvious(&self, target: Target, is_add: bool, error: f64) -> Option<Bracket> {
        let PoissonSampling { noise_multiplier, sampling_rate, steps } = *self;
        let steps = steps as f64 * (1.0 + 1e-12);
        match target {
            Target::Delta(delta) => {
                // δ(0) is at most the sum of the steps' total variations
                let tails = 2.0 * normal::normal_cdf(-0.5 / noise_multiplier);
                let most = steps * sampling_rate * (1.0 - tails + 1e-15);
                (most <= delta).then_some(Bracket { lower: 0.0, upper: 0.0 })
            }
            Target::Epsilon(epsilon) => {
                if is_add && epsilon >= -steps * math::ln_1p(-sampling_rate) {
                    return Some(Bracket { lower: 0.0, upper: 0.0 });
                }
                // 1 − δ = E min(1, e^{ε − L}) ≤ E e^{(ε − L)/2}
                let ln_moment = self.losses(is_add).ln_moment(-0.5);
                let slack = 1e-12 * (1.0 + ln_moment.abs() + epsilon);
                let lost = math::exp(ln_moment + 0.5 * epsilon + slack);
                (lost <= error).then_some(Bracket { lower: 1.0 - lost, upper: 1.0 })
            }
        }
    }

    fn account(&self, directions: Directions, bracket: Bracket) -> Account {
        let method = match self.as_deterministic() {
            Some(_) => Method::Analytic,
            None => Method::PrivacyLossDistribution,
        };
        Account { scope: Scope::Mechanism, directions, method, numeric_error: bracket.gap() }
    }

    fn losses(&self, is_add: bool) -> Losses {
        Losses { step: self.one_step(), steps: self.steps, is_add }
    }

    fn one_step(&self) -> OneStep {
        OneStep { noise_multiplier: self.noise_multiplier, sampling_rate: self.sampling_rate }
    }

    /// By a privacy loss distribution.
    fn on_a_grid(&self, question: Question) -> Result<Bracket, AccountingError> {
        let Question { target, error, .. } = question;
        let delta = match target {
            Target::Delta(delta) => delta.max(1e-200),
            Target::Epsilon(_) => 1e-24,
        };
        let (pair, start) = self.cut_step(delta, error);
        question.answer(&pair, start)
    }

    /// Laws of the loss of the whole run, directions remove and add, to about `error` nats down to
    /// `delta`.
    pub(crate) fn laws(
        &self,
        delta: f64,
        error: f64,
        rounding: Rounding,
    ) -> Result<[PrivacyLossDistribution; 2], AccountingError> {
        self.check()?;
        let target = Target::Delta(delta);
        Question { compositions: self.steps, target, directions: Directions::Both, error }
            .check()?;
        let (pair, start) = self.cut_step(delta, error);
        let cells = pair.cells(start)?;
        let composed = |cells: &LossCells| cells.law(rounding)?.self_composed(self.steps);
        Ok([composed(&cells)?, composed(&cells.reversed())?])
    }

    /// One step, and a grid for an error of about that many nats of the composed law.
    fn cut_step(&self, delta: f64, error: f64) -> (CutStep, Resolution) {
        let step_count = self.steps as f64;
        let cut = -normal::quantile(1e-7 * delta / step_count);
        let pair = CutStep { step: self.one_step(), cut };
        let width = self.sampling_rate / self.noise_multiplier;
        let spread = width * step_count.sqrt();
        let slope = -normal::quantile(delta.min(0.3)) / spread + 0.5;
        let step = (60.0 * error / (step_count * slope)).sqrt().min(0.5 * width);
        (pair, Resolution { step, widest: (2.0 * error.sqrt()).max(step) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both methods' brackets, for one direction.
    fn both(training: PoissonSampling, target: Target, is_add: bool) -> (Bracket, Bracket) {
        let directions = if is_add { Directions::Add } else { Directions::Remove };
        let question = Question { compositions: training.steps, target, directions, error: 1e-3 };
        let inverted = inversion::bracket(training.losses(is_add), target, 1e-6).unwrap();
        assert!(inverted.is_near(target, 1e-6), "{training:?} {target:?}: {inverted:?}");
        (inverted, training.on_a_grid(question).unwrap())
    }

    #[test]
    fn inversion_agrees_with_grids() {
        for (noise_multiplier, sampling_rate, steps) in
            [(1.0, 0.01, 100), (0.5, 0.1, 20), (2.0, 0.3, 50), (0.8, 0.001, 3000), (4.0, 1.0, 30)]
        {
            let training = PoissonSampling { noise_multiplier, sampling_rate, steps };
            let noisier = PoissonSampling { noise_multiplier: 1.02 * noise_multiplier, ..training };
            for target in [Target::Delta(1e-8), Target::Delta(0.01), Target::Epsilon(0.1)] {
                for is_add in [false, true] {
                    let (inverted, grid) = both(training, target, is_add);
                    let agree = |bracket: Bracket| {
                        bracket.lower <= grid.upper && grid.lower <= bracket.upper
                    };
                    assert!(
                        agree(inverted),
                        "{training:?} {target:?} {is_add} {inverted:?} {grid:?}"
                    );
                    assert!(inverted.lower <= inverted.upper);
                    let broken = inversion::bracket(noisier.losses(is_add), target, 1e-6).unwrap();
                    assert!(
                        !agree(broken) || grid.upper == 0.0,
                        "{training:?} {target:?} {is_add}"
                    );
                }
            }
        }
    }

    #[test]
    fn obvious_answers_agree_with_the_others() {
        let training = PoissonSampling { noise_multiplier: 0.5, sampling_rate: 0.1, steps: 100 };
        let exact = inversion::bracket(training.losses(false), Target::Epsilon(0.0), 1e-6).unwrap();
        let seen = training.obvious(Target::Epsilon(0.0), false, 0.5).unwrap();
        assert!(seen.lower <= exact.upper && exact.lower <= seen.upper, "{seen:?} {exact:?}");
        let missed = 1.0 - seen.lower;
        assert!(1.0 - missed * missed * missed > exact.upper, "{missed} {exact:?}");
        assert!(training.obvious(Target::Epsilon(0.0), false, 0.5 * missed).is_none());
        // δ(0) of one step is the bound itself
        let one = PoissonSampling { steps: 1, ..training };
        let most = one.delta_upper(0.0, Directions::Both, 1e-6).unwrap().value();
        assert!(one.obvious(Target::Delta(1.001 * most), false, 1e-4).is_some());
        assert!(one.obvious(Target::Delta(0.999 * most), false, 1e-4).is_none());
        let highest = -100.0 * math::ln_1p(-0.1);
        assert!(training.obvious(Target::Epsilon(1.001 * highest), true, 1e-4).is_some());
        assert!(training.obvious(Target::Epsilon(0.999 * highest), true, 1e-4).is_none());
    }

    #[test]
    fn losses_beyond_the_floats_give_no_small_bound() {
        let training = PoissonSampling { noise_multiplier: 0.04, sampling_rate: 0.01, steps: 300 };
        let bound = training.epsilon_upper(1e-5, Directions::Both, 1e-1).unwrap();
        assert!(bound.value() > 3963.86, "{}", bound.value());
        let less = PoissonSampling { noise_multiplier: 0.03, ..training };
        match less.epsilon_upper(1e-5, Directions::Both, 1e-1) {
            Ok(bound) => assert!(bound.value() > 6000.0, "{}", bound.value()),
            Err(refused) => assert!(refused.to_string().contains("noise_multiplier is 0.03")),
        }
    }

    /// The atom at ln(1 − q) keeps the spectrum up: finer grids would have larger errors.
    #[test]
    fn few_steps_of_little_noise_have_an_answer() {
        for (noise_multiplier, sampling_rate, steps, delta, coarse) in [
            (0.104314, 0.03569, 5, 7.5e-7, (195.27299, 195.31717)),
            (0.198339, 0.000907, 4, 7.9e-10, (36.33203, 36.3407)),
            (0.2, 0.01, 100, 1e-5, (75.09471, 75.10356)),
        ] {
            let training = PoissonSampling { noise_multiplier, sampling_rate, steps };
            let bound = training.epsilon_upper(delta, Directions::Both, 1e-4).unwrap();
            let (value, error) = (bound.value(), bound.account().numeric_error);
            assert!(error < 3e-4, "{training:?}: {value} {error:e}");
            assert!(coarse.0 < value && value - error < coarse.1, "{training:?}: {value}");
        }
    }

    #[test]
    fn all_records_in_all_batches_are_the_gaussian_mechanism() {
        for (noise_multiplier, steps) in [(1.0, 509), (0.01, 1_000_000_000), (50.0, 3)] {
            let training = PoissonSampling { noise_multiplier, sampling_rate: 1.0, steps };
            let gaussian = DeterministicBatches { noise_multiplier, epochs: steps };
            for directions in [Directions::Remove, Directions::Add, Directions::Both] {
                let bound = training.epsilon_upper(1e-5, directions, 1e-9).unwrap();
                assert_eq!(bound.value(), gaussian.epsilon_upper(1e-5).unwrap().value());
                let account = bound.account();
                assert_eq!((account.method, account.directions), (Method::Analytic, directions));
                assert!(account.numeric_error <= 1e-11 * (1.0 + bound.value()), "{account:?}");
                let lower = training.delta_lower(bound.value(), directions, 1e-9).unwrap();
                assert!(lower.value() <= 1e-5 && lower.value() > 0.99e-5, "{}", lower.value());
            }
            let fewer = PoissonSampling { sampling_rate: 0.999, ..training };
            let fewer = fewer.epsilon_upper(1e-5, Directions::Both, 1.0);
            assert!(fewer.is_err() || fewer.unwrap().account().method != Method::Analytic);
        }
    }

    #[test]
    fn no_delta_underflows_to_nothing() {
        let training = PoissonSampling { noise_multiplier: 1.0, sampling_rate: 0.1, steps: 100 };
        for epsilon in [50.0, 300.0, 500.0, 1e4] {
            let bound = training.delta_upper(epsilon, Directions::Both, 1e-2);
            assert!(bound.is_err() || bound.unwrap().value() > 0.0, "{epsilon}");
        }
    }

    #[test]
    fn refuses_bad_arguments() {
        let good = PoissonSampling { noise_multiplier: 1.0, sampling_rate: 0.1, steps: 10 };
        let value = |training: PoissonSampling, delta, error| {
            training.epsilon_upper(delta, Directions::Both, error)
        };
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(value(PoissonSampling { noise_multiplier: bad, ..good }, 1e-5, 1e-3).is_err());
            assert!(value(PoissonSampling { sampling_rate: bad, ..good }, 1e-5, 1e-3).is_err());
            assert!(value(good, bad, 1e-3).is_err() && value(good, 1e-5, bad).is_err());
        }
        assert!(value(PoissonSampling { steps: 0, ..good }, 1e-5, 1e-3).is_err());
        assert!(value(PoissonSampling { sampling_rate: 1.1, ..good }, 1e-5, 1e-3).is_err());
        let huge = PoissonSampling { noise_multiplier: 0.05, sampling_rate: 1e-6, steps: 1 << 20 };
        let error = value(huge, 1e-5, 1e-9).unwrap_err();
        assert!(error.to_string().contains("ask for a larger error"), "{error}");
    }
}
