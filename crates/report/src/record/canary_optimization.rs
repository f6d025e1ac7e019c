//! Canaries moved along metagradients.

use serde::Serialize;

pub use crate::words::AucEstimate;
use crate::words::optimised_canaries;

/// The document of `dpscope canaries optimise`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CanaryOptimizationReport {
    /// Name and version of this document.
    #[cfg_attr(feature = "schema", schemars(extend("const" = "dpscope.canary_optimisation/1")))]
    pub schema: &'static str,
    /// Version of the program.
    pub version: &'static str,
    /// The file of the canaries.
    pub file: String,
    /// SHA-256 of its arrays, hexadecimal.
    pub canaries_digest: String,
    /// Number of canaries: m.
    pub canaries: u64,
    /// The built-in model or model file.
    pub model: String,
    /// Its number of parameters.
    pub parameters: u64,
    /// Built-in data or the file of the data.
    pub data: String,
    /// Records that the models are trained on besides canaries.
    pub records: u64,
    /// Whether canaries have another label than the records that they started from.
    pub is_mislabelled: bool,
    /// Steps of each training: T.
    pub steps: u64,
    /// Records per batch: B.
    pub batch_size: u64,
    /// Learning rate of the trainings.
    pub learning_rate: f64,
    /// Momentum of the trainings.
    pub momentum: f64,
    /// Splits per metastep, each with its complement.
    pub splits: u64,
    /// How canaries follow the gradient: sign, gradient or momentum.
    pub update: String,
    /// Step of a feature, as a share of its range.
    pub step_size: f64,
    /// Seed of the choice of records, splits, initial parameters and orders, decimal digits.
    pub seed: String,
    /// How consistently parameters follow the canaries, in [−1, 1]; below 0.8 metagradients mislead.
    pub metasmoothness: f64,
    /// Devices that computed gradients and second derivatives, in order; the same command returns
    /// the same bits on the same devices.
    pub devices: Vec<String>,
    /// Metasteps.
    pub metasteps: u64,
    /// Metasteps without effect, because a training diverged.
    pub skipped: u64,
    /// Metasteps before the canaries in the file: those with the highest AUC per canary in a
    /// validation.
    pub best_metasteps: u64,
    /// Whether the features were binary, and were rounded in the file.
    pub is_rounded: bool,
    /// Mean objective per canary of each metastep, nats; none where it was skipped.
    pub objectives: Vec<Option<f64>>,
    /// Validations during the optimisation, each on splits of its own.
    pub validations: Vec<CanaryValidation>,
    /// Splits of the comparison, each with its complement; the same for all rows, and used for
    /// nothing else.
    pub compared_splits: u64,
    /// The canaries before and after, compared.
    pub comparison: Vec<CanaryComparison>,
    /// What limits the result.
    pub warnings: Vec<String>,
}

/// How well models reveal their canaries, during an optimisation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CanaryValidation {
    /// Metasteps before it.
    pub metasteps: u64,
    /// AUC of all canaries by the loss of the final model.
    pub raw: AucEstimate,
    /// AUC of each canary over trainings; mean over canaries.
    pub per_canary: AucEstimate,
}

/// How well models reveal some canaries.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CanaryComparison {
    /// Which canaries.
    pub canaries: ComparedCanaries,
    /// AUC of all canaries by the loss of the final model.
    pub raw: AucEstimate,
    /// AUC of all canaries by the loss less the canary's mean loss in other trainings without it.
    pub calibrated: AucEstimate,
    /// AUC of each canary over trainings; mean over canaries.
    pub per_canary: AucEstimate,
}

/// Canaries that are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ComparedCanaries {
    /// As they started.
    Start,
    /// Optimised, with features anywhere in their ranges.
    Optimised,
    /// Optimised and rounded to binary features.
    Rounded,
}

impl ComparedCanaries {
    /// Its name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            ComparedCanaries::Start => "start",
            ComparedCanaries::Optimised => "optimised",
            ComparedCanaries::Rounded => "rounded",
        }
    }
}

impl CanaryOptimizationReport {
    /// What the optimisation gained, for the canaries in the file.
    #[must_use]
    pub fn conclusion(&self) -> String {
        let of = |canaries| {
            self.comparison
                .iter()
                .find(|line| line.canaries == canaries)
                .map(|line| line.calibrated)
        };
        let in_file =
            if self.is_rounded { ComparedCanaries::Rounded } else { ComparedCanaries::Optimised };
        match (of(ComparedCanaries::Start), of(in_file)) {
            (Some(start), Some(end)) => optimised_canaries(self.best_metasteps, start, end),
            _ => String::new(),
        }
    }
}
