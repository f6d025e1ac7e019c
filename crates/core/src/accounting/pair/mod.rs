//! The exact pair of a shuffled run, by importance sampling of its likelihood ratio.
//!
//! An event A whose probability is known in both worlds proves P(A) − e^ε Q(A) ≤ δ(ε). What it
//! misses, E_P[(1 − e^{ε−L})₊ − 1_A (1 − e^{ε−L})], is never negative and small, and only this is
//! sampled. So a limit from below is never worse than the closed form by more than the sampling
//! error of a small part.

mod event;
mod many_epochs;
mod one_epoch;
mod power_sums;
mod proposal;
mod source;
mod tally;
mod tilt;

use event::Event;
pub use proposal::{Component, Draw, DrawError, EpochSums, Proposal, Shift};
pub use source::PairDraws;

use one_epoch::{Pilot, Plan, largest_at_least, main_draws, parts, pilot_draws};

use super::error::argument;
use super::result::{
    Account, DeltaEstimate, DeltaLowerBound, Directions, EpsilonEstimate, EpsilonLowerBound, Method,
};
use super::shuffle::max_slice::{best_delta_cut, best_epsilon_cut};
use super::shuffle::run::{check_delta, check_epsilon};
use super::shuffle::{self, ShuffleRun};
use super::{AccountingError, Target};
use crate::adjacency::Scope;
use crate::gdp;

/// How much is drawn, and how sure a limit is to be.
///
/// | field | meaning | domain |
/// |---|---|---|
/// | `draws` | observations, a fifth of them (at most 20,000) for the pilot | 1,000 to 1e12 |
/// | `significance` | chance that the lower limit is wrong | [1e-12, 0.5] |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sampling {
    /// Observations.
    pub draws: usize,
    /// Chance that the lower limit is wrong.
    pub significance: f64,
}

/// What sampling says of the pair's ε at a δ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairEpsilon {
    /// A rigorous lower limit.
    pub lower: EpsilonLowerBound,
    /// The value itself, with its standard error.
    pub estimate: EpsilonEstimate,
    /// Mean weight of the draws of one epoch; `None` where none was drawn, or whole runs were,
    /// whose weights are far from 1 but where it matters.
    pub mean_weight: Option<MeanWeight>,
}

/// Mean weight of draws, which is 1 but for its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeanWeight {
    /// The mean.
    pub value: f64,
    /// Its standard error.
    pub standard_error: f64,
}

/// What sampling says of the pair's δ at an ε.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairDelta {
    /// A rigorous lower limit.
    pub lower: DeltaLowerBound,
    /// The value itself, with its standard error.
    pub estimate: DeltaEstimate,
}

