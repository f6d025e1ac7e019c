//! The Gaussian mechanism with Poisson sampled batches.
//!
//! ε at error 1e-4, both directions, in ms on one core of a 2-core machine:
//!
//! | method | σ=1 T=100 | σ=.5 T=100 | σ=.4 T=1000 | σ=.3 T=100 | σ=.2 T=1000 | σ=1 T=440 E=509 |
//! |---|---|---|---|---|---|---|
//! | grids alone, refined until near | 5 | 24 | 80 | – | – | 340 |
//! | inversion, truncated by a bound from the density's layers by halvings | 2.2 | 2.4 | 94 | – | – | 430 |
//! | the same, layers of the whole staircase, Chernoff for the other direction | .5 | 1.9 | 3.8 | 35, off by 1.5e-4 | 440, off by 2.4e-3 | .4 |
//! | the same, spectra by gridding, slow terms smoothed, a coarse search for the tilt | .2 | .4 | .7 | 4 | 10 | .2 |
//!
//! Smoothing alone saves little: the cost is terms times outputs. Grids remain for rare losses and
//! few steps, and q = 1 needs neither.

mod cells;
mod decay;
mod inversion;
mod quadrature;

use super::bracket::{self, Bracket, Pair, Question, Resolution};
use super::calibration::{PrivacyTarget, SearchRange};
use super::error::{argument, check_noise_and_rate, is_of_the_grid};
use super::known_draws::KnownDraws;
use super::pld::{LossCells, PrivacyLossDistribution, Rounding};
use super::{
    Accountant, AccountingError, AccountingResult, Given, Kind, Method, Parameter, Query, Training,
    deterministic,
};
use crate::adjacency::Directions;
use crate::math;
use crate::special::normal;
use cells::CutStep;
use inversion::Losses;
pub(super) use quadrature::OneStep;

/// The accountant of Poisson sampled batches: each record is in each batch with the same
/// probability.
///
/// P = (1 − q) N(0, σ²) + q N(1, σ²), Q = N(0, σ²), composed over all T·E steps. The pair dominates
/// every pair of neighbours that differ by one record, so its values are those of the mechanism.
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `noise_multiplier` | σ | [0.01, 1e4] |
/// | `sampling_rate` | q, else 1/T | [1e-9, 1] |
/// | `steps_per_epoch`, `epochs` | T, E | T·E in 1 … 10⁹ |
/// | `given` | δ | [1e-200, 1) |
/// | | or ε, nats | [0, ∞) |
///
/// # Guarantee
/// An upper value is not below the exact one, a lower value not above
/// (`tests/oracles/golden.rs::accounting_agrees`,
/// `tests/oracles/accounting.rs::deltas_bracket_quadrature`).
///
/// # Errors
/// [`AccountingError::Argument`] outside the domain; [`AccountingError::Grid`] if the error needs
/// too large a grid; [`AccountingError::NoValue`] for an estimate.
///
/// # Numerics
/// δ is a sum over the characteristic function of the losses, with bounds for truncation and for
/// each rounding. If its terms decay slowly (few steps, little noise), they are smoothed at a
/// bounded cost. If there are still too many, a grid is refined until the values rounded up and
/// down are within the error. q = 1 is the Gaussian mechanism, in closed form. `numeric_error` is
/// the distance between the upper and the lower value; it exceeds the error of the query if neither
/// method reaches it. The error of a query without one is the first of 1e-4, 1e-3, 1e-2 and 0.1 whose
/// grid is not too large, times ε/20 above ε = 20. Below σ = 0.2 an upper value is at most that of known
/// draws: the Gaussian mechanism in each step that draws the target.
///
/// # Reference
/// M. Abadi and others (2016); Y. Zhu, J. Dong and Y.-X. Wang (2022) for the dominating pair and
/// for characteristic functions.
///
/// # Example
/// ```
/// use dpscope_core::accounting::{Accountant, Given, Poisson, Query, Training};
/// let training =
///     Training { noise_multiplier: 1.0, steps_per_epoch: 100, epochs: 1, sampling_rate: None };
/// let bound = Poisson.account(&Query::upper(training, Given::Delta(1e-5)))?;
/// assert_eq!(format!("{:.3}", bound.epsilon), "0.718");
/// # Ok::<(), dpscope_core::accounting::AccountingError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Poisson;

/// Errors to try, from the finest.
const ERRORS: [f64; 4] = [1e-4, 1e-3, 1e-2, 1e-1];

