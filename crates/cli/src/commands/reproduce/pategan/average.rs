//! The average case: a table of many rows, with and without its most isolated one.

use std::path::Path;

use dpscope_report::record::UtilityFigures;
use dpscope_synth::audit::{SearchOptions, TargetSearch, average_case};
use dpscope_synth::table::Table;
use dpscope_synth::utility::figures;
use dpscope_synth::{FaultSet, Settings};

use super::super::ReproduceArgs;
use super::case::{Case, internal, leak};
use crate::commands::audit::pategan::{UtilityTest, check_memory, read_data};
use crate::failure::Failure;
use crate::host;
use serde_json::{Value, json};

/// Default of `--average-runs`, for both worlds together.
const DEFAULT_RUNS: u64 = 200;
const RUNS: std::ops::RangeInclusive<u64> = 40..=200_000;
const UTILITY_RUNS: u64 = 5;

/// What is audited, read and checked before the first run.
pub(super) struct AverageSubject {
    case: Case,
    test: UtilityTest,
    utility_runs: u64,
    data: Option<String>,
    target_row: u64,
}

impl AverageSubject {
    /// That of the options; none if it is to be left out.
    pub(super) fn of(
        args: &ReproduceArgs,
        (seed, threads): (u64, usize),
    ) -> Result<Option<Self>, Failure> {
        let options = &args.average;
        let runs = options.average_runs.unwrap_or(DEFAULT_RUNS);
        if runs == 0 {
            return Ok(None);
        }
        if !RUNS.contains(&runs) {
            let (least, most) = (RUNS.start(), RUNS.end());
            return Err(Failure::input(format!(
                "--average-runs is {runs}; it must be 0, or from {least} to {most} in both worlds together"
            )));
        }
        let (table, data) = table(args)?;
        let rows = options.rows.unwrap_or(table.ids().len() as u32);
        let settings = Settings { rows, ..Settings::default() };
        let target_row = most_isolated(&table, &settings, seed)?;
        let utility_runs = options.utility.unwrap_or(UTILITY_RUNS);
        // the division of the rows does not follow the seed
        let test = UtilityTest::of(&table, options.positive.as_deref(), (utility_runs, 0))?;
        let case =
            Case { settings, table: Some((table, target_row)), runs: runs / 2, seed, threads };
        check_memory(&case.audit(FaultSet::NONE)?, case.runs)?;
        Ok(Some(AverageSubject { case, test, utility_runs, data, target_row }))
    }

    /// The audits, and what the rows of each implementation are good for: facts and rows, that of the
    /// real rows last.
    pub(super) fn audited(&self, quiet: bool) -> Result<(Value, Vec<Value>), Failure> {
        let Self { case, test, utility_runs, data, target_row } = self;
        let Case { settings, seed, threads, .. } = case;
        let pool = host::pool(*threads)?;
        let found = case.audited((", average case", quiet), |implementation, outcomes| {
            let faults = implementation.switches();
            let qualities = pool.install(|| test.qualities(settings, faults, *seed))?;
            let row = leak(implementation.name, implementation.published_average, outcomes);
            Ok(with_utility(row, &figures(&qualities)))
        })?;
        let real = test.real(*seed)?;
        let (tested_rows, positive_share) = test.tested()?;
        let [label, positive] = test.label();
        // rows with the target, and columns with the label
        let size = case
            .table
            .as_ref()
            .map(|(table, _)| (table.ids().len(), table.schema().columns().len()));
        let (rows, columns) = size.unwrap_or_default();
        let facts = json!({
            "data": data, "source": data.as_deref().unwrap_or("rows of a distribution of our own"),
            "rows_are": match data {
                Some(_) => "your rows",
                None => "rows of our own distribution",
            },
            "rows": rows, "columns": columns, "target_row": target_row,
            "released_rows": settings.rows, "runs": case.runs, "ceiling": found.ceiling,
            "accounted_epsilon": found.accounted_epsilon, "label": label, "positive": positive,
            "tested_rows": tested_rows, "positive_share": positive_share,
            "utility_runs": utility_runs, "classifiers": real.classifiers.len(), "real": real,
        });
        // what they do not have is left blank
        let mut blank = json!({ "name": "(real rows)", "published_text": "" });
        for name in ["with_harness_fault", "without_harness_fault"] {
            blank[format!("{name}_text")] = "".into();
            blank[format!("{name}_auc_text")] = "".into();
        }
        let mut rows = found.rows;
        rows.push(with_utility(blank, &real));
        Ok((facts, rows))
    }
}

fn with_utility(mut row: Value, utility: &UtilityFigures) -> Value {
    row["auroc"] = json!(utility.auroc);
    row["auprc"] = json!(utility.auprc);
    row["classifiers"] = json!(utility.classifiers);
    row
}

/// The user's table, or rows of a distribution of our own.
fn table(args: &ReproduceArgs) -> Result<(Table, Option<String>), Failure> {
    let options = &args.average;
    let Some(data) = args.data.data.as_deref() else {
        return Ok((average_case().map_err(internal)?, None));
    };
    if options.columns.is_none() {
        return Err(Failure::input(
            "--data needs --columns, --label and --rows with pategan: public bounds and categories, the \
             label, and how many rows are released",
        ));
    }
    let label = options.label.as_deref();
    let read = read_data(Some(Path::new(data)), options.columns.as_deref(), label)?;
    let (_, table) = read.ok_or_else(|| Failure::input("--columns is missing"))?;
    Ok((table, Some(data.to_owned())))
}

/// The row with the largest mean distance to its 5 nearest.
fn most_isolated(table: &Table, settings: &Settings, seed: u64) -> Result<u64, Failure> {
    let options = SearchOptions { candidates: 1, ..SearchOptions::default() };
    let search = TargetSearch::new(table, settings, FaultSet::NONE, seed, options);
    let search = search.map_err(|error| Failure::input(format!("--data: {error}")))?;
    let isolation = search.isolation(0..table.ids().len());
    Ok(search.candidates(&isolation).first().map_or(0, |candidate| candidate.row))
}