/// ε of the pair of one epoch, remove direction: a rigorous lower limit and an estimate.
///
/// δ(ε) = P(A) − e^ε Q(A) + E_q[w ((1 − e^{ε−L})₊ − 1_A (1 − e^{ε−L}))]
///
/// A is {max_t x_t > C} or {Σ_t x_t > C}, whichever proves more; q is a mixture of P₁ with the
/// target's slot, another slot and, where sums tell much, all slots shifted to the cut; w = dP₁/dq
/// over the whole mixture.
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `run` | σ, T, one epoch | see [`ShuffleRun`]; T ≤ 1e7 |
/// | `delta` | δ | [1e-300, 1) |
/// | `sampling` | draws and significance | see [`Sampling`] |
/// | `source` | draws; a closure that fills a slice with independent standard normals will do | – |
///
/// # Guarantee
/// The lower limit exceeds the pair's ε with probability at most `significance`
/// (`tests/oracles/shuffle_theory.rs::one_epoch_of_the_exact_pair`): τ and ε are fixed on a pilot,
/// and the closed form, which is proven, stands where that ε fails. It is never below the closed
/// form.
///
/// # Errors
/// [`AccountingError::Argument`]; the source fails.
///
/// # Numerics
/// From normals, f64 throughout; sums in a fixed order, so the same normals give the same bits
/// everywhere. Floating-point error of the weights, about 1e-13, is covered by a relative 1e-9 of
/// the sampled part. Where a source states a larger [error](DrawError), the limit is rounded
/// outward by it: each draw stands beside one of exact normals no further than that, what is
/// sampled is never negative, and of the values which the exact draw may have the least is taken, 0
/// where the side of A is in doubt
/// (`crates/core/src/accounting/pair/one_epoch.rs::least_values_are_below_those_of_all_draws_nearby`).
/// The estimate is of the draws as they are.
///
/// # Reference
/// A. Maurer and M. Pontil (COLT 2009), theorem 4; L. Chua et al. (ICML 2024) for the events. That
/// only the part which the events miss is sampled is ours.
pub fn pair_epsilon<S: PairDraws>(
    run: &ShuffleRun,
    delta: f64,
    sampling: Sampling,
    source: &mut S,
) -> Result<PairEpsilon, S::Error> {
    check_one_epoch(run, sampling)?;
    check_delta(delta)?;
    let closed = shuffle::best_epsilon(run, delta)?;
    if run.steps_per_epoch == 1 {
        return Ok(gaussian_epsilon(run, delta, closed));
    }
    let slice = best_epsilon_cut(&(*run).into(), delta);
    let sum = shuffle::sum_epsilon(run, delta)?.value();
    let event_at = |epsilon: f64| {
        if slice.value > sum {
            Event::Maximum { cut: slice.cut }
        } else {
            Event::of_total(run, epsilon)
        }
    };
    let proposal = proposal_for(run, slice.cut, slice.value, sum);
    let (pilot_size, main_size) = parts(sampling.draws);
    let kept = pilot_draws(&proposal, pilot_size, source)?;
    let significance = sampling.significance;
    let error = source.error(&proposal);
    let pilot = Pilot { run, draws: &kept, error, main_draws: main_size, significance };

    let low = closed.value();
    let high = gdp::gdp_epsilon(1.0 / run.noise_multiplier, delta).unwrap_or(low).max(low);
    let near = largest_at_least(delta, low, high, |e| pilot.delta(e, event_at(e)));
    let most = pilot.best_truncation(near, event_at(near));
    let tested = largest_at_least(delta, low, near, |e| pilot.provable_delta(e, event_at(e), most));
    let plan = Plan { tested: (tested, event_at(tested)), most, estimated: (near, event_at(near)) };
    let outcome = main_draws(&proposal, &plan, main_size, source)?;

    let proven = plan.tested.1.advantage(run, tested)
        + (1.0 - 1e-9) * outcome.limited.lower_limit(most, significance).max(0.0);
    let lower = if proven >= delta && tested > low {
        EpsilonLowerBound::new(tested, significance, account(1e-9 * tested))
    } else {
        closed
    };
    let change = plan.estimated.1.advantage(run, near) + outcome.estimated.mean - delta;
    let slope = outcome.slope.mean;
    // at ε = 0 δ may be below the wanted one
    let moved = if slope > 0.0 { (change / slope).clamp(-1.0, 1.0) } else { 0.0 };
    let error = if slope > 0.0 { outcome.estimated.standard_error() / slope } else { 0.0 };
    let estimate = within_proven(run, delta, near + moved, closed.value())?;
    Ok(PairEpsilon {
        lower,
        estimate: EpsilonEstimate::new(estimate, error, account(0.0)),
        mean_weight: Some(MeanWeight {
            value: outcome.weight.mean,
            standard_error: outcome.weight.standard_error(),
        }),
    })
}

