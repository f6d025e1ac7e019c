//! What recorded outputs say about the independence that intervals need.

use serde::Serialize;

/// Tests of one pair of files.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct IndependenceRecord {
    /// Chance of any finding where all runs are independent.
    pub false_alarm: f64,
    /// The tests, in the order in which they were made.
    pub checks: Vec<IndependenceTest>,
}

/// One test of independence.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct IndependenceTest {
    /// Its name.
    pub name: &'static str,
    /// The world whose runs it concerns; none where it concerns both.
    pub world: Option<&'static str>,
    /// What was measured.
    pub statistic: f64,
    /// Chance of a statistic at least as extreme if the runs are independent.
    pub p_value: f64,
    /// What is wrong, as a sentence; none where nothing is.
    pub finding: Option<String>,
}
