//! `dpscope reproduce published`: published trainings, their claims, and what shuffling would leak.

mod data;
mod table;

use dpscope_core::accounting::{
    Accountant, Cell, Deterministic, Given, Kind, Poisson, Query, Shuffle, ShuffleMethod,
};
use dpscope_engine::EngineError;
use dpscope_report::figure::published_svg;
use dpscope_report::record::{ClaimReproduction, PairRange, PublishedReport, PublishedRow};
use dpscope_simulation::Backend;
use dpscope_simulation::pair::PairSampler;

use super::ReproduceArgs;
use crate::args::{check_drawing, write_drawing};
use crate::device::backend;
use crate::failure::{CommandResult, Exit, Failure, reject_unused_options};
use crate::job::float_mode;
use crate::output::{print_json, print_text};
use crate::progress::{RowProgress, Terminal, is_interrupted};
use crate::seed::seed_or_fresh;
use data::{PublishedTraining, trainings};

/// Chance that a drawn bound is wrong.
const SIGNIFICANCE: f64 = 0.05;

pub(super) fn run(args: &ReproduceArgs) -> CommandResult {
    let unused = [("--observations", args.observations.is_some()), ("--runs", args.runs.is_some())];
    reject_unused_options(&unused, "with published, which trains and simulates nothing")?;
    if let Some(path) = &args.plot {
        check_drawing(path)?;
    }
    let trainings = trainings()?;
    let (seed, _) = seed_or_fresh(args.seed)?;
    let backend = backend(&args.device, float_mode(&args.device, &[]))?;
    let progress = RowProgress::new(args.show.quiet, trainings.len()).with_estimate();
    let mut rows = Vec::with_capacity(trainings.len());
    for training in trainings {
        if is_interrupted() {
            return Err(Failure::interrupted());
        }
        progress.next(&training.name);
        rows.push(row(training, seed, &backend)?);
    }
    drop(progress);
    let report = PublishedReport {
        schema: "dpscope.published/1",
        version: env!("CARGO_PKG_VERSION"),
        significance: SIGNIFICANCE,
        seed: seed.to_string(),
        rows,
    };
    if args.show.json {
        print_json(&report)?;
    } else {
        print_text(&table::text(&report))?;
    }
    if let Some(path) = &args.plot {
        write_drawing(path, &published_svg(&report))?;
    }
    Ok(Exit::Done)
}

fn row(training: PublishedTraining, seed: u64, backend: &Backend) -> Result<PublishedRow, Failure> {
    let setting = training.schedule()?;
    let given = Given::Delta(training.delta);
    let poisson = Cell::from(Poisson.account(&Query::upper(setting.poisson(), given)));
    let whole = setting.rounded_down();
    let shuffle = whole.clone().and_then(|whole| {
        let query = Query { kind: Kind::Lower, ..Query::upper(whole, given) };
        Shuffle(ShuffleMethod::Best).account(&query)
    });
    let shuffle_lower = Cell::from(shuffle);
    let sampler =
        PairSampler { seed, observations: None, significance: SIGNIFICANCE, whole_runs: false };
    let drawn = whole.map(|whole| sampler.rows(whole, given, backend, &Terminal::of_pair(true)));
    let pair = match drawn {
        Ok(Ok(rows)) => Some(PairRange {
            lower: rows.lower,
            estimate: rows.estimate,
            observations: rows.observations,
        }),
        Ok(Err(EngineError::Stopped)) => return Err(Failure::interrupted()),
        Ok(Err(error)) => return Err(error.into()),
        Err(_) => None,
    };
    let claimed_epsilon = training.claimed()?;
    let least = [shuffle_lower.value(), pair.as_ref().map(|pair| &pair.lower)];
    let least = least.into_iter().flatten().map(|row| row.epsilon).reduce(f64::max);
    Ok(PublishedRow {
        claim: ClaimReproduction::new(&training.claimed_epsilon, claimed_epsilon, poisson.value()),
        total_steps: setting.steps(),
        setting,
        poisson,
        shuffle_lower,
        shuffle_upper: Deterministic.account(&Query::upper(setting.rounded_up(), given)).into(),
        shuffle_over_claim: least.map(|least| least / claimed_epsilon),
        pair,
        claimed_epsilon,
        source: training.source(),
        name: training.name,
        dataset_size: training.dataset_size,
        batch_size: training.batch_size,
        delta: training.delta,
        claimed: training.claimed_epsilon,
        accountant: training.accountant,
        ran: training.ran,
        ran_note: training.ran_note,
        remark: training.remark,
        unverified: training.unverified,
    })
}
