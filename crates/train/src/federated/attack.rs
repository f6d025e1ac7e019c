//! What an attacker of a federated training sees.

use serde::{Deserialize, Serialize};

/// A score of canary clients; larger where the canary more likely took part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FederatedAttack {
    /// The change of the model by the training.
    FinalModel,
    /// The update with the largest cosine, among all rounds.
    LargestUpdate,
    /// All updates, each scaled to norm 1, in one sum.
    SumOfUpdates,
    /// The updates of the rounds of the canary, which the attacker knows.
    KnownRounds,
}

impl FederatedAttack {
    /// Every attack.
    pub const ALL: [FederatedAttack; 4] = [
        FederatedAttack::FinalModel,
        FederatedAttack::LargestUpdate,
        FederatedAttack::SumOfUpdates,
        FederatedAttack::KnownRounds,
    ];

    /// The name in commands and files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            FederatedAttack::FinalModel => "final-model",
            FederatedAttack::LargestUpdate => "largest-update",
            FederatedAttack::SumOfUpdates => "sum-of-updates",
            FederatedAttack::KnownRounds => "known-rounds",
        }
    }

    /// Whether the attacker sees every update.
    #[must_use]
    pub const fn needs_updates(self) -> bool {
        !matches!(self, FederatedAttack::FinalModel)
    }
}
