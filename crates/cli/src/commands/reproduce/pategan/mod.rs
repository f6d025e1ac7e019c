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
use super::reproduced::Reproduced;
use crate::failure::Failure;
use accountants::ComparedAccountant;
use average::AverageSubject;
use case::{Case, Leak, SIGNIFICANCE, internal};

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
    let worst = case.audited(("", quiet), |implementation, outcomes| {
        Worst::new(implementation, outcomes).map_err(internal)
    })?;
    let average = average.as_ref().map(|average| average.audited(quiet)).transpose()?;
    let accountants = accountants::compared().map_err(internal)?;
    let is_leaking = |one: &&Worst| one.leak.without_fault() > worst.accounted_epsilon;
    let mut facts = json!({
        "delta": case.settings.delta, "significance": SIGNIFICANCE, "runs": case.runs,
        "ceiling": worst.ceiling, "accounted_epsilon": worst.accounted_epsilon, "records": RECORDS,
        "leaking": worst.rows.iter().filter(is_leaking).count(), "implementations": worst.rows.len(),
        "accounted_votes": accountants::VOTES, "accounted_gamma": accountants::GAMMA,
    });
    if let Some(average) = &average {
        facts["average"] = average.facts();
    }
    let mut tables = vec![
        Table::new("worst", worst.rows.iter().map(Worst::row)),
        Table::new("accountants", accountants.iter().map(ComparedAccountant::row)),
    ];
    tables.extend(average.iter().map(|average| Table::new("average", average.rows())));
    let page = include_str!("../../../../papers/pategan/page.toml");
    Ok(Reproduced::new(page, facts, tables, Vec::new()))
}

/// An implementation in the worst case.
struct Worst {
    leak: Leak,
    /// Names of its faults.
    faults: Vec<&'static str>,
    /// Detectors that report a fault, without that of the audit.
    detectors: Vec<&'static str>,
    /// The fewest and the most real rows that a teacher reads in one training.
    teacher_rows: [u64; 2],
}

impl Worst {
    fn new(
        implementation: &Implementation,
        outcomes: [&AuditOutcome; 2],
    ) -> Result<Self, AuditError> {
        let fired = outcomes[1].checks.iter().filter(|check| check.has_fired());
        let mut detectors: Vec<_> = fired.map(|check| check.detector.id()).collect();
        detectors.dedup();
        Ok(Self {
            leak: Leak::new(implementation.name, implementation.published, outcomes),
            faults: implementation.faults.iter().map(|fault| fault.description().id).collect(),
            detectors,
            teacher_rows: teacher_rows(implementation.switches())?,
        })
    }

    fn row(&self) -> Value {
        let names = |names: &[&str]| match names.join(" ") {
            none if none.is_empty() => "–".to_owned(),
            names => names,
        };
        let Self { detectors, faults, teacher_rows: [fewest, most], .. } = self;
        let mut row = self.leak.row();
        for (name, values) in [("detectors", detectors), ("faults", faults)] {
            row[name] = json!(values);
            row[format!("{name}_text")] = names(values).into();
        }
        row["fewest_teacher_rows"] = json!(fewest);
        row["most_teacher_rows"] = json!(most);
        row
    }
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
