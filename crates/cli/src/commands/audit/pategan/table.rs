//! The user's table, and which of its rows is the target.

use std::path::Path;

use dpscope_formats::Limits;
use dpscope_formats::table::Schema;
use dpscope_report::record::{PateGanData, TargetChoice};
use dpscope_synth::audit::{
    Audit, AuditOptions, Candidate, JudgedCandidate, SearchError, SearchOptions, TargetSearch,
    most_exposed,
};
use dpscope_synth::generator::schema_of;
use dpscope_synth::table::Table;
use dpscope_synth::workload::AuditedTable;
use dpscope_synth::{FaultSet, Settings};
use rayon::prelude::*;
use sha2::{Digest, Sha256};

use super::args::PateGanArgs;
use super::refusals::{MOST_BYTES, check_memory, named};
use crate::canary_plan::hex;
use crate::failure::Failure;
use crate::files::{read, table_rows};
use crate::generator_folder::read_columns;
use crate::memory::readable_bytes;
use crate::progress::{StepProgress, is_interrupted};

/// Limits on the file of rows: 1 GiB, or less on a small machine.
fn limits() -> Limits {
    Limits::for_memory(readable_bytes().min(1 << 30))
}

/// The table of `--data` and `--columns`, without its target, and the table itself; none for the worst
/// case.
pub(in crate::commands) fn read_data(
    data: Option<&Path>,
    columns: Option<&Path>,
    label: Option<&str>,
) -> Result<Option<(AuditedTable, Table)>, Failure> {
    let (Some(path), Some(columns)) = (data, columns) else { return Ok(None) };
    let limits = limits();
    let description = read(columns, &limits)?;
    let schema = schema_of(&read_columns(columns)?);
    let schema = schema.map_err(|error| Failure::input(error).about(columns))?;
    let schema = match label {
        Some(label) => labelled(schema, label).map_err(|failure| failure.about(columns))?,
        None => schema,
    };
    let bytes = read(path, &limits)?;
    let remedy = "correct the row, or the public description in --columns";
    let rows = table_rows(path, &bytes, &schema, &limits, remedy)?;
    if rows.len() < 2 {
        let why = format!("has {} rows; an audit needs the target and another one", rows.len());
        return Err(Failure::input(why).about(path));
    }
    let table = Table::numbered(schema, &rows);
    let table = table.map_err(|error| Failure::input(error).about(path))?;
    check_encoded(&table).map_err(|failure| failure.about(path))?;
    let audited = AuditedTable {
        digest: hex(&Sha256::digest(&bytes)),
        columns_digest: hex(&Sha256::digest(&description)),
        label: label.map(str::to_owned),
        target_row: 0,
        search: None,
    };
    Ok(Some((audited, table)))
}

/// The table that a run was started with.
pub(super) fn read_again(
    plan: &AuditedTable,
    data: Option<&Path>,
    columns: Option<&Path>,
) -> Result<Table, Failure> {
    let (Some(path), Some(described)) = (data, columns) else {
        return Err(Failure::input(
            "the runs are of your own table: pass --data FILE.csv and --columns FILE.toml, the files \
             that the audit was started with",
        ));
    };
    let found = read_data(data, columns, plan.label.as_deref())?;
    let (found, table) = found.ok_or_else(|| Failure::input("--data and --columns are missing"))?;
    for (path, found, expected) in [
        (path, found.digest, &plan.digest),
        (described, found.columns_digest, &plan.columns_digest),
    ] {
        if found != *expected {
            let why = "differs from the file that the audit was started with; pass that one";
            return Err(Failure::input(why).about(path));
        }
    }
    Ok(table)
}

/// The target of `--target-row`, or the most exposed row.
pub(super) fn with_target(
    args: &PateGanArgs,
    (audited, table): (AuditedTable, &Table),
    settings: &Settings,
    faults: FaultSet,
    seed: u64,
) -> Result<AuditedTable, Failure> {
    // any target: audits of one table need the same memory, known before a long search
    let first = Audit::new(table, 0, settings, faults, seed).map_err(named)?;
    check_memory(&first, args.runs)?;
    let (target_row, search) = match args.table.target_row {
        Some(row) => (stated(table, row)?, None),
        None => {
            let (row, options) = searched(args, table, settings, faults, seed)?;
            (row, Some(options))
        }
    };
    Ok(AuditedTable { target_row, search, ..audited })
}

