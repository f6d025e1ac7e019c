//! Who attacks.

/// What the attacker controls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum ThreatModel {
    /// Every record's gradient: the batched Gaussian mechanism on (+1, −1, …, −1).
    WorstCase,
    /// One record of every batch.
    PartiallyInformed,
    /// The target record alone.
    TargetCanary,
}
