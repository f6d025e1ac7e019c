//! Audits of PATE-GAN.

use std::borrow::Cow;

use dpscope_core::audit::Auc;
use dpscope_core::audit::claim::Verdict;
use serde::{Deserialize, Serialize};

use super::{AttackCounts, LimitRecord, SeedSource, Utility};

/// The document of `dpscope audit pategan`.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PateGanReport {
    /// Name and version of this document.
    #[cfg_attr(feature = "schema", schemars(extend("const" = PateGanReport::SCHEMA)))]
    pub schema: Cow<'static, str>,
    /// Version of the program.
    pub version: Cow<'static, str>,
    /// The result in one sentence.
    pub headline: String,
    /// What the result means, and what could have been seen.
    pub says: String,
    /// Whether the accounted ε is refuted.
    pub verdict: Verdict,
    /// The largest acceptable bound on ε, and whether it is exceeded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fail_above: Option<LimitRecord>,
    /// Switches of faults that are on.
    pub faults: Vec<GeneratorFault>,
    /// What was run.
    pub settings: PateGanSettings,
    /// The user's data, with which this report is private; absent for the worst case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<PateGanData>,
    /// Utility of the released rows, if it was tested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub utility: Option<Utility>,
    /// What each check found.
    pub checks: Vec<GeneratorCheck>,
    /// Chance that any check of a faithful mechanism reports a fault.
    pub checks_significance: f64,
    /// Area under the curve of the attack on the released rows.
    pub auc: Auc,
    /// Lower bound on ε by the attack.
    pub epsilon: f64,
    /// Largest ε that this number of runs can show.
    pub ceiling: f64,
    /// ε that the accountant proves of the faithful mechanism.
    pub accounted_epsilon: f64,
    /// ε by the published moments.
    pub moments_epsilon: f64,
    /// Privacy parameter δ.
    pub delta: f64,
    /// Chance that the lower bound is wrong.
    pub significance: f64,
    /// Runs of each world.
    pub runs: u64,
    /// Runs of each world that were evaluated.
    pub evaluated: u64,
    /// What the lower bound follows from.
    pub counts: AttackCounts,
    /// Random seed.
    pub seed: String,
    /// Where it came from.
    pub seed_source: SeedSource,
    /// Duration, milliseconds.
    pub elapsed_ms: f64,
}

impl PateGanReport {
    /// The `schema` of these reports.
    pub const SCHEMA: &'static str = "dpscope.pategan/1";
}

/// The user's data of an audit.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PateGanData {
    /// SHA-256 of the file of rows, hexadecimal.
    pub digest: String,
    /// Number of columns.
    pub columns: u64,
    /// Position of the target row in the file, from 0.
    pub target_row: u64,
    /// How it was chosen.
    pub target_choice: TargetChoice,
    /// Rows that were tried, if it was searched for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub candidates: Option<u32>,
    /// Runs of each world per candidate, which the audit does not use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub candidate_runs: Option<u64>,
}

/// How a target row was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum TargetChoice {
    /// By the user.
    Stated,
    /// By attacks on runs of their own.
    Searched,
}

/// Parameters of PATE-GAN.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PateGanSettings {
    /// Number of teachers k.
    pub teachers: u32,
    /// Inverse scale of the Laplace noise, γ.
    pub gamma: f64,
    /// Rows per training step.
    pub batch_size: u32,
    /// Planned iterations.
    pub iterations: u32,
    /// Released rows, as stated.
    pub rows: u32,
}

/// A fault that is switched on.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GeneratorFault {
    /// Name, as "U1".
    pub name: String,
    /// The detector that reports it, as "M1".
    pub detector: Cow<'static, str>,
    /// What it is.
    pub says: Cow<'static, str>,
}

/// What a check found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CheckOutcome {
    /// No sign of a fault; what was seen instead, if anything confirms that.
    Clear,
    /// These settings do not show its faults.
    Untestable,
    /// A fault.
    Fired,
}

/// A check of what runs did.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GeneratorCheck {
    /// The detector, as "M1".
    pub detector: Cow<'static, str>,
    /// What is checked.
    pub name: Cow<'static, str>,
    /// What it found.
    pub outcome: CheckOutcome,
    /// What was seen, or why nothing can be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub says: Option<String>,
    /// Names of the faults that it can be.
    pub faults: Vec<String>,
    /// The probability of such an observation at most, without a fault; for statistical checks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p_value: Option<f64>,
    /// What to change, if it fired.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<Cow<'static, str>>,
}
