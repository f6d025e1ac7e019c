//! What determines the integers of a simulated run.

use dpscope_core::audit::bound::ThresholdRule;
use dpscope_core::mechanism::BatchedGaussian;
use serde::{Deserialize, Serialize};

/// The plan of a run that was counted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlanRecord {
    /// The mechanism and its attacker.
    pub mechanism: BatchedGaussian,
    /// Observations of both worlds together.
    pub observations: u64,
    /// δ of the statement.
    pub delta: f64,
    /// Chance that the bound is wrong.
    pub significance: f64,
    /// How the threshold is chosen.
    pub threshold_rule: ThresholdRule,
    /// Most cuts of the simultaneous rule.
    pub cuts: u32,
    /// Seed of every random word, a decimal number below 2⁵³.
    pub seed: String,
    /// SHA-256 of the description of the trained models; none where the mechanism is simulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub training: Option<String>,
}