/// What [`pair_epsilon`] draws from, for whoever makes draws.
///
/// # Errors
/// [`AccountingError::Argument`]: also where T is 1 and nothing is drawn.
///
/// # Example
/// ```
/// use dpscope_core::accounting::{pair::epsilon_proposal, shuffle::ShuffleRun};
/// let run = ShuffleRun { noise_multiplier: 1.0, steps_per_epoch: 100, epochs: 1 };
/// let proposal = epsilon_proposal(&run, 1e-5)?;
/// assert_eq!((proposal.components().len(), proposal.other_shift()), (3, 6.0));
/// # Ok::<(), dpscope_core::accounting::AccountingError>(())
/// ```
pub fn epsilon_proposal(run: &ShuffleRun, delta: f64) -> Result<Proposal, AccountingError> {
    check_drawn(run)?;
    check_delta(delta)?;
    if run.steps_per_epoch == 1 {
        return Err(argument("steps_per_epoch", 1.0, "at least 2, as nothing is drawn of 1"));
    }
    let slice = best_epsilon_cut(&(*run).into(), delta);
    let sum = shuffle::sum_epsilon(run, delta)?.value();
    Ok(proposal_for(run, slice.cut, slice.value, sum))
}

/// δ of the pair of one epoch at an ε, remove direction: a rigorous lower limit and an estimate.
///
/// See [`pair_epsilon`]; τ alone is fixed on the pilot, and the limit is never below the closed
/// form.
///
/// # Guarantee
/// The lower limit exceeds the pair's δ with probability at most `significance`
/// (`tests/oracles/shuffle_theory.rs::delta_by_quadrature_and_simulation`).
///
/// # Errors
/// [`AccountingError::Argument`]; the source fails.
pub fn pair_delta<S: PairDraws>(
    run: &ShuffleRun,
    epsilon: f64,
    sampling: Sampling,
    source: &mut S,
) -> Result<PairDelta, S::Error> {
    check_one_epoch(run, sampling)?;
    check_epsilon(epsilon)?;
    let closed = shuffle::best_delta(run, epsilon)?;
    if run.steps_per_epoch == 1 {
        return Ok(gaussian_delta(run, epsilon, shuffle::sum_delta(run, epsilon)?));
    }
    let cut = best_delta_cut(&(*run).into(), epsilon).cut;
    let by_maximum = Event::Maximum { cut };
    let by_total = Event::of_total(run, epsilon);
    let (max_delta, sum_delta) =
        (by_maximum.advantage(run, epsilon), by_total.advantage(run, epsilon));
    let event = if max_delta > sum_delta { by_maximum } else { by_total };
    let proposal = proposal_for(run, cut, max_delta, sum_delta);
    let (pilot_size, main_size) = parts(sampling.draws);
    let kept = pilot_draws(&proposal, pilot_size, source)?;
    let significance = sampling.significance;
    let error = source.error(&proposal);
    let pilot = Pilot { run, draws: &kept, error, main_draws: main_size, significance };
    let most = pilot.best_truncation(epsilon, event);
    let plan = Plan { tested: (epsilon, event), most, estimated: (epsilon, event) };
    let outcome = main_draws(&proposal, &plan, main_size, source)?;
    let known = event.advantage(run, epsilon);
    let proven = known + (1.0 - 1e-9) * outcome.limited.lower_limit(most, significance).max(0.0);
    let lower = if proven > closed.value() {
        DeltaLowerBound::new(proven, significance, account(1e-9 * proven))
    } else {
        closed
    };
    let value = (known + outcome.estimated.mean).max(0.0);
    let error = outcome.estimated.standard_error();
    Ok(PairDelta { lower, estimate: DeltaEstimate::new(value, error, account(0.0)) })
}

