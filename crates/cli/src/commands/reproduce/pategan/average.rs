//! The average case: a table of many rows, with and without its most isolated one.

use std::path::Path;

use dpscope_report::record::UtilityFigures;
use dpscope_synth::audit::{SearchOptions, TargetSearch, average_case};
use dpscope_synth::table::Table;
use dpscope_synth::utility::figures;
use dpscope_synth::{FaultSet, Settings};

use super::super::ReproduceArgs;
use super::case::{Audited, Case, Leak, internal};
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

    /// The audits, and classifiers on the rows of each implementation.
    pub(super) fn audited(&self, quiet: bool) -> Result<AverageCase<'_>, Failure> {
        let Case { settings, seed, threads, .. } = &self.case;
        let pool = host::pool(*threads)?;
        let found = self.case.audited((", average case", quiet), |implementation, outcomes| {
            let faults = implementation.switches();
            let qualities = pool.install(|| self.test.qualities(settings, faults, *seed))?;
            let leak = Leak::new(implementation.name, implementation.published_average, outcomes);
            Ok((leak, figures(&qualities)))
        })?;
        let real = self.test.real(*seed)?;
        Ok(AverageCase { subject: self, found, real, tested: self.test.tested()? })
    }

    /// Rows with the target, and columns with the label.
    fn size(&self) -> [u64; 2] {
        self.case.table.as_ref().map_or([0; 2], |(table, _)| {
            [table.ids().len() as u64, table.schema().columns().len() as u64]
        })
    }
}

/// The implementations on a table of many rows, with and without the row farthest from its nearest ones.
pub(super) struct AverageCase<'a> {
    subject: &'a AverageSubject,
    pub(super) found: Audited<(Leak, UtilityFigures)>,
    /// Figures of the classifiers when they are trained on real rows.
    real: UtilityFigures,
    /// Real rows that classifiers were tested on, and the share of the positive class among them.
    tested: (u64, f64),
}

impl AverageCase<'_> {
    pub(super) fn facts(&self) -> Value {
        let AverageSubject { case, test, utility_runs, data, target_row } = self.subject;
        let ([rows, columns], [label, positive]) = (self.subject.size(), test.label());
        json!({
            "data": data, "source": data.as_deref().unwrap_or("rows of a distribution of our own"),
            "rows_are": match data {
                Some(_) => "your rows",
                None => "rows of our own distribution",
            },
            "rows": rows, "columns": columns, "target_row": target_row,
            "released_rows": case.settings.rows, "runs": case.runs, "ceiling": self.found.ceiling,
            "accounted_epsilon": self.found.accounted_epsilon, "label": label, "positive": positive,
            "tested_rows": self.tested.0, "positive_share": self.tested.1,
            "utility_runs": utility_runs, "classifiers": self.real.classifiers.len(),
            "real": self.real,
        })
    }

    /// Leaks, and what the released rows are good for.
    pub(super) fn rows(&self) -> impl Iterator<Item = Value> {
        let with_utility = |mut row: Value, utility: &UtilityFigures| {
            row["auroc"] = json!(utility.auroc);
            row["auprc"] = json!(utility.auprc);
            row["classifiers"] = json!(utility.classifiers);
            row
        };
        // what they do not have is left blank
        let columns = ["published", "with_harness_fault", "with_harness_fault_auc"];
        let columns =
            columns.into_iter().chain(["without_harness_fault", "without_harness_fault_auc"]);
        let mut real = json!({ "name": "(real rows)" });
        columns.for_each(|name| real[format!("{name}_text")] = "".into());
        let rows = self.found.rows.iter();
        let rows = rows.map(move |(leak, utility)| with_utility(leak.row(), utility));
        rows.chain([with_utility(real, &self.real)])
    }
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