/// ε above which these errors are relative to ε.
const LARGE: f64 = 20.0;

/// Noise multiplier from which no grid is too large.
const LEAST_NOISE: f64 = 0.05;

/// Errors to try for a query without one, from the finest; a large ε needs no absolute error of 1e-4.
pub(super) fn errors(training: &Training, given: Given) -> Result<[f64; 4], AccountingError> {
    let Given::Delta(delta) = given else { return Ok(ERRORS) };
    let steps = SampledSteps::from(*training);
    super::pld::check_delta(delta)?;
    if steps.sampling_rate == 1.0 || !(1..=1_000_000_000).contains(&steps.steps) {
        return Ok(ERRORS);
    }
    let (_, epsilon, _) = steps.losses(false).steepest(given);
    let scale = if epsilon.is_finite() { (epsilon / LARGE).max(1.0) } else { 1.0 };
    Ok(ERRORS.map(|error| (error * scale).min(1.0)))
}

impl Accountant for Poisson {
    fn account(&self, query: &Query) -> AccountingResult {
        let steps = SampledSteps::from(query.training);
        let method = match steps.as_deterministic() {
            Some(_) => Method::Analytic,
            None => Method::PrivacyLossDistribution,
        };
        steps.check().map_err(|error| in_terms_of(&query.training, error))?;
        let bracket = |error| steps.bracket(query.given, query.directions, error);
        let found =
            bracket::answer(query, &errors(&query.training, query.given)?, method, &bracket);
        if query.kind == Kind::Lower
            && steps.noise_multiplier < LEAST_NOISE
            && found.as_ref().is_err_and(is_of_the_grid)
        {
            // more noise leaks at most as much
            let training = Training { noise_multiplier: LEAST_NOISE, ..query.training };
            return self.account(&Query { training, ..*query });
        }
        KnownDraws::new(&query.training, steps.sampling_rate, 1.0)
            .or_tighter(query, found)
            .map_err(|error| in_terms_of(&query.training, error))
    }

    fn search_range(
        &self,
        parameter: Parameter,
        target: &PrivacyTarget,
        training: &Training,
    ) -> Result<Option<SearchRange>, AccountingError> {
        let error = (1e-4 * target.epsilon).clamp(1e-7, 1e-3);
        let range = SearchRange { error, ..SearchRange::default() };
        Ok(match parameter {
            Parameter::Noise => {
                let width = training.sampling_rate() * (training.steps() as f64).sqrt();
                let start =
                    target.epsilon / (4.0 * width) + 1.0 / (0.3 + 0.6 * target.epsilon.sqrt());
                let start = 1.0 / (1.0 / start).clamp(0.3, 100.0);
                Some(SearchRange { low: 1e-4, high: 20.0, start, ..range })
            }
            Parameter::Steps => Some(SearchRange { high: 1e8, start: 100.0, ..range }),
            Parameter::Epochs => {
                let steps_per_epoch = training.steps_per_epoch;
                if !(1..=100_000_000).contains(&steps_per_epoch) {
                    let value = steps_per_epoch as f64;
                    return Err(argument("steps_per_epoch", value, "in 1 to 10^8"));
                }
                let epochs = |steps: f64| (steps / steps_per_epoch as f64).floor().max(1.0);
                Some(SearchRange { high: epochs(1e8), start: epochs(100.0), ..range })
            }
        })
    }
}

/// `error` in terms of T if q or T·E follow from it.
fn in_terms_of(training: &Training, error: AccountingError) -> AccountingError {
    match error {
        AccountingError::Argument { name: "sampling_rate", .. }
            if training.sampling_rate.is_none() =>
        {
            let allowed = "at most 1e9: the sampling rate is one over it";
            argument("steps", training.steps_per_epoch as f64, allowed)
        }
        AccountingError::Argument { name: "steps", value, .. } => {
            argument("steps", value, "at most 1e9 in all epochs together")
        }
        error => error,
    }
}

/// Distributions of the loss of a whole run, directions remove and add, to about `error` nats down
/// to `delta`.
pub(crate) fn loss_distributions(
    training: &Training,
    delta: f64,
    error: f64,
    rounding: Rounding,
) -> Result<[PrivacyLossDistribution; 2], AccountingError> {
    SampledSteps::from(*training)
        .loss_distributions(delta, error, rounding)
        .map_err(|error| in_terms_of(training, error))
}