/// ε of the pair of a run of many epochs, remove direction: a rigorous lower limit and an estimate.
///
/// δ(ε) = E_q[Π w_e (1 − e^{ε − ΣL_e})₊], whole runs drawn, each epoch from a mixture that is
/// fitted to P tilted by e^{θL}, θ of Chernoff's bound at δ.
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `run` | σ, T, E | see [`ShuffleRun`]; T ≤ 1e7 |
/// | `delta` | δ | [1e-300, 1) |
/// | `sampling` | runs and significance; a run takes E (T + 1) normals | see [`Sampling`] |
/// | `source` | draws; a closure that fills a slice with independent standard normals will do | – |
///
/// # Guarantee
/// The lower limit exceeds the pair's ε with probability at most `significance`
/// (`tests/oracles/shuffle_theory.rs::many_epochs_of_the_exact_pair`): proposal, τ and ε are fixed
/// without the main draws. It is never below the closed form.
///
/// # Errors
/// [`AccountingError`]; the source fails.
///
/// # Reference
/// A. Maurer and M. Pontil (COLT 2009), theorem 4. The tilted mixture is ours.
pub fn pair_runs_epsilon<S: PairDraws>(
    run: &ShuffleRun,
    delta: f64,
    sampling: Sampling,
    source: &mut S,
) -> Result<PairEpsilon, S::Error> {
    check_drawn(run)?;
    check_sampling(sampling)?;
    check_delta(delta)?;
    let closed = shuffle::best_epsilon(run, delta)?;
    if run.steps_per_epoch == 1 {
        return Ok(gaussian_epsilon(run, delta, closed));
    }
    let outcome = many_epochs::runs_epsilon(run, delta, sampling, source)?;
    let lower = match outcome.proven {
        Some(value) if value > closed.value() => {
            EpsilonLowerBound::new(value, sampling.significance, account(1e-9 * value))
        }
        _ => closed,
    };
    let estimate = within_proven(run, delta, outcome.estimate, closed.value())?;
    Ok(PairEpsilon {
        lower,
        estimate: EpsilonEstimate::new(estimate, outcome.standard_error, account(0.0)),
        mean_weight: None,
    })
}

/// δ of the pair of a run of many epochs at an ε, remove direction: a rigorous lower limit and an
/// estimate.
///
/// See [`pair_runs_epsilon`]; τ alone is fixed on the pilot, and the limit is never below the
/// closed form.
///
/// # Guarantee
/// The lower limit exceeds the pair's δ with probability at most `significance`
/// (`tests/oracles/pair_epochs.rs::delta_of_many_epochs`).
///
/// # Errors
/// [`AccountingError`]; the source fails.
pub fn pair_runs_delta<S: PairDraws>(
    run: &ShuffleRun,
    epsilon: f64,
    sampling: Sampling,
    source: &mut S,
) -> Result<PairDelta, S::Error> {
    check_drawn(run)?;
    check_sampling(sampling)?;
    check_epsilon(epsilon)?;
    let closed = shuffle::best_delta(run, epsilon)?;
    if run.steps_per_epoch == 1 {
        return Ok(gaussian_delta(run, epsilon, closed));
    }
    let outcome = many_epochs::runs_delta(run, epsilon, sampling, source)?;
    let lower = match outcome.proven {
        Some(value) if value > closed.value() => {
            DeltaLowerBound::new(value, sampling.significance, account(1e-9 * value))
        }
        _ => closed,
    };
    let value = delta_within_proven(run, epsilon, outcome.estimate, closed.value())?;
    let estimate = DeltaEstimate::new(value, outcome.standard_error, account(0.0));
    Ok(PairDelta { lower, estimate })
}

/// ε of the pair of a run of many epochs, from the law of one epoch's L as it was drawn, composed.
///
/// A plug-in estimate, not a bound: δ of the composed law is not linear in the law of one epoch, so
/// its expectation is not the pair's δ, and the difference grows with E over the number of draws.
/// The limit beside it is the closed form, for which nothing is drawn.
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `run` | σ, T, E | see [`ShuffleRun`]; T ≤ 1e7 |
/// | `delta` | δ | [1e-300, 1) |
/// | `draws` | epochs drawn | 1,000 to 1e12 |
/// | `source` | draws; a closure that fills a slice with independent standard normals will do | – |
///
/// # Errors
/// [`AccountingError`]; the source fails.
///
/// # Numerics
/// The standard error comes from the spread of eight parts of the draws. Losses are spread over a
/// grid with E e^{−L} kept: an error of ε of at most 1e-4 or, where σ is so small that the grid
/// must be wider, of a quarter of its squared step an epoch. The estimate is moved into what is
/// proven: at least the closed form, at most deterministic batching
/// (`unit::a_plug_in_stays_within_what_is_proven`).
pub fn pair_plug_in_epsilon<S: PairDraws>(
    run: &ShuffleRun,
    delta: f64,
    draws: usize,
    source: &mut S,
) -> Result<PairEpsilon, S::Error> {
    check_drawn(run)?;
    check_sampling(Sampling { draws, significance: 0.5 })?;
    check_delta(delta)?;
    let closed = shuffle::best_epsilon(run, delta)?;
    if run.steps_per_epoch == 1 {
        return Ok(gaussian_epsilon(run, delta, closed));
    }
    let (value, standard_error) = many_epochs::plug_in(run, Target::Delta(delta), draws, source)?;
    let step = many_epochs::plug_in_step(run);
    let grid_error = (0.25 * run.epochs as f64 * step * step).max(1e-4);
    let account = Account { method: Method::PlugIn, ..account(grid_error) };
    let value = within_proven(run, delta, value, closed.value())?;
    let estimate = EpsilonEstimate::new(value, standard_error, account);
    Ok(PairEpsilon { lower: closed, estimate, mean_weight: None })
}

