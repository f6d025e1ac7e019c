//! The search for a record whose removal shows most.

use std::ops::Range;

use dpscope_core::adjacency::World;
use dpscope_core::audit::Auc;

use super::{Audit, AuditError, AuditOptions};
use crate::attack::{LEAST_RUNS, RowDistance, attack};
use crate::fault::FaultSet;
use crate::lanes::LANES;
use crate::settings::Settings;
use crate::table::Table;

/// Nearest other rows whose mean distance says how isolated a row is.
const NEIGHBOURS: usize = 5;
/// Most candidates.
const MOST_CANDIDATES: u32 = 64;
/// Most runs of each world per candidate.
const MOST_RUNS: u64 = 10_000;
/// First run of the first candidate, and how many runs each has to itself.
const FIRST_RUN: u64 = 1 << 32;
const RUNS_APART: u64 = 1 << 20;
/// Most rows that are compared in pairs.
const MOST_ROWS: usize = 20_000;

/// How a target is searched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "workload", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "workload", serde(deny_unknown_fields))]
pub struct SearchOptions {
    /// Rows that are tried, the most isolated ones; 1 to 64.
    pub candidates: u32,
    /// Runs of each world per candidate, 20 to 10,000.
    pub runs: u64,
}

impl Default for SearchOptions {
    /// 64 candidates, 100 runs of each world.
    fn default() -> Self {
        SearchOptions { candidates: 64, runs: 100 }
    }
}

/// Why there is no search.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// No candidate, or too many.
    #[error("{candidates} candidates; there must be from 1 to {most}")]
    Candidates {
        /// How many.
        candidates: u32,
        /// The most.
        most: u32,
    },
    /// Too few or too many runs per candidate.
    #[error("{runs} runs per candidate and world; there must be from {least} to {most}")]
    Runs {
        /// How many.
        runs: u64,
        /// The fewest.
        least: u64,
        /// The most.
        most: u64,
    },
    /// Too many rows to compare in pairs, or too few.
    #[error("the table has {rows} rows; a target can be searched for among 2 to {most}")]
    Rows {
        /// How many.
        rows: usize,
        /// The most.
        most: usize,
    },
}

/// A row that may become the target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// Its identifier.
    pub row: u64,
    /// Mean distance to its 5 nearest other rows ([`RowDistance`]).
    pub isolation: f64,
}

/// A candidate, and how well an attack tells runs with it from runs without it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JudgedCandidate {
    /// The row.
    pub candidate: Candidate,
    /// Area under the curve of the evaluated runs, of which this is no bound: the best of several is
    /// biased.
    pub auc: Auc,
}

/// A search for the target of an audit.
///
/// The rows farthest from their 5 nearest are tried, each by an attack on runs of its own.
///
/// # Guarantee
/// No stream of these runs is one of an audit's first 2³² runs
/// (`unit::runs_of_a_search_are_not_those_of_an_audit`), so that the choice does not bias the audit
/// (`unit::a_search_does_not_bias_the_audit`); a search on the audit's own runs does
/// (`unit::a_search_on_the_runs_of_the_audit_is_biased`).
#[derive(Debug, Clone)]
pub struct TargetSearch<'a> {
    table: &'a Table,
    settings: &'a Settings,
    faults: FaultSet,
    seed: u64,
    options: SearchOptions,
    distance: RowDistance,
}

impl<'a> TargetSearch<'a> {
    /// Search for the target of a table, with the arguments of [`Audit::new`].
    ///
    /// # Errors
    /// [`SearchError`]: numbers out of their domain; fewer than 2 rows or more than 20,000.
    pub fn new(
        table: &'a Table,
        settings: &'a Settings,
        faults: FaultSet,
        seed: u64,
        options: SearchOptions,
    ) -> Result<Self, SearchError> {
        let SearchOptions { candidates, runs } = options;
        if !(1..=MOST_CANDIDATES).contains(&candidates) {
            return Err(SearchError::Candidates { candidates, most: MOST_CANDIDATES });
        }
        let (least, most) = (LEAST_RUNS as u64, MOST_RUNS);
        if !(least..=most).contains(&runs) {
            return Err(SearchError::Runs { runs, least, most });
        }
        let rows = table.ids().len();
        if !(2..=MOST_ROWS).contains(&rows) {
            return Err(SearchError::Rows { rows, most: MOST_ROWS });
        }
        let distance = RowDistance::new(table.schema());
        Ok(TargetSearch { table, settings, faults, seed, options, distance })
    }