/// What a report says of the table.
pub(super) fn described(audited: &AuditedTable, table: &Table) -> PateGanData {
    let search = audited.search;
    PateGanData {
        digest: audited.digest.clone(),
        columns: table.schema().columns().len() as u64,
        target_row: audited.target_row,
        target_choice: search.map_or(TargetChoice::Stated, |_| TargetChoice::Searched),
        candidates: search.map(|options| options.candidates),
        candidate_runs: search.map(|options| options.runs),
    }
}

/// Numbers of the encoded rows, in each world of an audit of each thread.
fn check_encoded(table: &Table) -> Result<(), Failure> {
    let (rows, width) = (table.ids().len() as u64, table.schema().width() as u64);
    let worlds = 2 * rayon::current_num_threads() as u64;
    let needed = rows.saturating_mul(width).saturating_mul(8 * worlds);
    if needed <= MOST_BYTES {
        return Ok(());
    }
    Err(Failure::input(format!(
        "has {rows} rows of {width} encoded numbers, one per name of a category: they need about {} GiB \
         of memory, more than {}; use fewer rows or names, or fewer --threads",
        needed.div_ceil(1 << 30),
        MOST_BYTES >> 30
    )))
}

fn labelled(schema: Schema, label: &str) -> Result<Schema, Failure> {
    schema.with_label(label).map_err(|error| Failure::input(format!("--label: {error}")))
}

fn stated(table: &Table, row: u64) -> Result<u64, Failure> {
    match table.ids().contains(&row) {
        true => Ok(row),
        false => Err(Failure::input(format!(
            "--target-row {row}: the data have rows 0 to {}",
            table.ids().len() - 1
        ))),
    }
}

/// The most exposed row, by attacks on streams that the audit does not use.
fn searched(
    args: &PateGanArgs,
    table: &Table,
    settings: &Settings,
    faults: FaultSet,
    seed: u64,
) -> Result<(u64, SearchOptions), Failure> {
    let default = SearchOptions::default();
    let options = SearchOptions {
        candidates: args.table.candidates.unwrap_or(default.candidates),
        runs: args.table.candidate_runs.unwrap_or(default.runs),
    };
    let search =
        TargetSearch::new(table, settings, faults, seed, options).map_err(refused_search)?;
    let positions: Vec<usize> = (0..table.ids().len()).collect();
    let isolation: Vec<f64> =
        positions.into_par_iter().flat_map_iter(|at| search.isolation(at..at + 1)).collect();
    let candidates: Vec<(u32, Candidate)> = (0..).zip(search.candidates(&isolation)).collect();
    let options = SearchOptions { candidates: candidates.len() as u32, ..options };
    let audit_options = AuditOptions {
        significance: args.run.statement.significance(),
        checks_significance: args.checks_significance,
    };
    let mut progress = StepProgress::new(args.run.report.show.quiet, candidates.len() as u64, 0);
    let mut judged: Vec<JudgedCandidate> = Vec::with_capacity(candidates.len());
    for block in candidates.chunks(rayon::current_num_threads().max(1)) {
        if is_interrupted() {
            return Err(Failure::interrupted());
        }
        let found: Result<Vec<JudgedCandidate>, _> = block
            .par_iter()
            .map(|(at, candidate)| search.judge(*at, *candidate, audit_options))
            .collect();
        judged.extend(found.map_err(named)?);
        progress.show(judged.len() as u64, "candidates", "search for the target");
    }
    let found = most_exposed(&judged).map(|judged| judged.candidate.row);
    Ok((found.unwrap_or_default(), options))
}

fn refused_search(error: SearchError) -> Failure {
    let remedy = match &error {
        SearchError::Candidates { .. } => "see --candidates",
        SearchError::Runs { .. } => "see --candidate-runs",
        _ => "choose it with --target-row",
    };
    Failure::input(format!("{error}; {remedy}"))
}