/// δ of the pair of a run of many epochs at an ε, from the law of one epoch's L as it was drawn,
/// composed: an estimate, not a bound; see [`pair_plug_in_epsilon`].
///
/// # Errors
/// [`AccountingError`]; the source fails.
///
/// # Numerics
/// The grid changes δ as it changes ε, by about θ times that, θ = −d ln δ/dε.
pub fn pair_plug_in_delta<S: PairDraws>(
    run: &ShuffleRun,
    epsilon: f64,
    draws: usize,
    source: &mut S,
) -> Result<PairDelta, S::Error> {
    check_drawn(run)?;
    check_sampling(Sampling { draws, significance: 0.5 })?;
    check_epsilon(epsilon)?;
    let closed = shuffle::best_delta(run, epsilon)?;
    if run.steps_per_epoch == 1 {
        return Ok(gaussian_delta(run, epsilon, closed));
    }
    let target = Target::Epsilon(epsilon);
    let (value, standard_error) = many_epochs::plug_in(run, target, draws, source)?;
    let account = Account { method: Method::PlugIn, ..account(0.0) };
    let value = delta_within_proven(run, epsilon, value, closed.value())?;
    Ok(PairDelta { lower: closed, estimate: DeltaEstimate::new(value, standard_error, account) })
}

/// An estimate, moved to what is proven from below and from above.
fn within_proven(
    run: &ShuffleRun,
    delta: f64,
    value: f64,
    closed: f64,
) -> Result<f64, AccountingError> {
    let all = run.deterministic().epsilon_upper(delta)?.value();
    Ok(value.max(closed).min(all))
}

/// The same for δ.
fn delta_within_proven(
    run: &ShuffleRun,
    epsilon: f64,
    value: f64,
    closed: f64,
) -> Result<f64, AccountingError> {
    let all = run.deterministic().delta_upper(epsilon)?.value();
    Ok(value.max(closed).min(all))
}

/// The proposal around the cut of the largest output, if it proves anything, and of the sum, if it
/// proves a fifth as much.
fn proposal_for(run: &ShuffleRun, cut: f64, by_maximum: f64, by_sum: f64) -> proposal::Proposal {
    let maximum = (by_maximum > 0.0).then_some(cut);
    let total = (by_sum > 0.2 * by_maximum.max(0.0)).then(|| {
        // two deviations above the mean of P, where δ of a sum is decided at usual δ
        let steps = run.steps_per_epoch as f64;
        2.0 + 3.0 * run.noise_multiplier * steps.sqrt()
    });
    one_epoch::proposal(run, maximum, total)
}

fn account(numeric_error: f64) -> Account {
    Account {
        scope: Scope::Pair,
        directions: Directions::Remove,
        method: Method::ImportanceSampling,
        numeric_error,
    }
}

fn gaussian_account(numeric_error: f64) -> Account {
    let directions = Directions::Both;
    Account { scope: Scope::Pair, directions, method: Method::Analytic, numeric_error }
}

