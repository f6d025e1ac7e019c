//! The average case: a table of many rows, with and without its most isolated one.

use std::path::Path;

use dpscope_report::record::{AverageCase, AverageImplementation};
use dpscope_synth::audit::{SearchOptions, TargetSearch, average_case};
use dpscope_synth::table::Table;
use dpscope_synth::utility::figures;
use dpscope_synth::{FaultSet, Settings};

use super::super::ReproduceArgs;
use super::case::{Case, internal, leak};
use crate::commands::audit::pategan::{UtilityTest, check_memory, read_data};
use crate::failure::Failure;
use crate::host;

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
    pub(super) fn audited(&self, quiet: bool) -> Result<AverageCase, Failure> {
        let Case { settings, seed, threads, runs, .. } = &self.case;
        let pool = host::pool(*threads)?;
        let found = self.case.audited((", average case", quiet), |implementation, outcomes| {
            let faults = implementation.switches();
            let qualities = pool.install(|| self.test.qualities(settings, faults, *seed))?;
            let [with_harness_fault, without_harness_fault] = outcomes.map(leak);
            Ok(AverageImplementation {
                name: implementation.name,
                published: implementation.published_average,
                with_harness_fault,
                without_harness_fault,
                utility: figures(&qualities),
            })
        })?;
        let table = self.case.table.as_ref().map(|(table, _)| table);
        let [label, positive] = self.test.label();
        let (tested_rows, positive_share) = self.test.tested()?;
        Ok(AverageCase {
            data: self.data.clone(),
            rows: table.map_or(0, |table| table.ids().len() as u64),
            columns: table.map_or(0, |table| table.schema().columns().len() as u64),
            target_row: self.target_row,
            released_rows: u64::from(settings.rows),
            runs: *runs,
            ceiling: found.ceiling,
            accounted_epsilon: found.accounted_epsilon,
            label,
            positive,
            tested_rows,
            positive_share,
            utility_runs: self.utility_runs,
            real: self.test.real(*seed)?,
            implementations: found.rows,
        })
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
