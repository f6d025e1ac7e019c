//! `dpscope reproduce`: repeats published audits.

mod args;
mod discrepancies;
mod dpsgd;
mod fedavg;
mod metagradient_canaries;
mod one_run_validity;
mod one_shot_table_2;
mod pategan;
mod published;
mod record;
mod table;
mod trainings;

pub(crate) use args::ReproduceArgs;

use dpscope_core::accounting::{Accountant, Cell, Given, Poisson, Query, Training};
use dpscope_core::audit::bound::ceiling;
use dpscope_engine::EngineError;
use dpscope_simulation::pair::{PairRows, PairSampler};
use dpscope_simulation::{Backend, Evaluate, Plan};

use crate::commands::simulate::{count_whole, shuffle_plan};
use crate::device::backend;
use crate::failure::{CommandResult, Exit, Failure, reject_unused_options};
use crate::job::{RunOutcome, float_mode};
use crate::output::{print_json, print_note, print_text};
use crate::progress::{RowProgress, Terminal, is_drawn};
use crate::seed::seed_or_fresh;
use args::Reproduction;
use dpscope_report::record::{DifferenceReason, PairRange, ReproductionReport, ReproductionRow};
use published::{Published, figure_3, table_1};
use record::{HALF_A_UNIT, our_result, reason};

struct Source {
    what: &'static str,
    observations: u64,
    /// Why the printed ε differs from that of an accountant.
    claimed: DifferenceReason,
}

pub(crate) fn run(args: &ReproduceArgs) -> CommandResult {
    args.reject_options_of_others()?;
    let what = args.what;
    if let Some(experiment) = what.fedavg() {
        return fedavg::run(args, experiment);
    }
    match what {
        Reproduction::OneRunValidity => one_run_validity::run(args),
        Reproduction::OneShotTable2 => one_shot_table_2::run(args),
        Reproduction::MetagradientCanaries => metagradient_canaries::run(args),
        Reproduction::PateGan => pategan::run(args),
        Reproduction::Published => trainings::run(args),
        Reproduction::Figure3 => {
            let source = Source {
                what: "figure-3",
                observations: 1_000_000_000,
                claimed: DifferenceReason::UpperEnd,
            };
            mechanism(args, &source, figure_3()?, 1_000_000)
        }
        Reproduction::Table1 => {
            let source = Source {
                what: "table-1",
                observations: 10_000_000,
                claimed: DifferenceReason::CopiedClaim,
            };
            mechanism(args, &source, table_1()?, 100_000)
        }
        _ => dpsgd::run(args),
    }
}

/// Simulations of the mechanism, setting by setting.
fn mechanism(
    args: &ReproduceArgs,
    source: &Source,
    published: Vec<Published>,
    default: u64,
) -> CommandResult {
    reject_unused_options(
        &[("--runs", args.runs.is_some())],
        "with figure-3 and table-1, which use --observations",
    )?;
    let observations = args.observations.unwrap_or(default);
    let (seed, _) = seed_or_fresh(args.seed)?;
    let backend = backend(&args.device, float_mode(&args.device, &[]))?;
    let mut rows = Vec::with_capacity(published.len());
    let mut seen = None;
    let progress = RowProgress::new(true, published.len()).with_estimate();
    for setting in published {
        progress.next(&setting.name);
        if is_drawn(args.show.quiet) {
            print_note(&setting.name);
        }
        let plan = shuffle_plan(setting.setting(), observations, 1e-5, 0.05, seed);
        let outcome = count_whole(&plan, &backend, args.show.quiet)?;
        if outcome.is_interrupted {
            print_note("interrupted; reduce --observations for a shorter run");
            return Ok(Exit::Interrupted);
        }
        let pair = pair_of(&setting, &plan, &backend, args.show.quiet)?;
        rows.push(reproduced(setting, source, &outcome, pair)?);
        seen = Some((plan, outcome.state.evidence.histograms.trials()));
    }
    let (plan, trials) =
        seen.ok_or_else(|| Failure::with(Exit::Internal, "the published table is empty"))?;
    let report = ReproductionReport {
        schema: "dpscope.reproduction/2",
        what: source.what,
        delta: plan.delta,
        significance: plan.significance,
        observations,
        published_observations: source.observations,
        seed: seed.to_string(),
        device: backend.device().name,
        ceiling: ceiling(trials, plan.delta, plan.significance / 2.0)?,
        rows,
    };
    if args.show.json {
        print_json(&report)?;
    } else {
        print_text(&table::text(&report))?;
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
        EngineError::Stopped => Failure::with(Exit::Interrupted, "interrupted; nothing was saved"),
        other => other.into(),
    })
}

fn reproduced(
    published: Published,
    source: &Source,
    outcome: &RunOutcome<Plan>,
    pair: PairRows,
) -> Result<ReproductionRow, Failure> {
    let state = &outcome.state;
    let ours = our_result(state, published.empirical_epsilon)?;
    let query = Query::upper(published.setting(), Given::Delta(state.plan.delta));
    let poisson = Cell::from(Poisson.account(&query));
    let claimed_difference =
        poisson.value().and_then(|row| Some(published.claimed_epsilon? - row.epsilon));
    let mut why_they_differ = Vec::new();
    if claimed_difference.is_some_and(|change| change.abs() > HALF_A_UNIT) {
        why_they_differ.push(source.claimed);
    }
    let other_number =
        (state.plan.observations != source.observations).then_some(DifferenceReason::Observations);
    why_they_differ.extend(reason(&ours, other_number));
    Ok(ReproductionRow {
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
        pair: PairRange {
            lower: pair.lower,
            estimate: pair.estimate,
            observations: pair.observations,
        },
        why_they_differ,
        elapsed_ms: outcome.elapsed_ms,
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
