//! The exact pair of a shuffled run, by importance sampling of its likelihood ratio.
//!
//! An event A whose probability is known in both worlds proves P(A) − e^ε Q(A) ≤ δ(ε). The
//! remainder E_P[(1 − e^{ε−L})₊ − 1_A (1 − e^{ε−L})] is small and never negative, and only this is
//! sampled. So a lower limit is never worse than the closed form by more than the sampling error of
//! a small part.

mod event;
mod many_epochs;
mod one_epoch;
mod power_sums;
mod proposal;
mod seeded;
mod source;
mod tally;
mod tilt;

use event::Event;
use many_epochs::PlugInOutcome;
pub use proposal::{Component, Draw, DrawError, EpochSums, Proposal, Shift};
pub use seeded::SeededPair;
pub use source::PairDraws;

use one_epoch::{Pilot, Plan, largest_at_least, main_draws, parts, pilot_draws};

use super::answer::Basis;
use super::error::argument;
use super::shuffle::max_slice::{best_delta_cut, best_epsilon_cut};
use super::shuffle::run::{check_delta, check_given};
use super::shuffle::{self, ShuffleMethod};
use super::{Accounted, AccountingError, Given, Kind, Method, Training, deterministic};
use crate::adjacency::{Directions, Scope};
use crate::gdp;

/// Sampling methods for the pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PairMethod {
    /// One epoch: only the remainder beyond known events is sampled.
    ///
    /// δ(ε) = P(A) − e^ε Q(A) + E_q[w ((1 − e^{ε−L})₊ − 1_A (1 − e^{ε−L}))]
    ///
    /// A is {max_t x_t > C} or {Σ_t x_t > C}, the one with the larger bound; q is a mixture of P₁
    /// with the target's slot, another slot and, where sums separate well, all slots shifted to the
    /// threshold; w = dP₁/dq over the whole mixture. A pilot fixes τ and, for ε, the tested ε; if
    /// that ε fails, the result is the closed form, which is proven.
    OneEpoch,
    /// Whole runs of many epochs.
    ///
    /// δ(ε) = E_q[Π w_e (1 − e^{ε − ΣL_e})₊], each epoch from a mixture that is fitted to P tilted
    /// by e^{θL}, θ of Chernoff's bound. Proposal, τ and the tested ε are fixed without the main
    /// draws. A run takes E (T + 1) normals.
    WholeRuns,
    /// The sampled loss distribution of one epoch, composed: an estimate, not a bound.
    ///
    /// δ of the composed distribution is not linear in that of one epoch, so its expectation is not
    /// the pair's δ, and the difference grows with E over the number of draws. Its lower limit is
    /// the closed form, which needs no draws. The standard error comes from the spread of eight
    /// parts of the draws. Losses are spread over a grid such that E e^{−L} is preserved: its error
    /// of ln δ is about 1e-3 at most, and of ε 1e-4, unless a small σ or more than 1e5 steps per
    /// epoch require a wider grid. The estimate is clamped to the proven range: at least the closed form, at most deterministic batches
    /// (`unit::a_plug_in_stays_within_what_is_proven`).
    PlugIn,
}

/// The exact pair of a shuffled run, remove direction, by importance sampling.
///
/// | field | meaning | domain |
/// |---|---|---|
/// | `method` | what is drawn | one epoch for E = 1 |
/// | `draws` | observations, a fifth of them (at most 20,000) for the pilot | 1,000 to 1e12 |
/// | `significance` | probability that the lower limit is wrong | [1e-12, 0.5] |
///
/// [`SeededPair`] is an accountant that draws from the random stream of a seed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExactPair {
    /// What is drawn.
    pub method: PairMethod,
    /// Observations.
    pub draws: usize,
    /// Probability that the lower limit is wrong.
    pub significance: f64,
}

/// ε or δ of the pair by sampling.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairValues {
    /// A rigorous lower limit, never below the closed form.
    pub lower: Accounted,
    /// The value itself, with its standard error.
    pub estimate: Accounted,
    /// Mean weight of the draws of one epoch's ε; `None` without draws, and for whole runs, whose
    /// weights are near 1 only where it matters.
    pub mean_weight: Option<MeanWeight>,
}

