//! `dpscope reproduce one-shot-table-2`: published estimates for the Gaussian mechanism beside ours.

mod published;
mod setting;
mod table;

use std::time::Instant;

use dpscope_core::audit::one_shot::EpsilonEstimator;
use dpscope_engine::FloatMode;
use dpscope_report::figure::one_shot_table_svg;
use dpscope_report::record::{OneShotNullEstimates, OneShotTableReport};

use super::{ReproduceArgs, discrepancies};
use crate::args::{DeviceChoice, check_drawing, write_drawing};
use crate::device::backend;
use crate::failure::{CommandResult, Exit, Failure, reject_unused_options};
use crate::host;
use crate::output::{print_json, print_text};
use crate::seed::seed_or_fresh;
use published::{DELTA, PUBLISHED, PUBLISHED_RUNS, SIZES};
use setting::{Setting, full_rows, rows};

const DEFAULT_RUNS: u64 = 1_000;
const FULL_LARGEST_DIMENSION: u64 = 100_000;

/// Share of runs without any leak outside the range of their estimates.
const OUTSIDE: f64 = 0.1;

pub(super) fn run(args: &ReproduceArgs) -> CommandResult {
    check(args)?;
    let started = Instant::now();
    let runs = args.runs.unwrap_or(if args.full { PUBLISHED_RUNS } else { DEFAULT_RUNS });
    if !(2..=1_000_000).contains(&runs) {
        return Err(Failure::input(format!("--runs is {runs}; it must be from 2 to 1000000")));
    }
    let (seed, _) = seed_or_fresh(args.seed)?;
    let settings = settings(args, runs, seed)?;
    let backend = match args.full {
        true => Some(backend(&args.device, FloatMode::Exact)?),
        false => None,
    };
    let threads = args.device.threads.map_or(0, usize::from);
    let pool = host::pool(threads)?;
    let rows = match &backend {
        Some(backend) => full_rows(&settings, backend, args.show.quiet)?,
        None => pool.install(|| rows(&settings, args.show.quiet))?,
    };
    // scores without any leak cost little in either case
    let null_runs = if args.full { DEFAULT_RUNS } else { runs };
    let discrepancies = pool.install(|| discrepancies::all(null_runs, seed))?;
    let report = OneShotTableReport {
        schema: "dpscope.one_shot_table/1",
        version: env!("CARGO_PKG_VERSION"),
        delta: DELTA,
        runs,
        published_runs: PUBLISHED_RUNS,
        full_dimension_device: backend.map(|backend| backend.device().name),
        seed: seed.to_string(),
        rows,
        null_estimates: null_estimates(&settings)?,
        discrepancies,
        elapsed_ms: started.elapsed().as_secs_f64() * 1e3,
    };
    if args.show.json {
        print_json(&report)?;
    } else {
        print_text(&table::text(&report))?;
    }
    if let Some(path) = &args.plot {
        write_drawing(path, &one_shot_table_svg(&report))?;
    }
    Ok(Exit::Done)
}

fn check(args: &ReproduceArgs) -> Result<(), Failure> {
    let uses_gpu = !matches!(args.device.device, DeviceChoice::Auto | DeviceChoice::Cpu);
    reject_unused_options(
        &[
            ("--observations", args.observations.is_some()),
            ("--canaries", args.canaries.is_some()),
            ("--delta", args.delta.is_some()),
            ("--float-mode", args.device.float_mode.is_some()),
        ],
        "with one-shot-table-2, which simulates --runs audits per setting of the paper",
    )?;
    reject_unused_options(
        &[("--device", uses_gpu && !args.full)],
        "with one-shot-table-2 without --full, which draws on the CPU",
    )?;
    args.plot.as_deref().map_or(Ok(()), check_drawing)
}

/// The settings of the table, in its order.
fn settings(args: &ReproduceArgs, runs: u64, seed: u64) -> Result<Vec<Setting>, Failure> {
    let largest = match args.full {
        true => args.largest_dimension.unwrap_or(FULL_LARGEST_DIMENSION),
        false => u64::MAX,
    };
    let (smallest, _) = SIZES[0];
    if largest < smallest {
        return Err(Failure::input(format!(
            "--largest-dimension is {largest}; the smallest dimension of the table is {smallest}"
        )));
    }
    let mut settings = Vec::with_capacity(PUBLISHED.len() * SIZES.len());
    for (epsilon, published) in PUBLISHED {
        for ((dimension, canaries), published) in SIZES.into_iter().zip(published) {
            let place = settings.len() as u64;
            settings.push(Setting { epsilon, dimension, canaries, published, place, runs, seed });
        }
    }
    // the draws of a setting do not depend on the largest dimension
    settings.retain(|setting| setting.dimension <= largest);
    Ok(settings)
}

/// What runs without any leak show, once for each number of canaries.
fn null_estimates(settings: &[Setting]) -> Result<Vec<OneShotNullEstimates>, Failure> {
    let first = settings.first().map(|setting| setting.epsilon);
    let sizes = settings.iter().filter(|setting| Some(setting.epsilon) == first);
    let of_size = |setting: &Setting| {
        let canaries = setting.canaries as u64;
        let range = |estimator: EpsilonEstimator| {
            estimator.null_range(canaries, DELTA, OUTSIDE).map_err(Failure::input)
        };
        Ok(OneShotNullEstimates {
            dimension: setting.dimension,
            canaries,
            fitted_sd: range(EpsilonEstimator::TwoGaussians)?,
            known_sd: range(EpsilonEstimator::Mean)?,
        })
    };
    sizes.map(of_size).collect()
}