/// The losses of one step of a phase, without tails that are negligible in `steps` steps.
pub(super) fn one_step(phase: &Training, steps: u64, delta: f64) -> impl Pair {
    let phase = SampledSteps::from(*phase);
    SampledSteps { steps, ..phase }.cut_step(delta, 1.0).0
}

/// The grid for an error of a phase of about that many nats.
pub(super) fn resolution(phase: &Training, delta: f64, error: f64) -> Resolution {
    SampledSteps::from(*phase).cut_step(delta, error).1
}

/// All steps of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
struct SampledSteps {
    /// Noise multiplier σ.
    noise_multiplier: f64,
    /// Sampling rate q.
    sampling_rate: f64,
    /// Steps of all epochs, T·E.
    steps: u64,
}

impl From<Training> for SampledSteps {
    fn from(training: Training) -> Self {
        SampledSteps {
            noise_multiplier: training.noise_multiplier,
            sampling_rate: training.sampling_rate(),
            steps: training.steps(),
        }
    }
}

impl SampledSteps {
    fn check(&self) -> Result<(), AccountingError> {
        check_noise_and_rate(self.noise_multiplier, self.sampling_rate)
    }

    fn bracket(
        &self,
        given: Given,
        directions: Directions,
        error: f64,
    ) -> Result<Bracket, AccountingError> {
        self.check()?;
        let question = Question { compositions: self.steps, given, directions, error };
        question.check()?;
        if let Some(same) = self.as_deterministic() {
            return deterministic::bracket(&same, given);
        }
        let one = |is_add: bool| {
            if let Some(known) = self.obvious(given, is_add, error) {
                return Ok(known);
            }
            let directions = if is_add { Directions::Add } else { Directions::Remove };
            let inverted = |error: f64| inversion::bracket(self.losses(is_add), given, error);
            let found = inverted(error);
            match found {
                Some(found) if found.is_near(given, error) => Ok(found),
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
                // a Chernoff bound of the other direction usually suffices
                if self.losses(true).is_at_most(given, remove.lower) {
                    return Ok(remove);
                }
                Ok(remove.larger(one(true)?))
            }
        }
    }

    /// All records in all batches: the Gaussian mechanism, of μ = √n/σ.
    fn as_deterministic(&self) -> Option<Training> {
        let SampledSteps { noise_multiplier, sampling_rate, steps } = *self;
        let all =
            Training { noise_multiplier, steps_per_epoch: 1, epochs: steps, sampling_rate: None };
        (sampling_rate == 1.0).then_some(all)
    }