/// Mean weight of draws; its expectation is 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeanWeight {
    /// The mean.
    pub value: f64,
    /// Its standard error.
    pub standard_error: f64,
}

impl ExactPair {
    /// A rigorous lower limit and an estimate.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `training` | σ, T, E | as of [`Shuffle`](super::Shuffle); T ≤ 1e7 |
    /// | `given` | δ | [1e-300, 1) |
    /// | | or ε, nats | [0, 1e6] |
    /// | `source` | draws; a closure that fills a slice with independent standard normals suffices | – |
    ///
    /// # Guarantee
    /// The lower limit exceeds the pair's ε or δ with probability at most `significance`
    /// (`tests/oracles/shuffle_theory.rs::one_epoch_of_the_exact_pair`,
    /// `tests/oracles/shuffle_theory.rs::delta_by_quadrature_and_simulation`,
    /// `tests/oracles/pair_epochs.rs::many_epochs_of_the_exact_pair`,
    /// `tests/oracles/pair_epochs.rs::delta_of_many_epochs`).
    ///
    /// # Errors
    /// [`AccountingError`]; the source fails.
    ///
    /// # Numerics
    /// From normals, f64 throughout; sums in a fixed order, so the same normals yield the same bits
    /// everywhere. Floating-point error of the weights, about 1e-13, is covered by a relative 1e-9
    /// of the sampled part. If a source states a larger [error](DrawError), the limit is rounded
    /// outward by it: each draw is within this error of one of exact normals, the sampled remainder
    /// is never negative, and the smallest value that the exact draw may have counts, 0 if its side
    /// of A is in doubt
    /// (`crates/core/src/accounting/pair/one_epoch.rs::least_values_are_below_those_of_all_draws_nearby`).
    /// The estimate uses the draws without this correction.
    ///
    /// # Reference
    /// A. Maurer and M. Pontil (COLT 2009), theorem 4; L. Chua et al. (ICML 2024) for the events.
    /// Sampling only the remainder and the tilted mixture are ours.
    pub fn evaluate<S: PairDraws>(
        &self,
        training: &Training,
        given: Given,
        source: &mut S,
    ) -> Result<PairValues, S::Error> {
        self.check(training)?;
        check_given(given)?;
        let closed = shuffle::lower(training, given, ShuffleMethod::Best)?;
        if training.steps_per_epoch == 1 {
            return Ok(self.gaussian(training, given, closed)?);
        }
        match (self.method, given) {
            (PairMethod::OneEpoch, Given::Delta(delta)) => {
                self.one_epoch_epsilon(training, delta, closed, source)
            }
            (PairMethod::OneEpoch, Given::Epsilon(epsilon)) => {
                self.one_epoch_delta(training, epsilon, closed, source)
            }
            (PairMethod::WholeRuns, _) => self.whole_runs(training, given, closed, source),
            (PairMethod::PlugIn, _) => self.plug_in(training, given, closed, source),
        }
    }

