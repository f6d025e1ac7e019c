//! The user's table, and which of its rows is the target.

use std::path::Path;

use dpscope_formats::Limits;
use dpscope_formats::table::{Schema, read_table};
use dpscope_report::record::{PateGanData, TargetChoice};
use dpscope_synth::audit::{
    Audit, AuditOptions, Candidate, JudgedCandidate, SearchError, SearchOptions, TargetSearch,
    most_exposed,
};
use dpscope_synth::table::Table;
use dpscope_synth::{FaultSet, Settings};
use rayon::prelude::*;
use sha2::{Digest, Sha256};

use super::args::PateGanArgs;
use super::refusals::{MOST_BYTES, check_memory, named};
use crate::canary_plan::hex;
use crate::failure::Failure;
use crate::files::read;
use crate::generator_folder::{read_columns, schema_of};
use crate::progress::{StepProgress, is_interrupted};

/// Limits on the file of rows: 1 GiB.
fn limits() -> Limits {
    Limits::for_memory(1 << 30)
}

/// What is audited, and the user's data if it is not the worst case.
pub(super) fn audit(
    args: &PateGanArgs,
    settings: &Settings,
    faults: FaultSet,
    seed: u64,
) -> Result<(Audit, Option<PateGanData>), Failure> {
    let (Some(path), Some(columns)) = (&args.table.data, &args.table.columns) else {
        return Ok((Audit::worst_case(settings, faults, seed).map_err(named)?, None));
    };
    let (table, digest) = table(args, path, columns)?;
    check_encoded(&table).map_err(|failure| failure.about(path))?;
    // any target: audits of one table need the same memory, known before a long search
    let first = Audit::new(&table, 0, settings, faults, seed).map_err(named)?;
    check_memory(&first, args.runs)?;
    let (target_row, searched) = match args.table.target_row {
        Some(row) => (stated(&table, row)?, None),
        None => {
            let (row, options) = searched(args, &table, settings, faults, seed)?;
            (row, Some(options))
        }
    };
    let data = PateGanData {
        digest,
        columns: table.schema().columns().len() as u64,
        target_row,
        target_choice: searched.map_or(TargetChoice::Stated, |_| TargetChoice::Searched),
        candidates: searched.map(|options| options.candidates),
        candidate_runs: searched.map(|options| options.runs),
    };
    let audit = Audit::new(&table, target_row, settings, faults, seed).map_err(named)?;
    Ok((audit, Some(data)))
}

/// The rows, and the digest of their file.
fn table(args: &PateGanArgs, path: &Path, columns: &Path) -> Result<(Table, String), Failure> {
    let schema = schema_of(&read_columns(columns)?).map_err(|failure| failure.about(columns))?;
    let schema = match &args.table.label {
        Some(label) => labelled(schema, label).map_err(|failure| failure.about(columns))?,
        None => schema,
    };
    let limits = limits();
    let bytes = read(path, &limits)?;
    let rows = read_table(&bytes, &schema, &limits).map_err(|error| {
        let remedy = "correct the row, or the public description in --columns";
        Failure::input(format!("{error}; {remedy}")).about(path)
    })?;
    if rows.len() < 2 {
        let why = format!("has {} rows; an audit needs the target and another one", rows.len());
        return Err(Failure::input(why).about(path));
    }
    let table = Table::numbered(schema, &rows);
    let table = table.map_err(|error| Failure::input(error).about(path))?;
    Ok((table, hex(&Sha256::digest(&bytes))))
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
        significance: args.statement.significance(),
        checks_significance: args.checks_significance,
    };
    let mut progress = StepProgress::new(args.show.quiet, candidates.len() as u64, 0);
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
