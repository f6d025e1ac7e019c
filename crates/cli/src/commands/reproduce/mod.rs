//! `dpscope reproduce`: published audits beside ours.

mod args;
mod published;
mod shown;
mod trained;
mod trained_shown;

pub(crate) use args::ReproduceArgs;

use std::io::IsTerminal;

use dpscope_core::accounting::{Accountant, Cell, Given, Poisson, Query, Training};
use dpscope_core::audit::bound::ceiling;
use dpscope_core::audit::bound::{EpsilonEstimate, max_uncorrected};
use dpscope_engine::pair::{PairRows, PairSampler};
use dpscope_engine::{Artefact, Backend, EngineError, Plan};
use serde::Serialize;

use crate::commands::simulate::{count_whole, float_mode, shuffle_plan};
use crate::device::backend;
use crate::failure::{Done, Exit, Failure, refuse_idle};
use crate::output::{print, print_json, tell};
use crate::progress::Terminal;
use crate::seed::seed_or_fresh;
use args::Reproduction;
use published::{Published, figure_3, table_1};

#[derive(Serialize)]
struct Reproduced {
    schema: &'static str,
    what: &'static str,
    delta: f64,
    significance: f64,
    observations: u64,
    published_observations: u64,
    seed: String,
    device: String,
    /// Of the estimates, which share the paper's rule.
    ceiling: f64,
    rows: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    name: String,
    noise_multiplier: f64,
    steps: u32,
    epochs: u32,
    /// Printed in the paper.
    claimed_epsilon: Option<f64>,
    /// Poisson accounting, ours.
    poisson: Cell,
    /// Printed less ours.
    claimed_difference: Option<f64>,
    published_estimate: Option<f64>,
    #[serde(flatten)]
    ours: Ours,
    gain_at_10x: f64,
    /// The pair's own ε, which no number of observations goes beyond.
    pair: PairRows,
    why_they_differ: Vec<Reason>,
    elapsed_ms: f64,
}

/// What was counted here.
#[derive(Serialize)]
struct Ours {
    /// By the paper's rule: the largest value over all cuts, uncorrected.
    our_estimate: f64,
    /// From the errors at the cut that decided; none where no cut shows more than 0.
    standard_error: Option<f64>,
    /// Ours less the paper's.
    difference: Option<f64>,
    /// By the simultaneous rule, with coverage.
    our_bound: f64,
}

impl Ours {
    fn of(state: &Artefact, published: Option<f64>) -> Result<Self, Failure> {
        let estimate = estimate(state)?;
        Ok(Ours {
            our_estimate: estimate.value(),
            standard_error: (estimate.value() > 0.0).then(|| standard_error(&estimate)),
            difference: published.map(|printed| estimate.value() - printed),
            our_bound: state.outcome()?.value(),
        })
    }
}

/// By the paper's rule.
fn estimate(state: &Artefact) -> Result<EpsilonEstimate, Failure> {
    let trade_off = state.histograms.trade_off(&state.layout.bins)?;
    Ok(max_uncorrected(&trade_off, state.plan.delta, state.plan.significance)?)
}

/// Why a number of ours is not the printed one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Reason {
    /// The printed ε is the upper end of an accountant's error interval.
    UpperEnd,
    /// The printed ε was copied from the model's own paper.
    CopiedClaim,
    /// Not as many observations as the paper's: the ceiling moves, and the estimate with it.
    Observations,
    /// How many observations the paper's are is not known to us.
    UnknownNumber,
    /// Within three standard errors of two such runs.
    Chance,
    /// None of these.
    Unexplained,
}

struct Source {
    what: &'static str,
    observations: u64,
    /// Why the printed ε is not what an accountant gives.
    claimed: Reason,
}

pub(crate) fn run(args: &ReproduceArgs) -> Done {
    let (source, published, default) = match args.what.what {
        Reproduction::Figure3 => {
            let source =
                Source { what: "figure-3", observations: 1_000_000_000, claimed: Reason::UpperEnd };
            (source, figure_3()?, 1_000_000)
        }
        Reproduction::Table1 => {
            let source =
                Source { what: "table-1", observations: 10_000_000, claimed: Reason::CopiedClaim };
            (source, table_1()?, 100_000)
        }
        _ => return trained::run(args),
    };
    refuse_idle(
        &[("--runs", args.runs.is_some())],
        "on figure-3 and table-1, which take --observations",
    )?;
    let observations = args.observations.unwrap_or(default);
    let (seed, _) = seed_or_fresh(args.seed)?;
    let backend = backend(&args.device, float_mode(&args.device, None))?;
    let mut rows = Vec::with_capacity(published.len());
    let mut seen = None;
    for setting in published {
        if !args.show.quiet && std::io::stderr().is_terminal() {
            tell(&setting.name);
        }
        let plan = shuffle_plan(setting.setting(), observations, 1e-5, 0.05, seed);
        let ended = count_whole(&plan, &backend, args.show.quiet)?;
        if ended.interrupted {
            tell("interrupted; fewer --observations take less time");
            return Ok(Exit::Interrupted);
        }
        let pair = pair_of(&setting, &plan, &backend, args.show.quiet)?;
        rows.push(reproduced(setting, &source, &ended, pair)?);
        seen = Some((plan, ended.state.histograms.trials()));
    }
    let (plan, trials) =
        seen.ok_or_else(|| Failure::with(Exit::Internal, "the published table is empty"))?;
    let report = Reproduced {
        schema: "dpscope.reproduction/2",
        what: source.what,
        delta: plan.delta,
        significance: plan.significance,
        observations,
        published_observations: source.observations,
        seed: seed.to_string(),
        device: backend.device(),
        ceiling: ceiling(trials, plan.delta, plan.significance / 2.0)?,
        rows,
    };
    if args.show.json {
        print_json(&report)?;
    } else {
        print(&shown::text(&report))?;
    }
    Ok(Exit::Done)
}