    fn one_epoch_epsilon<S: PairDraws>(
        &self,
        run: &Training,
        delta: f64,
        closed: Accounted,
        source: &mut S,
    ) -> Result<PairValues, S::Error> {
        let given = Given::Delta(delta);
        let slice = best_epsilon_cut(&(*run).into(), delta);
        let sum = shuffle::lower(run, given, ShuffleMethod::Sum)?.epsilon;
        let event_at = |epsilon: f64| {
            if slice.value > sum {
                Event::Maximum { cut: slice.cut }
            } else {
                Event::of_total(run, epsilon)
            }
        };
        let proposal = proposal_for(run, slice.cut, slice.value, sum);
        let (pilot_size, main_size) = parts(self.draws);
        let kept = pilot_draws(&proposal, pilot_size, source)?;
        let significance = self.significance;
        let error = source.error(&proposal);
        let pilot = Pilot { run, draws: &kept, error, main_draws: main_size, significance };

        let low = closed.epsilon;
        let high = gdp::gdp_epsilon(1.0 / run.noise_multiplier, delta).unwrap_or(low).max(low);
        let near = largest_at_least(delta, low, high, |e| pilot.delta(e, event_at(e)));
        let most = pilot.best_truncation(near, event_at(near));
        let tested =
            largest_at_least(delta, low, near, |e| pilot.provable_delta(e, event_at(e), most));
        let plan =
            Plan { tested: (tested, event_at(tested)), most, estimated: (near, event_at(near)) };
        let outcome = main_draws(&proposal, &plan, main_size, source)?;

        let proven = plan.tested.1.advantage(run, tested)
            + (1.0 - 1e-9) * outcome.limited.lower_limit(most, significance).max(0.0);
        let is_proven = proven >= delta && tested > low;
        let lower = if is_proven { self.limit(given, tested) } else { closed };
        let change = plan.estimated.1.advantage(run, near) + outcome.estimated.mean - delta;
        let slope = outcome.slope.mean;
        // at ε = 0 δ may be below that of the query
        let moved = if slope > 0.0 { (change / slope).clamp(-1.0, 1.0) } else { 0.0 };
        let error = if slope > 0.0 { outcome.estimated.standard_error() / slope } else { 0.0 };
        let value = within_proven(run, given, near + moved, &closed)?;
        let mean_weight = Some(MeanWeight {
            value: outcome.weight.mean,
            standard_error: outcome.weight.standard_error(),
        });
        Ok(PairValues { lower, estimate: estimate(given, value, error, basis(0.0)), mean_weight })
    }

    fn one_epoch_delta<S: PairDraws>(
        &self,
        run: &Training,
        epsilon: f64,
        closed: Accounted,
        source: &mut S,
    ) -> Result<PairValues, S::Error> {
        let given = Given::Epsilon(epsilon);
        let cut = best_delta_cut(&(*run).into(), epsilon).cut;
        let by_maximum = Event::Maximum { cut };
        let by_total = Event::of_total(run, epsilon);
        let (max_delta, sum_delta) =
            (by_maximum.advantage(run, epsilon), by_total.advantage(run, epsilon));
        let event = if max_delta > sum_delta { by_maximum } else { by_total };
        let proposal = proposal_for(run, cut, max_delta, sum_delta);
        let (pilot_size, main_size) = parts(self.draws);
        let kept = pilot_draws(&proposal, pilot_size, source)?;
        let significance = self.significance;
        let error = source.error(&proposal);
        let pilot = Pilot { run, draws: &kept, error, main_draws: main_size, significance };
        let most = pilot.best_truncation(epsilon, event);
        let plan = Plan { tested: (epsilon, event), most, estimated: (epsilon, event) };
        let outcome = main_draws(&proposal, &plan, main_size, source)?;
        let known = event.advantage(run, epsilon);
        let proven =
            known + (1.0 - 1e-9) * outcome.limited.lower_limit(most, significance).max(0.0);
        let lower = if proven > closed.delta { self.limit(given, proven) } else { closed };
        let value = (known + outcome.estimated.mean).max(0.0);
        let error = outcome.estimated.standard_error();
        let estimate = estimate(given, value, error, basis(0.0));
        Ok(PairValues { lower, estimate, mean_weight: None })
    }

    fn whole_runs<S: PairDraws>(
        &self,
        run: &Training,
        given: Given,
        closed: Accounted,
        source: &mut S,
    ) -> Result<PairValues, S::Error> {
        let size = (self.draws, self.significance);
        let outcome = match given {
            Given::Delta(delta) => many_epochs::runs_epsilon(run, delta, size, source)?,
            Given::Epsilon(epsilon) => many_epochs::runs_delta(run, epsilon, size, source)?,
        };
        let lower = match outcome.proven {
            Some(value) if value > closed.value(given) => self.limit(given, value),
            _ => closed,
        };
        let value = within_proven(run, given, outcome.estimate, &closed)?;
        let estimate = estimate(given, value, outcome.standard_error, basis(0.0));
        Ok(PairValues { lower, estimate, mean_weight: None })
    }

