//! Plans of audits.

use dpscope_engine::differing_fields;
use serde::{Deserialize, Serialize};

use super::PateGanEvidence;
use crate::attack::LEAST_RUNS;
use crate::audit::{AuditOptions, SearchOptions};
use crate::fault::FaultSet;
use crate::settings::{Settings, SettingsError};

/// Everything that determines the runs of an audit, and what is said about them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PateGanPlan {
    /// Public parameters.
    pub settings: Settings,
    /// Switches.
    pub faults: FaultSet,
    /// The user's data; none for the worst case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<AuditedTable>,
    /// Runs of each world, 20 to 100,000.
    pub runs: u64,
    /// Chance that the bound is wrong, in (0, 1).
    pub significance: f64,
    /// Chance that any check of a faithful mechanism reports a fault, in (0, 1).
    pub checks_significance: f64,
    /// Seed of every random word, below 2⁵³.
    pub seed: u64,
}

/// Which table is audited, and which of its rows is the target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuditedTable {
    /// SHA-256 of the file of rows, hexadecimal.
    pub digest: String,
    /// SHA-256 of the file of columns.
    pub columns_digest: String,
    /// The column of categories that is the label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Position of the target in the file.
    pub target_row: u64,
    /// How it was searched for; none if it was stated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchOptions>,
}

/// Why a plan is refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The settings of the mechanism.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// Too few or too many runs.
    #[error("{runs} runs of each world; there must be from {LEAST_RUNS} to {MOST_RUNS}")]
    Runs {
        /// How many.
        runs: u64,
    },
    /// A significance, or the seed.
    #[error("{name} is {value}; it must be {domain}")]
    Number {
        /// Which.
        name: &'static str,
        /// Its value.
        value: f64,
        /// What is possible.
        domain: &'static str,
    },
}

/// The most runs of a world.
const MOST_RUNS: u64 = 100_000;

impl PateGanPlan {
    /// Checks every field.
    ///
    /// # Errors
    /// The first field outside its domain.
    pub fn check_fields(&self) -> Result<(), PlanError> {
        self.settings.plan()?;
        if !(LEAST_RUNS as u64..=MOST_RUNS).contains(&self.runs) {
            return Err(PlanError::Runs { runs: self.runs });
        }
        for (name, value) in
            [("significance", self.significance), ("checks_significance", self.checks_significance)]
        {
            if !(value > 0.0 && value < 1.0) {
                return Err(PlanError::Number { name, value, domain: "between 0 and 1" });
            }
        }
        if self.seed >= 1 << 53 {
            let value = self.seed as f64;
            return Err(PlanError::Number { name: "seed", value, domain: "below 2^53" });
        }
        Ok(())
    }

    /// Statistical options.
    #[must_use]
    pub const fn options(&self) -> AuditOptions {
        AuditOptions {
            significance: self.significance,
            checks_significance: self.checks_significance,
        }
    }
}

/// The fields of an object by name, those of objects in it by theirs.
fn fields(value: &serde_json::Value) -> Vec<(String, String)> {
    let serde_json::Value::Object(fields) = value else { return Vec::new() };
    let field = |(name, value): (&String, &serde_json::Value)| match value {
        serde_json::Value::Object(_) => self::fields(value),
        _ => vec![(name.clone(), value.to_string())],
    };
    fields.iter().flat_map(field).collect()
}

impl dpscope_engine::Plan for PateGanPlan {
    const SCHEMA: &'static str = "dpscope.pategan-runs/1";
    /// 10⁵ runs of the worst case, 2,000 characters each; fewer runs of larger tables.
    const MAX_BYTES: usize = 256 << 20;
    const RESULTS_PER_UNIT: u64 = 2;
    type Stage = ();
    type Evidence = PateGanEvidence;

    fn units(&self) -> u64 {
        self.runs
    }

    fn named(ranges: &str) -> String {
        format!("runs {ranges} of each world")
    }

    fn empty(&self, (): &()) -> PateGanEvidence {
        PateGanEvidence::default()
    }

    fn differences(&self, other: &Self) -> String {
        let [mine, theirs] = [self, other].map(|plan| {
            let plan = serde_json::to_value(plan).unwrap_or_default();
            fields(&plan)
        });
        if mine.iter().map(|field| &field.0).ne(theirs.iter().map(|field| &field.0)) {
            return "one is of the worst case or stops otherwise".to_owned();
        }
        differing_fields(mine, theirs)
    }

    fn check(&self, (): &(), evidence: &PateGanEvidence, units: u64) -> Result<(), &'static str> {
        if self.check_fields().is_err() {
            return Err("its plan is invalid");
        }
        evidence.check(self.runs, units)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::settings::Stop;
    use dpscope_engine::Plan as _;

    pub(crate) fn plan() -> PateGanPlan {
        let stop = Stop::Iterations(4);
        PateGanPlan {
            settings: Settings { teachers: 2, batch_size: 4, stop, rows: 4, ..Settings::default() },
            faults: FaultSet::NONE,
            table: None,
            runs: 40,
            significance: 0.05,
            checks_significance: 1e-3,
            seed: 7,
        }
    }

    #[test]
    fn fields_outside_their_domain_are_refused() {
        assert!(plan().check_fields().is_ok());
        let mut settings = plan().settings;
        settings.teachers = 0;
        for refused in [
            PateGanPlan { settings, ..plan() },
            PateGanPlan { runs: 19, ..plan() },
            PateGanPlan { runs: 100_001, ..plan() },
            PateGanPlan { significance: 0.0, ..plan() },
            PateGanPlan { checks_significance: f64::NAN, ..plan() },
            PateGanPlan { seed: 1 << 53, ..plan() },
        ] {
            assert!(refused.check_fields().is_err(), "{refused:?}");
        }
    }

    #[test]
    fn differing_fields_are_named() {
        let mut other = PateGanPlan { seed: 8, ..plan() };
        other.settings.teachers = 3;
        let found = plan().differences(&other);
        assert_eq!(found, "seed: 7 here, 8 there; teachers: 2 here, 3 there");
        let table = AuditedTable {
            digest: String::new(),
            columns_digest: String::new(),
            label: None,
            target_row: 0,
            search: None,
        };
        let other = PateGanPlan { table: Some(table), ..plan() };
        assert!(plan().differences(&other).contains("worst case"));
    }
}
