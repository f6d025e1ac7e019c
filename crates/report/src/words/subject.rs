//! What was audited, and what a refutation of it means.

use serde::{Deserialize, Serialize};

/// What was audited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// The batched Gaussian mechanism, simulated.
    SimulatedMechanism,
    /// Models trained here by DP-SGD.
    TrainedModels,
    /// Outputs recorded from the user's own training runs.
    RecordedOutputs,
    /// Attack scores of any kind.
    Scores,
    /// Error counts at one threshold.
    Counts,
}

/// Warns that scores of one model are not of independent runs.
pub const ONE_MODEL: &str = "Each score must come from its own training run; for members and non-members of one model, use `audit one-run`.";

impl Subject {
    /// The subject in a few words.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Subject::SimulatedMechanism => "simulated mechanism",
            Subject::TrainedModels => "trained models",
            Subject::RecordedOutputs => "recorded outputs",
            Subject::Scores => "attack scores",
            Subject::Counts => "error counts at one threshold",
        }
    }

    /// What a refutation of this subject says, and what not.
    #[must_use]
    pub fn refutation(self) -> &'static str {
        match self {
            Subject::SimulatedMechanism => {
                "DP-SGD with these parameters and this sampler, releasing every noisy sum, is not \
                 (epsilon, delta)-DP for any epsilon below the bound, under zero-out adjacency. This \
                 does not measure your trained model or your code."
            }
            Subject::TrainedModels => {
                "DP-SGD as it is implemented here, with this model, data, sampler and noise, is not \
                 (epsilon, delta)-DP for any epsilon below the bound, under this threat model. This \
                 does not measure your own training code."
            }
            Subject::RecordedOutputs => {
                "The code that recorded these outputs is not (epsilon, delta)-DP for any epsilon below \
                 the bound, under this threat model, if its runs were independent and their number \
                 and the seed were fixed before they were seen."
            }
            Subject::Scores => {
                "The procedure behind these scores is not (epsilon, delta)-DP for any epsilon below the \
                 bound, if its runs were independent and their number and the seed were fixed \
                 before they were seen."
            }
            Subject::Counts => {
                "The procedure behind these counts is not (epsilon, delta)-DP for any epsilon below the \
                 bound, if its runs were independent and their number and the threshold were fixed \
                 before they were seen."
            }
        }
    }
}