    fn plug_in<S: PairDraws>(
        &self,
        run: &Training,
        given: Given,
        closed: Accounted,
        source: &mut S,
    ) -> Result<PairValues, S::Error> {
        let PlugInOutcome { value, standard_error, grid } =
            many_epochs::plug_in(run, given, self.draws, source)?;
        let grid_error = match given {
            Given::Delta(_) => grid.epsilon_error(),
            Given::Epsilon(_) => value * grid.error,
        };
        let value = within_proven(run, given, value, &closed)?;
        let basis = Basis { method: Method::PlugIn, ..basis(grid_error) };
        let estimate = estimate(given, value, standard_error, basis);
        Ok(PairValues { lower: closed, estimate, mean_weight: None })
    }

    /// T = 1: the Gaussian mechanism.
    fn gaussian(
        &self,
        run: &Training,
        given: Given,
        closed: Accounted,
    ) -> Result<PairValues, AccountingError> {
        let gdp_mu = (run.epochs as f64).sqrt() / run.noise_multiplier;
        let value = match given {
            Given::Delta(delta) => gdp::gdp_epsilon(gdp_mu, delta),
            Given::Epsilon(epsilon) => gdp::gdp_delta(gdp_mu, epsilon),
        };
        let value = value.unwrap_or(0.0);
        let lower = match (self.method, given) {
            (PairMethod::OneEpoch, Given::Epsilon(_)) => {
                shuffle::lower(run, given, ShuffleMethod::Sum)?
            }
            _ => closed,
        };
        let basis = Basis {
            directions: Directions::Both,
            method: Method::Analytic,
            ..basis(1e-12 * value)
        };
        let estimate = estimate(given, value, 0.0, basis);
        Ok(PairValues { lower, estimate, mean_weight: None })
    }

    /// A lower limit at the confidence of the draws.
    fn limit(&self, given: Given, value: f64) -> Accounted {
        let limit = Accounted::new(Kind::Lower, given, value, basis(1e-9 * value));
        Accounted { significance: Some(self.significance), ..limit }
    }

    fn check(&self, run: &Training) -> Result<(), AccountingError> {
        check_drawn(run)?;
        if self.method == PairMethod::OneEpoch && run.epochs != 1 {
            return Err(argument("epochs", run.epochs as f64, "1 for the pair of one epoch"));
        }
        if !(1_000..=1_000_000_000_000).contains(&(self.draws as u64)) {
            return Err(argument("draws", self.draws as f64, "between 1,000 and 1e12"));
        }
        // a plug-in has no limit of its own
        let is_limited = self.method != PairMethod::PlugIn;
        if is_limited && !(1e-12..=0.5).contains(&self.significance) {
            return Err(argument("significance", self.significance, "between 1e-12 and 0.5"));
        }
        Ok(())
    }
}

/// The proposal for ε of one epoch, for sources of draws.
///
/// # Errors
/// [`AccountingError::Argument`]; also for T = 1, which needs no draws.
///
/// # Example
/// ```
/// use dpscope_core::accounting::{Training, pair::epsilon_proposal};
/// let training =
///     Training { noise_multiplier: 1.0, steps_per_epoch: 100, epochs: 1, sampling_rate: None };
/// let proposal = epsilon_proposal(&training, 1e-5)?;
/// assert_eq!((proposal.components().len(), proposal.other_shift()), (3, 6.0));
/// # Ok::<(), dpscope_core::accounting::AccountingError>(())
/// ```
pub fn epsilon_proposal(training: &Training, delta: f64) -> Result<Proposal, AccountingError> {
    check_drawn(training)?;
    check_delta(delta)?;
    if training.steps_per_epoch == 1 {
        return Err(argument("steps_per_epoch", 1.0, "at least 2: a single step is not sampled"));
    }
    let slice = best_epsilon_cut(&(*training).into(), delta);
    let sum = shuffle::lower(training, Given::Delta(delta), ShuffleMethod::Sum)?.epsilon;
    Ok(proposal_for(training, slice.cut, slice.value, sum))
}

/// An estimate, clamped to the proven bounds.
fn within_proven(
    run: &Training,
    given: Given,
    value: f64,
    closed: &Accounted,
) -> Result<f64, AccountingError> {
    let all = deterministic::upper(run, given)?.value(given);
    Ok(value.max(closed.value(given)).min(all))
}

