//! Published implementations of PATE-GAN, audited with their faults and with those of the audit.

use dpscope_core::audit::Auc;
use serde::Serialize;

use super::UtilityFigures;

/// The document of `dpscope reproduce pategan`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PateGanTable {
    /// Name and version of this document.
    #[cfg_attr(feature = "schema", schemars(extend("const" = "dpscope.pategan_table/1")))]
    pub schema: &'static str,
    /// Version of the program.
    pub version: &'static str,
    /// δ of the bounds.
    pub delta: f64,
    /// Chance that a bound is wrong, for each bound.
    pub significance: f64,
    /// Runs of each world.
    pub runs: u64,
    /// Largest ε that this number of runs can show.
    pub ceiling: f64,
    /// ε that is accounted for.
    pub accounted_epsilon: f64,
    /// Decimal digits.
    pub seed: String,
    /// One per implementation, and the faithful mechanism.
    pub implementations: Vec<AuditedImplementation>,
    /// Real rows in [`AuditedImplementation::teacher_rows`].
    pub records: u64,
    /// The average case; absent if it was left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub average: Option<AverageCase>,
    /// Moments accountants on votes of one kind.
    pub accountants: Vec<ComparedAccountant>,
    /// Votes of [`ComparedAccountant`].
    pub accounted_votes: u64,
    /// Inverse scale of their noise, γ.
    pub accounted_gamma: f64,
    /// Duration, milliseconds.
    pub elapsed_ms: f64,
}

/// An implementation, as the faithful mechanism with switches on.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AuditedImplementation {
    /// Its name in tables.
    pub name: &'static str,
    /// Names of its faults.
    pub faults: Vec<&'static str>,
    /// Published ε of the worst case.
    pub published: Option<f64>,
    /// Ours, with a number of released rows that follows the data, as in the published audit.
    pub with_harness_fault: ImplementationLeak,
    /// Ours, with a public number of released rows.
    pub without_harness_fault: ImplementationLeak,
    /// Detectors that report a fault, without that of the audit.
    pub detectors: Vec<&'static str>,
    /// The fewest and the most real rows that a teacher reads in one training.
    pub teacher_rows: [u64; 2],
}

/// The implementations on a table of many rows, with and without the row farthest from its nearest ones.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AverageCase {
    /// Name of the file; absent for rows that the program draws from a documented distribution.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
    /// Rows with the target.
    pub rows: u64,
    /// Columns, the label included.
    pub columns: u64,
    /// Position of the target among the rows.
    pub target_row: u64,
    /// Rows that each run releases, where their number is public.
    pub released_rows: u64,
    /// Runs of each world.
    pub runs: u64,
    /// Largest ε that this number of runs can show.
    pub ceiling: f64,
    /// ε that is accounted for.
    pub accounted_epsilon: f64,
    /// The column that classifiers predict.
    pub label: String,
    /// The positive class.
    pub positive: String,
    /// Real rows that classifiers were tested on, which no generator of this test saw.
    pub tested_rows: u64,
    /// Share of the category among these rows: AUPRC of constant scores.
    pub positive_share: f64,
    /// Generators per implementation whose rows trained classifiers.
    pub utility_runs: u64,
    /// Figures of the classifiers when they are trained on real rows.
    pub real: UtilityFigures,
    /// In the order of [`PateGanTable::implementations`].
    pub implementations: Vec<AverageImplementation>,
}

/// An implementation in the average case.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AverageImplementation {
    /// Its name in tables.
    pub name: &'static str,
    /// Published ε of the average case.
    pub published: Option<f64>,
    /// Ours, with a number of released rows that follows the data, as in the published audit.
    pub with_harness_fault: ImplementationLeak,
    /// Ours, with a public number of released rows.
    pub without_harness_fault: ImplementationLeak,
    /// Classifiers trained on released rows and tested on real ones.
    pub utility: UtilityFigures,
}

/// What the released rows show.
#[derive(Debug, Clone, Copy, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImplementationLeak {
    /// Area under the curve of the attack.
    pub auc: Auc,
    /// Lower bound on ε.
    pub epsilon: f64,
}

/// ε that an accountant claims for votes of one kind, beside what holds.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedAccountant {
    /// What it computes.
    pub name: &'static str,
    /// Names of the faults with this accountant.
    pub faults: Vec<&'static str>,
    /// ε of unanimous votes; none where it has no number.
    pub unanimous: Option<f64>,
    /// ε of votes with a majority of one; none where it has no number.
    pub narrow: Option<f64>,
}
