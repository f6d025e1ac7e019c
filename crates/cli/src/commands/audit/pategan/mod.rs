//! `dpscope audit pategan`: PATE-GAN with faults as switches, its checks, and an attack on its rows.

mod args;

pub(crate) use args::PateGanArgs;

use std::ops::Range;
use std::time::Instant;

use dpscope_core::adjacency::World;
use dpscope_report::figure::pategan_svg;
use dpscope_report::text::pategan_text;
use dpscope_synth::audit::{Audit, AuditError, AuditOptions, AuditedRun, Replay};
use dpscope_synth::detect::Check;
use dpscope_synth::mechanism::MechanismError;
use dpscope_synth::{Fault, Settings, Stop};
use rayon::prelude::*;

use crate::args::{check_drawing, write_drawing};
use crate::failure::{CommandResult, Exit, Failure};
use crate::output::{print_json, print_text};
use crate::seed::seed_or_fresh;

/// Runs that a thread takes at a time: they are trained side by side.
const PER_TASK: u64 = 8;
/// The most iterations of `--epsilon`.
const MOST_ITERATIONS: u32 = 10_000;

pub(crate) fn run(args: &PateGanArgs) -> CommandResult {
    let started = Instant::now();
    args.plot.as_deref().map_or(Ok(()), check_drawing)?;
    let faults = if args.harness_faults { args.fault.with(Fault::E1) } else { args.fault };
    let (seed, seed_source) = seed_or_fresh(args.seed)?;
    let audit = Audit::worst_case(&settings(args)?, faults, seed).map_err(named)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(args.threads.map_or(0, usize::from));
    let pool = pool.build().map_err(internal)?;
    let runs = pool.install(|| runs_of_worlds(&audit, args.runs));
    let options = AuditOptions {
        significance: args.statement.significance(),
        checks_significance: args.checks_significance,
    };
    let outcome = audit.evaluate(runs, options).map_err(named)?;
    let elapsed_ms = started.elapsed().as_secs_f64() * 1e3;
    let replay = Replay { version: env!("CARGO_PKG_VERSION"), seed_source, elapsed_ms };
    let report = audit.report(&outcome, replay);
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
    let tasks: Vec<Range<u64>> = (0..runs.div_ceil(PER_TASK))
        .map(|task| task * PER_TASK..runs.min((task + 1) * PER_TASK))
        .collect();
    tasks.into_par_iter().flat_map_iter(|task| audit.runs(world, task)).collect()
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
        rows: 4,
        ..Settings::default()
    })
}

/// The options in front of a message.
fn named(error: AuditError) -> Failure {
    match error {
        AuditError::Mechanism(MechanismError::NoEpsilon { fault }) => Failure::input(format!(
            "--fault {fault} concerns when to stop; pass --epsilon, in place of --iterations"
        )),
        AuditError::Mechanism(MechanismError::Settings(error)) => Failure::input(format!(
            "{error}; see --teachers, --gamma, --batch-size, --epsilon and --delta"
        )),
        other => Failure::input(other),
    }
}