fn estimate(given: Given, value: f64, standard_error: f64, basis: Basis) -> Accounted {
    let estimate = Accounted::new(Kind::Estimate, given, value, basis);
    Accounted { standard_error: Some(standard_error), ..estimate }
}

fn basis(numeric_error: f64) -> Basis {
    Basis {
        scope: Scope::Pair,
        directions: Directions::Remove,
        method: Method::ImportanceSampling,
        numeric_error,
    }
}

/// The proposal around the threshold of the largest output, if its bound is positive, and of the
/// sum, if its bound is at least a fifth of it.
fn proposal_for(run: &Training, cut: f64, by_maximum: f64, by_sum: f64) -> proposal::Proposal {
    let maximum = (by_maximum > 0.0).then_some(cut);
    let total = (by_sum > 0.2 * by_maximum.max(0.0)).then(|| {
        // two deviations above the mean of P, where δ of a sum is decided at usual δ
        let steps = run.steps_per_epoch as f64;
        2.0 + 3.0 * run.noise_multiplier * steps.sqrt()
    });
    one_epoch::proposal(run, maximum, total)
}

/// Rejects runs whose epochs are too long to sample.
fn check_drawn(run: &Training) -> Result<(), AccountingError> {
    run.check_shuffle()?;
    if run.steps_per_epoch > 10_000_000 {
        let (value, allowed) =
            (run.steps_per_epoch as f64, "at most 1e7, as every step is sampled");
        return Err(argument("steps_per_epoch", value, allowed));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::many_epochs::PlugInGrid;
    use super::*;
    use crate::special::normal;

    /// Normals at rising places of a sequence that fills (0, 1) evenly.
    fn normals() -> impl FnMut(&mut [f64]) {
        let mut place = 0.0_f64;
        move |values: &mut [f64]| {
            for value in values {
                place += 1.0;
                let uniform = (place * std::f64::consts::SQRT_2 + place * place * 1e-3).fract();
                *value = normal::quantile(uniform.clamp(1e-9, 1.0 - 1e-9));
            }
        }
    }

    #[test]
    fn a_plug_in_stays_within_what_is_proven() {
        let at = Given::Delta(1e-5);
        let pair = ExactPair { method: PairMethod::PlugIn, draws: 2000, significance: 0.5 };
        let above = |run: &Training| deterministic::upper(run, at).unwrap().epsilon;
        let run = |noise_multiplier, epochs| Training {
            noise_multiplier,
            steps_per_epoch: 20,
            epochs,
            sampling_rate: None,
        };
        for noise_multiplier in [0.02, 0.1, 0.3] {
            for epochs in [2, 100] {
                let run = run(noise_multiplier, epochs);
                let seen = pair.evaluate(&run, at, &mut normals()).unwrap().estimate.epsilon;
                assert!(seen <= above(&run), "{run:?}: {seen} {}", above(&run));
                if let Ok(closed) = shuffle::lower(&run, at, ShuffleMethod::Best) {
                    assert!(seen >= closed.epsilon, "{run:?}: {seen}");
                }
            }
        }
        let run = run(0.1, 2);
        let all = above(&run);
        let closed = Accounted::new(Kind::Lower, at, 3.0, basis(0.0));
        assert_eq!(within_proven(&run, at, all + 1.0, &closed).unwrap(), all);
        assert_eq!(within_proven(&run, at, 2.0, &closed).unwrap(), 3.0);
        assert_eq!(within_proven(&run, at, 4.0, &closed).unwrap(), 4.0);
    }

    /// A narrower grid would move all losses to its end.
    #[test]
    fn losses_of_little_noise_lie_on_the_grid() {
        let run = Training {
            noise_multiplier: 0.01,
            steps_per_epoch: 2,
            epochs: 1000,
            sampling_rate: None,
        };
        let grid = PlugInGrid::new(&run, 1.0);
        let end = 2e6 * grid.step;
        assert!(end > 0.5 / 1e-4 && grid.epsilon_error() > 1e-4, "{grid:?}");
        let usual = Training { noise_multiplier: 0.5, ..run };
        let grid = PlugInGrid::new(&usual, 1.0);
        assert!((grid.epsilon_error() - 1e-4).abs() < 1e-12, "{grid:?}");
    }
}
