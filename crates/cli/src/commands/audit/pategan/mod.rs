//! `dpscope audit pategan`: PATE-GAN with faults as switches, its checks, and an attack on its rows.

mod args;
mod refusals;
mod table;

pub(crate) use args::PateGanArgs;

use std::ops::Range;
use std::time::Instant;

use dpscope_core::adjacency::World;
use dpscope_report::figure::pategan_svg;
use dpscope_report::record::PateGanReport;
use dpscope_report::text::pategan_text;
use dpscope_synth::audit::{Audit, AuditOptions, AuditedRun, Replay};
use dpscope_synth::detect::Check;
use dpscope_synth::{Fault, Settings, Stop};
use rayon::prelude::*;

use crate::args::{check_drawing, write_drawing};
use crate::failure::{CommandResult, Exit, Failure};
use crate::output::{print_json, print_text};
use crate::progress::{StepProgress, is_interrupted};
use crate::seed::seed_or_fresh;
use refusals::{check_memory, named};

/// Runs that a thread takes at a time: they are trained side by side.
const PER_TASK: u64 = 8;
/// Tasks of a thread between two looks at Ctrl-C.
const BLOCK: usize = 4;
/// Released rows of the worst case.
const WORST_CASE_ROWS: u32 = 4;
/// The most iterations of `--epsilon`.
const MOST_ITERATIONS: u32 = 10_000;

pub(crate) fn run(args: &PateGanArgs) -> CommandResult {
    let started = Instant::now();
    args.plot.as_deref().map_or(Ok(()), check_drawing)?;
    let faults = if args.harness_faults { args.fault.with(Fault::E1) } else { args.fault };
    let (seed, seed_source) = seed_or_fresh(args.seed)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(args.threads.map_or(0, usize::from));
    let pool = pool.build().map_err(internal)?;
    let settings = settings(args)?;
    let (audit, data) = pool.install(|| table::audit(args, &settings, faults, seed))?;
    pool.install(|| check_memory(&audit, args.runs))?;
    let mut progress = StepProgress::new(args.show.quiet, 2 * args.runs, 0);
    let runs = pool.install(|| runs_shown(&audit, args.runs, &mut progress))?;
    drop(progress);
    let options = AuditOptions {
        significance: args.statement.significance(),
        checks_significance: args.checks_significance,
    };
    let outcome = audit.evaluate(runs, options).map_err(named)?;
    let elapsed_ms = started.elapsed().as_secs_f64() * 1e3;
    let replay = Replay { version: env!("CARGO_PKG_VERSION"), seed_source, elapsed_ms };
    let report = PateGanReport { data, ..audit.report(&outcome, replay) };
    if args.show.json {
        print_json(&report)?;
    } else {
        print_text(&pategan_text(&report))?;
    }
    if let Some(path) = &args.plot {
        let [with, without] = &outcome.attack.scores;
        write_drawing(path, &pategan_svg([with, without], &report))?;
    }
    let has_finding = args.fail_on_finding && outcome.checks.iter().any(Check::has_fired);
    let is_refuted = audit.finding(&outcome).is_refuted();
    Ok(if is_refuted || has_finding { Exit::Refuted } else { Exit::Done })
}

/// Runs of both worlds, on the threads of the pool.
pub(crate) fn runs_of_worlds(audit: &Audit, runs: u64) -> [Vec<AuditedRun>; 2] {
    World::BOTH.map(|world| runs_of(audit, world, runs))
}

fn runs_of(audit: &Audit, world: World, runs: u64) -> Vec<AuditedRun> {
    let tasks: Vec<Range<u64>> = tasks(runs).collect();
    tasks.into_par_iter().flat_map_iter(|task| audit.runs(world, task)).collect()
}

fn tasks(runs: u64) -> impl Iterator<Item = Range<u64>> {
    let task = move |task| task * PER_TASK..runs.min((task + 1) * PER_TASK);
    (0..runs.div_ceil(PER_TASK)).map(task)
}

/// The same, with progress; it ends at Ctrl-C.
fn runs_shown(
    audit: &Audit,
    runs: u64,
    progress: &mut StepProgress,
) -> Result<[Vec<AuditedRun>; 2], Failure> {
    let tasks: Vec<Range<u64>> = tasks(runs).collect();
    let mut worlds = [Vec::new(), Vec::new()];
    let mut done = 0;
    for (world, found) in World::BOTH.into_iter().zip(&mut worlds) {
        for block in tasks.chunks(BLOCK * rayon::current_num_threads().max(1)) {
            if is_interrupted() {
                return Err(Failure::interrupted());
            }
            let of_task = |task: &Range<u64>| audit.runs(world, task.clone());
            found.par_extend(block.par_iter().flat_map_iter(of_task));
            done += block.iter().map(|task| task.end - task.start).sum::<u64>();
            progress.show(done, "runs", "audit");
        }
    }
    Ok(worlds)
}

fn internal(error: impl std::fmt::Display) -> Failure {
    Failure::with(Exit::Internal, error)
}

fn settings(args: &PateGanArgs) -> Result<Settings, Failure> {
    if args.statement.delta == 0.0 {
        return Err(Failure::input(
            "--delta 0: the accountant of several votes needs a delta above 0; leave it out",
        ));
    }
    let stop = match args.epsilon {
        Some(epsilon) => Stop::Epsilon { epsilon, at_most: MOST_ITERATIONS },
        None => Stop::Iterations(args.iterations.unwrap_or(100)),
    };
    if args.iterations == Some(0) {
        return Err(Failure::input("--iterations is 0; it must be at least 1"));
    }
    Ok(Settings {
        teachers: args.teachers,
        inverse_scale: args.gamma,
        batch_size: args.batch_size,
        stop,
        delta: args.statement.delta,
        rows: args.table.rows.unwrap_or(WORST_CASE_ROWS),
        ..Settings::default()
    })
}