    /// Mean distances of rows at these positions to their 5 nearest others.
    #[must_use]
    pub fn isolation(&self, positions: Range<usize>) -> Vec<f64> {
        let rows = self.table.rows();
        let all = rows.iter().enumerate();
        all.skip(positions.start)
            .take(positions.len())
            .map(|(at, row)| self.distance.isolation(row, at, rows, NEIGHBOURS))
            .collect()
    }

    /// The most isolated rows, most isolated first, equal ones in the order of the table.
    ///
    /// | argument | meaning | shape |
    /// |---|---|---|
    /// | `isolation` | of all rows, from [`TargetSearch::isolation`] | as many as rows |
    #[must_use]
    pub fn candidates(&self, isolation: &[f64]) -> Vec<Candidate> {
        let rows = self.table.ids().iter().zip(isolation);
        let mut rows: Vec<Candidate> =
            rows.map(|(row, isolation)| Candidate { row: *row, isolation: *isolation }).collect();
        rows.sort_by(|one, other| other.isolation.total_cmp(&one.isolation));
        rows.truncate(self.options.candidates as usize);
        rows
    }

    /// Judges a candidate by an attack on runs of its own.
    ///
    /// | argument | meaning |
    /// |---|---|
    /// | `position` | of the candidate in the list |
    /// | `candidate` | the row |
    /// | `options` | significance of the interval of the AUC |
    ///
    /// # Errors
    /// As [`Audit::new`].
    pub fn judge(
        &self,
        position: u32,
        candidate: Candidate,
        options: AuditOptions,
    ) -> Result<JudgedCandidate, AuditError> {
        self.judge_on(FIRST_RUN + u64::from(position) * RUNS_APART, candidate, options)
    }

    fn judge_on(
        &self,
        first: u64,
        candidate: Candidate,
        options: AuditOptions,
    ) -> Result<JudgedCandidate, AuditError> {
        let audit = Audit::new(self.table, candidate.row, self.settings, self.faults, self.seed)?;
        let [with, without] = World::BOTH.map(|world| -> Vec<Vec<f64>> {
            let runs = first..first + self.options.runs;
            let groups = runs.clone().step_by(LANES);
            // rows of a group at a time: they may be many
            let of_group = |from: u64| audit.runs(world, from..runs.end.min(from + LANES as u64));
            groups.flat_map(of_group).map(|run| run.features).collect()
        });
        let found = attack([&with, &without], &audit.attack_options(options.significance))?;
        Ok(JudgedCandidate { candidate, auc: found.auc })
    }
}

