//! `dpscope reproduce pategan`: six implementations of PATE-GAN, with their faults and with that of the audit.

mod accountants;
mod average;
mod case;

use dpscope_core::adjacency::World;
use dpscope_synth::audit::{AuditError, AuditOutcome};
use dpscope_synth::table::{self, Column, ColumnKind, Schema};
use dpscope_synth::{FaultSet, Implementation, Mechanism, Settings};
use serde_json::{Value, json};

use super::ReproduceArgs;
use super::names::Table;
use super::page::Reproduced;
use crate::failure::Failure;
use average::AverageSubject;
use case::{Case, SIGNIFICANCE, internal, leak};

/// Default of `--runs`, for both worlds together.
const DEFAULT_RUNS: u64 = 2_000;

/// Real rows and teachers of the count of the rows that teachers read.
const RECORDS: u64 = 686;
const RECORD_TEACHERS: u32 = 5;

pub(super) fn run(args: &ReproduceArgs, seed: u64) -> Result<Reproduced, Failure> {
    let (range, more) = ((40, 200_000), ", in both worlds together");
    let runs = ReproduceArgs::in_range("--runs", args.runs, DEFAULT_RUNS, range, more)?;
    let threads = args.threads();
    let average = AverageSubject::of(args, (seed, threads))?;
    let settings = Settings::worst_case();
    let case = Case { settings, table: None, runs: runs / 2, seed, threads };
    let quiet = args.show.quiet;
    let worst = case.audited(("", quiet), worst_row)?;
    let average = average.as_ref().map(|average| average.audited(quiet)).transpose()?;
    let accountants = accountants::compared().map_err(internal)?;
    let is_leaking = |row: &&Value| {
        row["without_harness_fault"].as_f64().is_some_and(|bound| bound > worst.accounted_epsilon)
    };
    let mut facts = json!({
        "delta": case.settings.delta, "significance": SIGNIFICANCE, "runs": case.runs,
        "ceiling": worst.ceiling, "accounted_epsilon": worst.accounted_epsilon, "records": RECORDS,
        "leaking": worst.rows.iter().filter(is_leaking).count(), "implementations": worst.rows.len(),
        "accounted_votes": accountants::VOTES, "accounted_gamma": accountants::GAMMA,
    });
    let mut tables = vec![Table::new("worst", worst.rows), Table::new("accountants", accountants)];
    if let Some((found, rows)) = average {
        facts["average"] = found;
        tables.push(Table::new("average", rows));
    }
    let page = include_str!("../../../../papers/pategan/page.toml");
    Ok(Reproduced::new(page, facts, tables, Vec::new()))
}

/// An implementation in the worst case: its leak, its faults, and the detectors that report a fault
/// without that of the audit.
fn worst_row(
    implementation: &Implementation,
    outcomes: [&AuditOutcome; 2],
) -> Result<Value, Failure> {
    let mut row = leak(implementation.name, implementation.published, outcomes);
    let fired = outcomes[1].checks.iter().filter(|check| check.has_fired());
    let mut detectors: Vec<&str> = fired.map(|check| check.detector.id()).collect();
    detectors.dedup();
    let faults = implementation.faults.iter().map(|fault| fault.description().id).collect();
    for (name, values) in [("detectors", detectors), ("faults", faults)] {
        let names = if values.is_empty() { "–".to_owned() } else { values.join(" ") };
        row[format!("{name}_text")] = names.into();
        row[name] = json!(values);
    }
    let [fewest, most] = teacher_rows(implementation.switches()).map_err(internal)?;
    row["fewest_teacher_rows"] = json!(fewest);
    row["most_teacher_rows"] = json!(most);
    Ok(row)
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
        let cells =
            vec![table::Value::Number(digit as f64), table::Value::Category(digit.to_string())];
        (id, cells)
    };
    let table = table::Table::new(schema, &(0..RECORDS).map(row).collect::<Vec<_>>())?;
    let settings = Settings { teachers: RECORD_TEACHERS, ..Settings::default() };
    let mechanism = Mechanism::new(&table, 0, &settings, faults, 1)?;
    let unit = dpscope_core::random::stream_of(World::Target, 0);
    let runs = mechanism.run(&[unit]);
    let teachers = || runs.iter().flat_map(|run| &run.trace.teacher_rows);
    let counts = || teachers().map(|rows| rows.len() as u64);
    Ok([counts().min().unwrap_or(0), counts().max().unwrap_or(0)])
}