    /// The answer if it is 0, or if δ is nearly 1.
    fn obvious(&self, given: Given, is_add: bool, error: f64) -> Option<Bracket> {
        let SampledSteps { noise_multiplier, sampling_rate, steps } = *self;
        let steps = steps as f64 * (1.0 + 1e-12);
        match given {
            Given::Delta(delta) => {
                // δ(0) is at most the sum of the steps' total variations
                let tails = 2.0 * normal::normal_cdf(-0.5 / noise_multiplier);
                let most = steps * sampling_rate * (1.0 - tails + 1e-15);
                (most <= delta).then_some(Bracket { lower: 0.0, upper: 0.0 })
            }
            Given::Epsilon(epsilon) => {
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

    fn losses(&self, is_add: bool) -> Losses {
        Losses { step: self.one_step(), steps: self.steps, is_add }
    }

    fn one_step(&self) -> OneStep {
        OneStep { noise_multiplier: self.noise_multiplier, sampling_rate: self.sampling_rate }
    }

    /// By a privacy loss distribution.
    fn on_a_grid(&self, question: Question) -> Result<Bracket, AccountingError> {
        let Question { given, error, .. } = question;
        let delta = match given {
            Given::Delta(delta) => delta.max(1e-200),
            Given::Epsilon(_) => 1e-24,
        };
        let (pair, start) = self.cut_step(delta, error);
        question.answer(&pair, start)
    }

    fn loss_distributions(
        &self,
        delta: f64,
        error: f64,
        rounding: Rounding,
    ) -> Result<[PrivacyLossDistribution; 2], AccountingError> {
        let given = Given::Delta(delta);
        self.check()?;
        Question { compositions: self.steps, given, directions: Directions::Both, error }
            .check()?;
        let (pair, start) = self.cut_step(delta, error);
        let cells = pair.cells(start)?;
        let composed = |cells: &LossCells| cells.distribution(rounding)?.self_composed(self.steps);
        Ok([composed(&cells)?, composed(&cells.reversed())?])
    }

    /// One step, and a grid for an error of about that many nats of the composed distribution.
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
    fn both(training: SampledSteps, given: Given, is_add: bool) -> (Bracket, Bracket) {
        let directions = if is_add { Directions::Add } else { Directions::Remove };
        let question = Question { compositions: training.steps, given, directions, error: 1e-3 };
        let inverted = inversion::bracket(training.losses(is_add), given, 1e-6).unwrap();
        assert!(inverted.is_near(given, 1e-6), "{training:?} {given:?}: {inverted:?}");
        (inverted, training.on_a_grid(question).unwrap())
    }

    #[test]
    fn inversion_agrees_with_grids() {
        for (noise_multiplier, sampling_rate, steps) in
            [(1.0, 0.01, 100), (0.5, 0.1, 20), (2.0, 0.3, 50), (0.8, 0.001, 3000), (4.0, 1.0, 30)]
        {
            let training = SampledSteps { noise_multiplier, sampling_rate, steps };
            let noisier = SampledSteps { noise_multiplier: 1.02 * noise_multiplier, ..training };
            for given in [Given::Delta(1e-8), Given::Delta(0.01), Given::Epsilon(0.1)] {
                for is_add in [false, true] {
                    let (inverted, grid) = both(training, given, is_add);
                    let agree = |bracket: Bracket| {
                        bracket.lower <= grid.upper && grid.lower <= bracket.upper
                    };
                    assert!(
                        agree(inverted),
                        "{training:?} {given:?} {is_add} {inverted:?} {grid:?}"
                    );
                    assert!(inverted.lower <= inverted.upper);
                    let broken = inversion::bracket(noisier.losses(is_add), given, 1e-6).unwrap();
                    assert!(!agree(broken) || grid.upper == 0.0, "{training:?} {given:?} {is_add}");
                }
            }
        }
    }

    #[test]
    fn obvious_answers_agree_with_the_others() {
        let training = SampledSteps { noise_multiplier: 0.5, sampling_rate: 0.1, steps: 100 };
        let exact = inversion::bracket(training.losses(false), Given::Epsilon(0.0), 1e-6).unwrap();
        let seen = training.obvious(Given::Epsilon(0.0), false, 0.5).unwrap();
        assert!(seen.lower <= exact.upper && exact.lower <= seen.upper, "{seen:?} {exact:?}");
        let missed = 1.0 - seen.lower;
        assert!(1.0 - missed * missed * missed > exact.upper, "{missed} {exact:?}");
        assert!(training.obvious(Given::Epsilon(0.0), false, 0.5 * missed).is_none());
        // δ(0) of one step is the bound itself
        let one = SampledSteps { steps: 1, ..training };
        let most = one.bracket(Given::Epsilon(0.0), Directions::Both, 1e-6).unwrap().upper;
        assert!(one.obvious(Given::Delta(1.001 * most), false, 1e-4).is_some());
        assert!(one.obvious(Given::Delta(0.999 * most), false, 1e-4).is_none());
        let highest = -100.0 * math::ln_1p(-0.1);
        assert!(training.obvious(Given::Epsilon(1.001 * highest), true, 1e-4).is_some());
        assert!(training.obvious(Given::Epsilon(0.999 * highest), true, 1e-4).is_none());
    }

    #[test]
    fn overflowing_losses_yield_no_small_bound() {
        let training = SampledSteps { noise_multiplier: 0.04, sampling_rate: 0.01, steps: 300 };
        let epsilon = |training: SampledSteps| {
            training.bracket(Given::Delta(1e-5), Directions::Both, 1e-1).map(|found| found.upper)
        };
        assert!(epsilon(training).unwrap() > 3963.86, "{:?}", epsilon(training));
        match epsilon(SampledSteps { noise_multiplier: 0.03, ..training }) {
            Ok(bound) => assert!(bound > 6000.0, "{bound}"),
            Err(refused) => assert!(refused.to_string().contains("noise_multiplier is 0.03")),
        }
    }

    /// The atom at ln(1 − q) prevents the spectrum from decaying: finer grids would have larger
    /// errors.
    #[test]
    fn few_steps_of_little_noise_have_an_answer() {
        for (noise_multiplier, sampling_rate, steps, delta, coarse) in [
            (0.104314, 0.03569, 5, 7.5e-7, (195.27299, 195.31717)),
            (0.198339, 0.000907, 4, 7.9e-10, (36.33203, 36.3407)),
            (0.2, 0.01, 100, 1e-5, (75.09471, 75.10356)),
        ] {
            let training = SampledSteps { noise_multiplier, sampling_rate, steps };
            let found = training.bracket(Given::Delta(delta), Directions::Both, 1e-4).unwrap();
            assert!(found.gap() < 3e-4, "{training:?}: {found:?}");
            assert!(coarse.0 < found.upper && found.lower < coarse.1, "{training:?}: {found:?}");
        }
    }

    #[test]
    fn all_records_in_all_batches_are_the_gaussian_mechanism() {
        for (noise_multiplier, steps) in [(1.0, 509), (0.01, 1_000_000_000), (50.0, 3)] {
            let training = Training {
                noise_multiplier,
                steps_per_epoch: 1,
                epochs: steps,
                sampling_rate: Some(1.0),
            };
            let at = Given::Delta(1e-5);
            let gaussian = deterministic::upper(&training, at).unwrap().epsilon;
            for directions in [Directions::Remove, Directions::Add, Directions::Both] {
                let query = Query { directions, error: Some(1e-9), ..Query::upper(training, at) };
                let bound = Poisson.account(&query).unwrap();
                assert_eq!(bound.epsilon, gaussian);
                assert_eq!((bound.method, bound.direction), (Method::Analytic, directions));
                assert!(bound.numeric_error <= 1e-11 * (1.0 + bound.epsilon), "{bound:?}");
                let (kind, given) = (Kind::Lower, Given::Epsilon(bound.epsilon));
                let lower = Poisson.account(&Query { kind, given, ..query }).unwrap();
                assert!(lower.delta <= 1e-5 && lower.delta > 0.99e-5, "{}", lower.delta);
            }
            let fewer = Training { sampling_rate: Some(0.999), ..training };
            let query = Query { error: Some(1.0), ..Query::upper(fewer, at) };
            let fewer = Poisson.account(&query);
            assert!(fewer.is_err() || fewer.unwrap().method != Method::Analytic);
        }
    }

    #[test]
    fn no_delta_underflows_to_zero() {
        let training = SampledSteps { noise_multiplier: 1.0, sampling_rate: 0.1, steps: 100 };
        for epsilon in [50.0, 300.0, 500.0, 1e4] {
            let found = training.bracket(Given::Epsilon(epsilon), Directions::Both, 1e-2);
            assert!(found.is_err() || found.unwrap().upper > 0.0, "{epsilon}");
        }
    }

    #[test]
    fn refuses_bad_arguments() {
        let good = SampledSteps { noise_multiplier: 1.0, sampling_rate: 0.1, steps: 10 };
        let value = |training: SampledSteps, delta, error| {
            training.bracket(Given::Delta(delta), Directions::Both, error)
        };
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(value(SampledSteps { noise_multiplier: bad, ..good }, 1e-5, 1e-3).is_err());
            assert!(value(SampledSteps { sampling_rate: bad, ..good }, 1e-5, 1e-3).is_err());
            assert!(value(good, bad, 1e-3).is_err() && value(good, 1e-5, bad).is_err());
        }
        assert!(value(SampledSteps { steps: 0, ..good }, 1e-5, 1e-3).is_err());
        assert!(value(SampledSteps { sampling_rate: 1.1, ..good }, 1e-5, 1e-3).is_err());
        let huge = SampledSteps { noise_multiplier: 0.05, sampling_rate: 1e-6, steps: 1 << 20 };
        let error = value(huge, 1e-5, 1e-9).unwrap_err();
        assert!(matches!(error, AccountingError::Grid { .. }), "{error}");
    }

    #[test]
    fn refusals_name_what_the_query_has() {
        let training = Training {
            noise_multiplier: 1.0,
            steps_per_epoch: 2_000_000_000,
            epochs: 1,
            sampling_rate: None,
        };
        let refused = |training| {
            Poisson.account(&Query::upper(training, Given::Delta(1e-5))).unwrap_err().to_string()
        };
        let long = refused(training);
        assert_eq!(
            long,
            "steps is 2000000000; it must be at most 1e9: the sampling rate is one over it"
        );
        let total = refused(Training { steps_per_epoch: 1_000_000, epochs: 2_000, ..training });
        assert_eq!(total, "steps is 2000000000; it must be at most 1e9 in all epochs together");
        let rate = refused(Training { sampling_rate: Some(2.0), ..training });
        assert!(rate.starts_with("sampling_rate is 2;"), "{rate}");
    }
}