/// The candidate with the largest AUC; the first of equal ones, none of none.
#[must_use]
pub fn most_exposed(judged: &[JudgedCandidate]) -> Option<JudgedCandidate> {
    judged.iter().copied().reduce(
        |best, other| {
            if other.auc.value > best.auc.value { other } else { best }
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Stop;
    use crate::table::{Column, ColumnKind, Schema, Value};

    const RUNS: u64 = 40;
    const SEEDS: u64 = 200;
    const OPTIONS: AuditOptions = AuditOptions { significance: 0.05, checks_significance: 1e-3 };

    fn table(values: &[[f64; 2]]) -> Table {
        let kind = ColumnKind::Number { low: 0.0, high: 10.0 };
        let columns = ["a", "b"].map(|name| Column { name: name.to_string(), kind: kind.clone() });
        let schema = Schema::new(columns.to_vec()).unwrap();
        let row = |(id, row): (u64, &[f64; 2])| (id, row.map(Value::Number).to_vec());
        Table::new(schema, &(10..).zip(values).map(row).collect::<Vec<_>>()).unwrap()
    }

    fn settings() -> Settings {
        let stop = Stop::Iterations(1);
        Settings { teachers: 2, batch_size: 2, stop, rows: 2, ..Settings::default() }
    }

    fn search(table: &Table, seed: u64) -> Vec<Candidate> {
        let settings = settings();
        let options = SearchOptions { candidates: 8, runs: RUNS };
        let search = TargetSearch::new(table, &settings, FaultSet::NONE, seed, options).unwrap();
        search.candidates(&search.isolation(0..table.ids().len()))
    }

    #[test]
    fn candidates_are_the_rows_farthest_from_their_nearest() {
        let mut rows = vec![[1.0, 1.0]; 7];
        rows.push([1.0, 6.0]);
        rows.push([9.0, 9.0]);
        let found = search(&table(&rows), 1);
        assert_eq!(found.len(), 8);
        assert_eq!([found[0].row, found[1].row, found[2].row], [18, 17, 10]);
        // to (1, 6) and four times to (1, 1)
        let expected =
            ((0.64_f64 + 0.09).sqrt() + 4.0 * (0.64_f64 + 0.64).sqrt()) / NEIGHBOURS as f64;
        assert!((found[0].isolation - expected).abs() < 1e-12);
        assert!((found[1].isolation - 0.5).abs() < 1e-12);
        assert!(found[2].isolation.abs() < 1e-12);
        let few = search(&table(&[[0.0, 0.0], [3.0, 4.0]]), 1);
        assert!(few.iter().all(|found| (found.isolation - 0.5).abs() < 1e-12));
    }

    #[test]
    fn runs_of_a_search_are_not_those_of_an_audit() {
        let table = table(&[[0.0, 0.0], [3.0, 4.0], [9.0, 9.0]]);
        let audit = Audit::new(&table, 12, &settings(), FaultSet::NONE, 3).unwrap();
        let own = |position| FIRST_RUN + position * RUNS_APART;
        // streams are 2·run + world; those of the partition have 2²⁴ words each
        let last = own(u64::from(MOST_CANDIDATES) - 1) + MOST_RUNS;
        assert!(MOST_RUNS <= RUNS_APART && last < 1 << 39);
        let rows = |first| {
            let runs = audit.runs(World::Target, first..first + 4);
            runs.into_iter().map(|run| run.features).collect::<Vec<_>>()
        };
        for first in [0, own(0), own(1)] {
            let others = [0, own(0), own(1)].into_iter().filter(|other| *other != first);
            for other in others {
                assert!(rows(first).iter().all(|found| !rows(other).contains(found)));
            }
        }
    }

    /// Mean AUC of audits of the chosen targets over seeds, in its standard errors from ½: a faithful
    /// mechanism that learns nothing shows none.
    fn bias(first_run: impl Fn(u32) -> u64) -> f64 {
        let rows: Vec<[f64; 2]> = (0..8).map(|at| [f64::from(at), f64::from(at % 3)]).collect();
        let table = table(&rows);
        let settings = settings();
        let options = SearchOptions { candidates: 8, runs: RUNS };
        let areas: Vec<f64> = (0..SEEDS)
            .map(|seed| {
                let search =
                    TargetSearch::new(&table, &settings, FaultSet::NONE, seed, options).unwrap();
                let candidates = search.candidates(&search.isolation(0..8));
                let judged: Vec<_> = (0..)
                    .zip(candidates)
                    .map(|(at, row)| search.judge_on(first_run(at), row, OPTIONS).unwrap())
                    .collect();
                let target = most_exposed(&judged).unwrap().candidate.row;
                let audit = Audit::new(&table, target, &settings, FaultSet::NONE, seed).unwrap();
                let runs = World::BOTH.map(|world| audit.runs(world, 0..RUNS));
                audit.evaluate(runs, OPTIONS).unwrap().attack.auc.value
            })
            .collect();
        let count = areas.len() as f64;
        let mean = areas.iter().sum::<f64>() / count;
        // 16 evaluated runs of each world: variance of an AUC without ties, (16 + 16 + 1)/(12·16·16)
        (mean - 0.5) / (33.0 / 3072.0 / count).sqrt()
    }

    #[test]
    fn a_search_does_not_bias_the_audit() {
        let found = bias(|at| FIRST_RUN + u64::from(at) * RUNS_APART);
        assert!(found.abs() < 3.0, "{found}");
    }

    #[test]
    fn a_search_on_the_runs_of_the_audit_is_biased() {
        let found = bias(|_| 0);
        assert!(found > 3.0, "{found}");
    }

    #[test]
    fn numbers_outside_their_domain_are_refused() {
        let table = table(&[[0.0, 0.0], [3.0, 4.0]]);
        let settings = settings();
        let refused = |candidates, runs| {
            let options = SearchOptions { candidates, runs };
            TargetSearch::new(&table, &settings, FaultSet::NONE, 1, options).unwrap_err()
        };
        assert!(matches!(refused(0, 100), SearchError::Candidates { candidates: 0, .. }));
        assert!(matches!(refused(65, 100), SearchError::Candidates { candidates: 65, .. }));
        assert!(matches!(refused(1, 19), SearchError::Runs { runs: 19, .. }));
        assert!(matches!(refused(1, 10_001), SearchError::Runs { runs: 10_001, .. }));
        let one = table.without(10).unwrap();
        let options = SearchOptions::default();
        let few = TargetSearch::new(&one, &settings, FaultSet::NONE, 1, options).unwrap_err();
        assert_eq!(few, SearchError::Rows { rows: 1, most: MOST_ROWS });
        assert!(most_exposed(&[]).is_none());
    }
}
