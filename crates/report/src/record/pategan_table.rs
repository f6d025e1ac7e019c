//! Published implementations of PATE-GAN, audited with their faults and with those of the audit.

use dpscope_core::audit::Auc;
use serde::Serialize;

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