/// T = 1: the Gaussian mechanism.
fn gaussian_epsilon(run: &ShuffleRun, delta: f64, closed: EpsilonLowerBound) -> PairEpsilon {
    let value =
        gdp::gdp_epsilon((run.epochs as f64).sqrt() / run.noise_multiplier, delta).unwrap_or(0.0);
    PairEpsilon {
        lower: closed,
        estimate: EpsilonEstimate::new(value, 0.0, gaussian_account(1e-12 * value)),
        mean_weight: None,
    }
}

fn gaussian_delta(run: &ShuffleRun, epsilon: f64, lower: DeltaLowerBound) -> PairDelta {
    let value =
        gdp::gdp_delta((run.epochs as f64).sqrt() / run.noise_multiplier, epsilon).unwrap_or(0.0);
    let estimate = DeltaEstimate::new(value, 0.0, gaussian_account(1e-12 * value));
    PairDelta { lower, estimate }
}

fn check_one_epoch(run: &ShuffleRun, sampling: Sampling) -> Result<(), AccountingError> {
    check_drawn(run)?;
    if run.epochs != 1 {
        let (value, allowed) = (run.epochs as f64, "1 for the pair of one epoch");
        return Err(argument("epochs", value, allowed));
    }
    check_sampling(sampling)
}

/// Refuses runs whose epochs are too long to be drawn.
fn check_drawn(run: &ShuffleRun) -> Result<(), AccountingError> {
    run.check()?;
    if run.steps_per_epoch > 10_000_000 {
        let (value, allowed) = (run.steps_per_epoch as f64, "at most 1e7, as each is drawn");
        return Err(argument("steps_per_epoch", value, allowed));
    }
    Ok(())
}

fn check_sampling(sampling: Sampling) -> Result<(), AccountingError> {
    if !(1_000..=1_000_000_000_000).contains(&(sampling.draws as u64)) {
        return Err(argument("draws", sampling.draws as f64, "between 1,000 and 1e12"));
    }
    if !(1e-12..=0.5).contains(&sampling.significance) {
        return Err(argument("significance", sampling.significance, "between 1e-12 and 0.5"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
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
        for noise_multiplier in [0.02, 0.1, 0.3] {
            for epochs in [2, 100] {
                let run = ShuffleRun { noise_multiplier, steps_per_epoch: 20, epochs };
                let seen = pair_plug_in_epsilon(&run, 1e-5, 2000, &mut normals()).unwrap().estimate;
                let all = run.deterministic().epsilon_upper(1e-5).unwrap().value();
                assert!(seen.value() <= all, "{run:?}: {} {all}", seen.value());
                if let Ok(closed) = shuffle::best_epsilon(&run, 1e-5) {
                    assert!(seen.value() >= closed.value(), "{run:?}: {}", seen.value());
                }
            }
        }
        let run = ShuffleRun { noise_multiplier: 0.1, steps_per_epoch: 20, epochs: 2 };
        let all = run.deterministic().epsilon_upper(1e-5).unwrap().value();
        assert_eq!(within_proven(&run, 1e-5, all + 1.0, 3.0).unwrap(), all);
        assert_eq!(within_proven(&run, 1e-5, 2.0, 3.0).unwrap(), 3.0);
        assert_eq!(within_proven(&run, 1e-5, 4.0, 3.0).unwrap(), 4.0);
    }

    /// A narrower grid would move all losses to its end.
    #[test]
    fn losses_of_little_noise_lie_on_the_grid() {
        let run = ShuffleRun { noise_multiplier: 0.01, steps_per_epoch: 2, epochs: 1000 };
        let end = 2e6 * many_epochs::plug_in_step(&run);
        assert!(end > 0.5 / 1e-4 && end > 2e6 * 1e-7_f64.sqrt(), "{end}");
        let usual = ShuffleRun { noise_multiplier: 0.5, ..run };
        assert!((many_epochs::plug_in_step(&usual) - 1e-7_f64.sqrt()).abs() < 1e-12);
    }
}
