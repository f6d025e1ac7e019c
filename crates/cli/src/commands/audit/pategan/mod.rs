//! `dpscope audit pategan`: PATE-GAN with faults as switches, its checks, and an attack on its rows.

mod args;
mod report;

pub(crate) use args::PateGanArgs;

use std::time::Instant;

use dpscope_core::accounting::pate::{NoisyVote, VoteNoise};
use dpscope_core::adjacency::World;
use dpscope_core::random::stream_of;
use dpscope_report::figure::pategan_svg;
use dpscope_report::text::pategan_text;
use dpscope_synth::attack::{AttackOptions, Features, ForestOptions, attack};
use dpscope_synth::detect::{Check, detect};
use dpscope_synth::mechanism::{MechanismError, Run};
use dpscope_synth::table::{Column, ColumnKind, Schema, Table, Value};
use dpscope_synth::{Fault, FaultSet, Mechanism, Settings, Stop};
use rayon::prelude::*;

use crate::args::{check_drawing, write_drawing};
use crate::failure::{CommandResult, Exit, Failure};
use crate::output::{print_json, print_text};
use crate::seed::seed_or_fresh;
use report::Outcome;

/// Runs that a thread takes at a time: they are trained side by side.
const PER_TASK: usize = 8;
/// The identifier of the target row, the last.
const TARGET: u64 = 4;
/// The most iterations of `--epsilon`.
const MOST_ITERATIONS: u32 = 10_000;

pub(crate) fn run(args: &PateGanArgs) -> CommandResult {
    let started = Instant::now();
    args.plot.as_deref().map_or(Ok(()), check_drawing)?;
    let faults = if args.harness_faults { args.fault.with(Fault::E1) } else { args.fault };
    let (seed, seed_source) = seed_or_fresh(args.seed)?;
    let table = worst_case(faults).map_err(internal)?;
    let settings = settings(args)?;
    let mechanism = Mechanism::new(&table, TARGET, &settings, faults, seed).map_err(named)?;
    let iterations = settings.plan().map_err(|error| named(error.into()))?.iterations;
    let votes =
        u64::from(iterations) * u64::from(settings.batch_size) * u64::from(settings.student_steps);
    let vote = NoisyVote::new(settings.teachers, settings.inverse_scale, VoteNoise::BothCounts)?;
    let accounted = vote.votes_epsilon(votes, settings.delta, settings.orders)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(args.threads.map_or(0, usize::from));
    let pool = pool.build().map_err(internal)?;
    let runs = pool.install(|| World::BOTH.map(|world| runs_of(&mechanism, world, args.runs)));
    let target = table.rows().iter().last().unwrap_or_default();
    let features = Features::new(table.schema(), target);
    let [with, without] = runs.each_ref().map(|runs| -> Vec<Vec<f64>> {
        pool.install(|| runs.par_iter().map(|run| features.of(&run.rows)).collect())
    });
    let options = AttackOptions {
        delta: settings.delta,
        significance: args.statement.significance(),
        forest: ForestOptions { seed, ..ForestOptions::default() },
    };
    let found = attack([&with, &without], &options).map_err(Failure::input)?;
    let checks = detect(&mechanism, &runs.concat(), args.checks_significance)?;
    let outcome =
        Outcome { mechanism: &mechanism, iterations, found: &found, checks: &checks, accounted };
    let report = outcome.report(args, seed, seed_source, started);
    if args.show.json {
        print_json(&report)?;
    } else {
        print_text(&pategan_text(&report))?;
    }
    if let Some(path) = &args.plot {
        let [with, without] = &found.scores;
        write_drawing(path, &pategan_svg([with, without], &report))?;
    }
    let has_finding = args.fail_on_finding && checks.iter().any(Check::has_fired);
    Ok(if outcome.is_refuted() || has_finding { Exit::Refuted } else { Exit::Done })
}

fn runs_of(mechanism: &Mechanism, world: World, runs: u64) -> Vec<Run> {
    let units: Vec<u64> = (0..runs).map(|run| stream_of(world, run)).collect();
    units.par_chunks(PER_TASK).flat_map_iter(|units| mechanism.run(units)).collect()
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

/// Four rows (0, 0, 0) and the target (1, 1, 1); the last column is a label if a fault needs one.
fn worst_case(faults: FaultSet) -> Result<Table, Box<dyn std::error::Error>> {
    let has_label = faults.has(Fault::O6);
    let column = |name: &str| {
        let kind = if has_label && name == "c" {
            ColumnKind::Category { names: ["0", "1"].map(String::from).to_vec() }
        } else {
            ColumnKind::Integer { low: 0, high: 1 }
        };
        Column { name: name.to_owned(), kind }
    };
    let schema = Schema::new(["a", "b", "c"].map(column).to_vec())?;
    let schema = if has_label { schema.with_label("c")? } else { schema };
    let row = |id: u64| {
        let value = u8::from(id == TARGET);
        let number = Value::Number(f64::from(value));
        let last = if has_label { Value::Category(value.to_string()) } else { number.clone() };
        (id, vec![number.clone(), number, last])
    };
    Ok(Table::new(schema, &(0..=TARGET).map(row).collect::<Vec<_>>())?)
}

/// The options in front of a message.
fn named(error: MechanismError) -> Failure {
    match error {
        MechanismError::NoEpsilon { fault } => Failure::input(format!(
            "--fault {fault} concerns when to stop; pass --epsilon, in place of --iterations"
        )),
        MechanismError::Settings(error) => Failure::input(format!(
            "{error}; see --teachers, --gamma, --batch-size, --epsilon and --delta"
        )),
        other => Failure::input(other),
    }
}
