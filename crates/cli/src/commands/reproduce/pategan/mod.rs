//! `dpscope reproduce pategan`: six implementations of PATE-GAN, with their faults and with that of the audit.

mod accountants;
mod average;
mod case;
mod table;

use std::time::Instant;

use dpscope_core::adjacency::World;
use dpscope_report::record::{AuditedImplementation, PateGanTable};
use dpscope_synth::audit::{AuditError, AuditOutcome};
use dpscope_synth::table::{Column, ColumnKind, Schema, Table, Value};
use dpscope_synth::{FaultSet, Implementation, Mechanism, Settings};

use super::ReproduceArgs;
use crate::args::{DeviceChoice, check_drawing, write_drawing};
use crate::failure::{CommandResult, Exit, Failure, reject_unused_options};
use crate::output::{print_json, print_text};
use crate::seed::seed_or_fresh;
use average::AverageSubject;
use case::{Case, SIGNIFICANCE, internal, leak};

/// Default of `--runs`, for both worlds together.
const DEFAULT_RUNS: u64 = 2_000;
const RUNS: std::ops::RangeInclusive<u64> = 40..=200_000;

/// Real rows and teachers of the count of the rows that teachers read.
const RECORDS: u64 = 686;
const RECORD_TEACHERS: u32 = 5;

pub(super) fn run(args: &ReproduceArgs) -> CommandResult {
    let uses_gpu = !matches!(args.device.device, DeviceChoice::Auto | DeviceChoice::Cpu);
    reject_unused_options(
        &[
            ("--observations", args.observations.is_some()),
            ("--device", uses_gpu),
            ("--float-mode", args.device.float_mode.is_some()),
        ],
        "with pategan, which trains --runs generators on the CPU",
    )?;
    let started = Instant::now();
    let runs = args.runs.unwrap_or(DEFAULT_RUNS);
    if !RUNS.contains(&runs) {
        let (least, most) = (RUNS.start(), RUNS.end());
        return Err(Failure::input(format!(
            "--runs is {runs}; it must be from {least} to {most}, in both worlds together"
        )));
    }
    args.plot.as_deref().map_or(Ok(()), check_drawing)?;
    let (seed, _) = seed_or_fresh(args.seed)?;
    let threads = args.device.threads.map_or(0, usize::from);
    let average = AverageSubject::of(args, (seed, threads))?;
    let settings = Settings::worst_case();
    let worst_case = Case { settings, table: None, runs: runs / 2, seed, threads };
    let report = report(&worst_case, average.as_ref(), args.show.quiet, started)?;
    if args.show.json {
        print_json(&report)?;
    } else {
        print_text(&table::text(&report))?;
    }
    if let Some(path) = &args.plot {
        write_drawing(path, &dpscope_report::figure::pategan_table_svg(&report))?;
    }
    Ok(Exit::Done)
}

fn report(
    case: &Case,
    average: Option<&AverageSubject>,
    quiet: bool,
    started: Instant,
) -> Result<PateGanTable, Failure> {
    let found = case.audited(("", quiet), |implementation, outcomes| {
        row(implementation, implementation.switches(), outcomes).map_err(internal)
    })?;
    Ok(PateGanTable {
        schema: "dpscope.pategan_table/1",
        version: env!("CARGO_PKG_VERSION"),
        delta: case.settings.delta,
        significance: SIGNIFICANCE,
        runs: case.runs,
        ceiling: found.ceiling,
        accounted_epsilon: found.accounted_epsilon,
        seed: case.seed.to_string(),
        implementations: found.rows,
        records: RECORDS,
        average: average.map(|average| average.audited(quiet)).transpose()?,
        accountants: accountants::compared().map_err(internal)?,
        accounted_votes: accountants::VOTES,
        accounted_gamma: accountants::GAMMA,
        elapsed_ms: started.elapsed().as_secs_f64() * 1e3,
    })
}

fn row(
    implementation: &Implementation,
    faults: FaultSet,
    [with, without]: [&AuditOutcome; 2],
) -> Result<AuditedImplementation, AuditError> {
    let fired = without.checks.iter().filter(|check| check.has_fired());
    let mut detectors: Vec<_> = fired.map(|check| check.detector.id()).collect();
    detectors.dedup();
    Ok(AuditedImplementation {
        name: implementation.name,
        faults: implementation.faults.iter().map(|fault| fault.description().id).collect(),
        published: implementation.published,
        with_harness_fault: leak(with),
        without_harness_fault: leak(without),
        detectors,
        teacher_rows: teacher_rows(faults)?,
    })
}

/// How many rows each teacher reads in one training at ε = 1.
fn teacher_rows(faults: FaultSet) -> Result<[u64; 2], AuditError> {
    let names = ["0", "1"].map(String::from).to_vec();
    let columns = [
        Column { name: "number".into(), kind: ColumnKind::Integer { low: 0, high: 1 } },
        Column { name: "label".into(), kind: ColumnKind::Category { names } },
    ];
    let schema = Schema::new(columns.to_vec())?.with_label("label")?;
    let row = |id: u64| {
        let digit = id % 2;
        (id, vec![Value::Number(digit as f64), Value::Category(digit.to_string())])
    };
    let table = Table::new(schema, &(0..RECORDS).map(row).collect::<Vec<_>>())?;
    let settings = Settings { teachers: RECORD_TEACHERS, ..Settings::default() };
    let mechanism = Mechanism::new(&table, 0, &settings, faults, 1)?;
    let unit = dpscope_core::random::stream_of(World::Target, 0);
    let runs = mechanism.run(&[unit]);
    let teachers = || runs.iter().flat_map(|run| &run.trace.teacher_rows);
    let counts = || teachers().map(|rows| rows.len() as u64);
    Ok([counts().min().unwrap_or(0), counts().max().unwrap_or(0)])
}
