//! `dpscope reproduce one-run-validity`: how often the bounds of one-run audits exceed the truth.

pub(super) mod canaries;
mod procedures;
mod table;
mod training;
pub(super) mod without_coverage;

use dpscope_core::interval::{clopper_pearson_lower, clopper_pearson_upper};
use dpscope_report::figure::one_run_validity_svg;
use dpscope_report::record::{
    BoundedQuantity, CoverageFinding, OneRunProcedure, OneRunValidityReport, SimulatedTraining,
    ValidityResult, ValiditySetting,
};
use rayon::prelude::*;

use super::ReproduceArgs;
use crate::args::{DeviceChoice, check_drawing, write_drawing};
use crate::failure::{CommandResult, Exit, Failure, reject_unused_options};
use crate::host;
use crate::output::{print_json, print_text};
use crate::progress::{RowProgress, keep_going};
use crate::seed::seed_or_fresh;
use procedures::Procedures;
use training::Simulation;

const SIGNIFICANCE: f64 = 0.05;

const DEFAULT_CANARIES: u64 = 1_000;
const DEFAULT_RUNS: u64 = 1_000;
const DEFAULT_DELTA: f64 = 1e-5;

/// Steps of the progress in the runs of a setting.
const PARTS: u64 = 20;

pub(super) fn run(args: &ReproduceArgs) -> CommandResult {
    let uses_gpu = !matches!(args.device.device, DeviceChoice::Auto | DeviceChoice::Cpu);
    reject_unused_options(
        &[
            ("--observations", args.observations.is_some()),
            ("--device", uses_gpu),
            ("--float-mode", args.device.float_mode.is_some()),
        ],
        "with one-run-validity, which simulates --runs audits on the CPU",
    )?;
    let canaries = args.canaries.unwrap_or(DEFAULT_CANARIES);
    let runs = args.runs.unwrap_or(DEFAULT_RUNS);
    let delta = args.delta.unwrap_or(DEFAULT_DELTA);
    check(canaries, runs)?;
    if let Some(path) = &args.plot {
        check_drawing(path)?;
    }
    let (seed, _) = seed_or_fresh(args.seed)?;
    let threads = args.device.threads.map_or(0, usize::from);
    let pool = host::pool(threads)?;

    let progress = RowProgress::new(args.show.quiet, SimulatedTraining::ALL.len() * PARTS as usize)
        .with_estimate();
    let mut settings = Vec::with_capacity(SimulatedTraining::ALL.len());
    for training in SimulatedTraining::ALL {
        let simulation = Simulation::new(training, canaries, delta);
        let drawn = pool.install(|| bounds(&simulation, runs, seed, &progress))?;
        settings.push(setting(&simulation, &drawn).map_err(internal)?);
    }
    drop(progress);
    let report = OneRunValidityReport {
        schema: "dpscope.one_run_validity/1",
        version: env!("CARGO_PKG_VERSION"),
        canaries,
        runs,
        significance: SIGNIFICANCE,
        findings_significance: SIGNIFICANCE,
        seed: seed.to_string(),
        procedures: OneRunProcedure::ALL.map(OneRunProcedure::record).into(),
        settings,
    };
    if args.show.json {
        print_json(&report)?;
    } else {
        print_text(&table::text(&report))?;
    }
    if let Some(path) = &args.plot {
        write_drawing(path, &one_run_validity_svg(&report))?;
    }
    Ok(Exit::Done)
}

fn check(canaries: u64, runs: u64) -> Result<(), Failure> {
    const CANARIES: std::ops::RangeInclusive<u64> = 100..=100_000;
    const RUNS: std::ops::RangeInclusive<u64> = 1..=1_000_000;
    for (option, value, allowed) in [("canaries", canaries, CANARIES), ("runs", runs, RUNS)] {
        if !allowed.contains(&value) {
            let (least, most) = (allowed.start(), allowed.end());
            return Err(Failure::input(format!(
                "--{option} is {value}; it must be from {least} to {most}"
            )));
        }
    }
    Ok(())
}

fn internal(error: anyhow::Error) -> Failure {
    Failure::with(Exit::Internal, format!("{error:#}"))
}

type Bounds = [f64; OneRunProcedure::ALL.len()];

/// The bounds of all procedures in all runs of a training.
fn bounds(
    simulation: &Simulation,
    runs: u64,
    seed: u64,
    progress: &RowProgress,
) -> Result<Vec<Bounds>, Failure> {
    let procedures = Procedures::new(simulation, SIGNIFICANCE).map_err(internal)?;
    let mut drawn = Vec::with_capacity(runs as usize);
    let keep_going = keep_going();
    for part in 0..PARTS {
        progress.next(simulation.training.name());
        let of_part = runs * part / PARTS..runs * (part + 1) / PARTS;
        let bounds = |run| match keep_going() {
            true => procedures.bounds(&simulation.draw(seed, run)).map_err(internal),
            false => Err(Failure::interrupted()),
        };
        let found: Result<Vec<Bounds>, Failure> = of_part.into_par_iter().map(bounds).collect();
        drawn.append(&mut found?);
    }
    Ok(drawn)
}

fn setting(simulation: &Simulation, drawn: &[Bounds]) -> Result<ValiditySetting, anyhow::Error> {
    let (epsilon, gdp_mu) = (simulation.epsilon()?, simulation.gdp_mu()?);
    let mut results = Vec::with_capacity(OneRunProcedure::ALL.len());
    for (place, procedure) in OneRunProcedure::ALL.into_iter().enumerate() {
        let truth = match procedure.record().quantity {
            BoundedQuantity::Epsilon => Some(epsilon),
            BoundedQuantity::GdpMu => gdp_mu,
        };
        let Some(truth) = truth else { continue };
        results.push(result(procedure, truth, drawn.iter().map(|bounds| bounds[place]).collect())?);
    }
    Ok(ValiditySetting {
        training: simulation.training,
        name: simulation.training.name(),
        description: simulation.description(),
        guesses: simulation.guesses(),
        delta: simulation.delta,
        epsilon,
        gdp_mu,
        results,
    })
}

fn result(
    procedure: OneRunProcedure,
    truth: f64,
    mut bounds: Vec<f64>,
) -> Result<ValidityResult, anyhow::Error> {
    bounds.sort_unstable_by(f64::total_cmp);
    let runs = bounds.len() as u64;
    let runs_above = runs - bounds.partition_point(|&bound| bound <= truth) as u64;
    let interval = |tail: f64| {
        let lower = clopper_pearson_lower(runs_above, runs, tail)?;
        Ok::<_, anyhow::Error>((lower, clopper_pearson_upper(runs_above, runs, tail)?))
    };
    let (share_lower, share_upper) = interval(0.025)?;
    let cells = OneRunProcedure::ALL.len() * SimulatedTraining::ALL.len();
    let (least, most) = interval(0.5 * SIGNIFICANCE / cells as f64)?;
    let coverage = if least > SIGNIFICANCE {
        CoverageFinding::Exceeded
    } else if most <= SIGNIFICANCE {
        CoverageFinding::Held
    } else {
        CoverageFinding::Undecided
    };
    Ok(ValidityResult {
        procedure,
        truth,
        median: bounds[bounds.len() / 2],
        runs_above,
        share: runs_above as f64 / runs as f64,
        share_lower,
        share_upper,
        coverage,
    })
}