fn pair_of(
    published: &Published,
    plan: &Plan,
    backend: &Backend,
    quiet: bool,
) -> Result<PairRows, Failure> {
    let sampler = PairSampler {
        seed: plan.seed,
        observations: None,
        significance: plan.significance,
        whole_runs: false,
    };
    let (setting, at) = (published.setting(), Given::Delta(plan.delta));
    sampler.rows(setting, at, backend, &Terminal::of_pair(quiet)).map_err(|error| match error {
        EngineError::Stopped => {
            Failure::with(Exit::Interrupted, "interrupted; nothing of it is kept")
        }
        other => other.into(),
    })
}

fn reproduced(
    published: Published,
    source: &Source,
    ended: &crate::commands::simulate::Ended,
    pair: PairRows,
) -> Result<Row, Failure> {
    let state = &ended.state;
    let ours = Ours::of(state, published.empirical_epsilon)?;
    let poisson = Cell::from(
        Poisson.account(&Query::upper(published.setting(), Given::Delta(state.plan.delta))),
    );
    let claimed_difference =
        poisson.value().and_then(|row| Some(published.claimed_epsilon? - row.epsilon));
    let mut why_they_differ = Vec::new();
    if claimed_difference.is_some_and(|change| change.abs() > HALF_A_UNIT) {
        why_they_differ.push(source.claimed);
    }
    let other_number =
        (state.plan.observations != source.observations).then_some(Reason::Observations);
    why_they_differ.extend(reason(&ours, other_number));
    Ok(Row {
        name: published.name,
        noise_multiplier: published.noise_multiplier,
        steps: published.steps,
        epochs: published.epochs,
        claimed_epsilon: published.claimed_epsilon,
        poisson,
        claimed_difference,
        published_estimate: published.empirical_epsilon,
        ours,
        gain_at_10x: state.outcome()?.evidence().gain_at_10x,
        pair,
        why_they_differ,
        elapsed_ms: ended.elapsed_ms,
    })
}

impl Published {
    fn setting(&self) -> Training {
        let Published { noise_multiplier, steps, epochs, .. } = *self;
        Training {
            noise_multiplier,
            steps_per_epoch: steps.into(),
            epochs: epochs.into(),
            sampling_rate: None,
        }
    }
}

/// Of the last digit that is printed.
const HALF_A_UNIT: f64 = 0.005;

/// Why an estimate is not the printed one: another number of observations, if it is that; none
/// where they agree as printed.
fn reason(ours: &Ours, other_number: Option<Reason>) -> Option<Reason> {
    // both runs vary; where nothing is seen, by one event at least
    let error = ours.standard_error.unwrap_or(1.0);
    let chance = HALF_A_UNIT + 3.0 * std::f64::consts::SQRT_2 * error;
    match ours.difference?.abs() {
        agrees if agrees <= HALF_A_UNIT => None,
        _ if other_number.is_some() => other_number,
        close if close <= chance => Some(Reason::Chance),
        _ => Some(Reason::Unexplained),
    }
}

/// Of ln of the rate that decides, from its count: 1/√count, of at least one event.
fn standard_error(estimate: &EpsilonEstimate) -> f64 {
    let errors = estimate.evidence().errors;
    let fewest = errors.false_positives.min(errors.false_negatives).max(1);
    1.0 / (fewest as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_has_the_reason_that_explains_it() {
        let reason = |difference: f64, other_number| {
            let (our_estimate, our_bound) = (1.0, 0.5);
            let (difference, standard_error) = (Some(difference), Some(0.1));
            reason(&Ours { our_estimate, standard_error, difference, our_bound }, other_number)
        };
        assert_eq!(reason(0.004, None), None);
        assert_eq!(reason(-0.2, None), Some(Reason::Chance));
        for other_number in [Reason::Observations, Reason::UnknownNumber] {
            assert_eq!(reason(-0.2, Some(other_number)), Some(other_number));
            assert_eq!(reason(0.004, Some(other_number)), None);
        }
        assert_eq!(reason(-0.5, None), Some(Reason::Unexplained));
    }
}
