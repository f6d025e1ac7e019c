//! Tests of the independence that intervals need.

use dpscope_core::adjacency::World;
use dpscope_core::recorded::independence::{
    CheckKind, FALSE_ALARM, IndependenceChecks, NamedCheck,
};
use serde::{Deserialize, Serialize};

use crate::words::dependence_sentence;

/// Tests of one pair of files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IndependenceRecord {
    /// Chance of any finding where all runs are independent.
    pub false_alarm: f64,
    /// The tests, in the order in which they were made.
    pub checks: Vec<IndependenceTest>,
}

/// One test of independence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IndependenceTest {
    /// Its name.
    pub name: CheckKind,
    /// The world whose runs it concerns; none where it concerns both.
    pub world: Option<World>,
    /// What was measured.
    pub statistic: f64,
    /// Chance of a statistic at least as extreme if the runs are independent.
    pub p_value: f64,
    /// What is wrong, as a sentence; none where nothing is.
    pub finding: Option<String>,
}

impl From<&IndependenceChecks> for IndependenceRecord {
    fn from(checks: &IndependenceChecks) -> Self {
        let test = |&NamedCheck { kind, world, check }: &NamedCheck| IndependenceTest {
            name: kind,
            world,
            statistic: check.statistic,
            p_value: check.p_value,
            finding: check.finding.as_ref().map(dependence_sentence),
        };
        IndependenceRecord { false_alarm: FALSE_ALARM, checks: checks.0.iter().map(test).collect() }
    }
}
