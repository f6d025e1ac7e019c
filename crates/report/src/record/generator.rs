//! Audits of a user's generator of synthetic rows.

use std::borrow::Cow;

use dpscope_core::audit::Auc;
use dpscope_core::audit::bound::Evidence;
use dpscope_core::audit::claim::Verdict;
use serde::{Deserialize, Serialize};

/// The document of `dpscope audit generator` for many runs, and for a run without canaries.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GeneratorReport {
    /// Name and version of this document.
    #[cfg_attr(feature = "schema", schemars(extend("const" = GeneratorReport::SCHEMA)))]
    pub schema: Cow<'static, str>,
    /// Version of the program.
    pub version: Cow<'static, str>,
    /// The result in one sentence.
    pub headline: String,
    /// What the result means, and what could have been seen.
    pub says: String,
    /// Whether the claim is refuted; absent without a claim or a bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// The claimed ε.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claimed_epsilon: Option<f64>,
    /// Bound of the attack; absent where nothing certifies an ε.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attack: Option<GeneratorAttack>,
    /// Figures of one table without a game, which certify nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub indicative: Option<IndicativeFigures>,
    /// Privacy parameter δ.
    pub delta: f64,
    /// Chance that the lower bound is wrong.
    pub significance: f64,
    /// Runs of each world.
    pub runs: u64,
    /// Failed runs with the target row and without: outcomes that the attack sees.
    pub failed: [u64; 2],
    /// Released rows of each run.
    pub rows: u64,
    /// Columns of the schema.
    pub columns: u64,
    /// Whether the data of both worlds were present and differ by the target row alone.
    pub checked_data: bool,
    /// What was noticed.
    pub findings: Vec<GeneratorFinding>,
    /// Duration, milliseconds.
    pub elapsed_ms: f64,
}

impl GeneratorReport {
    /// The `schema` of these reports.
    pub const SCHEMA: &'static str = "dpscope.generator/1";
}

/// What the attack on many runs found.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GeneratorAttack {
    /// Area under its curve.
    pub auc: Auc,
    /// Lower bound on ε.
    pub epsilon: f64,
    /// Largest ε that this number of runs can show.
    pub ceiling: f64,
    /// Runs of each world that were evaluated.
    pub evaluated: u64,
    /// What the bound follows from.
    pub counts: AttackCounts,
}

/// Evaluated runs, and the errors of an attack at a threshold that other runs chose.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AttackCounts {
    /// Evaluated runs with the target.
    pub target: u64,
    /// Evaluated runs without it.
    pub zero_out: u64,
    /// Runs without the target that were taken for runs with it.
    pub false_positives: u64,
    /// Runs with the target that were taken for runs without it.
    pub false_negatives: u64,
    /// Upper limit of the false positive rate, whose tail is half the significance.
    pub fpr_upper: f64,
    /// Upper limit of the false negative rate, likewise.
    pub fnr_upper: f64,
}

impl From<&Evidence> for AttackCounts {
    fn from(evidence: &Evidence) -> Self {
        AttackCounts {
            target: evidence.trials.target,
            zero_out: evidence.trials.zero_out,
            false_positives: evidence.errors.false_positives,
            false_negatives: evidence.errors.false_negatives,
            fpr_upper: evidence.fpr_upper,
            fnr_upper: evidence.fnr_upper,
        }
    }
}

/// Distances of the real rows to a synthetic table.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IndicativeFigures {
    /// Share of the synthetic rows that equal a real row.
    pub copied_share: f64,
    /// Median distance from a real row to its nearest synthetic row, columns scaled by their bounds.
    pub median_distance: f64,
    /// Smallest such distance.
    pub least_distance: f64,
}

/// Something noticed, and what to do about it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GeneratorFinding {
    /// A short name.
    pub name: Cow<'static, str>,
    /// What was seen.
    pub says: String,
    /// What to change.
    pub remedy: String,
}

impl GeneratorFinding {
    /// The finding with its remedy.
    #[must_use]
    pub fn sentence(&self) -> String {
        format!("{}: {}. Remedy: {}", self.name, self.says, self.remedy)
    }
}
