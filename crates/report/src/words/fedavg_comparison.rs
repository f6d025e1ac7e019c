//! What comparisons of federated trainings show.

use dpscope_core::format::rounded;

use crate::record::{FedAvgExperiment, MeanDifference, NormalityRecord};

impl FedAvgExperiment {
    /// What the table shows.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::FinalVsAll => "What attackers see in DP-FedAvg, by what they know",
            Self::Presentations => "Canaries that take part more than once",
            Self::OneOrTenRuns => "Canaries of one training, or of ten",
            Self::Utility => "What canaries cost the model",
            Self::Gaussianity => "Whether scores of canaries are normal",
        }
    }
}

impl MeanDifference {
    /// The difference as a sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let Self { first, second, difference, .. } = self;
        let change = rounded(difference.value.abs(), 2);
        let error = rounded(difference.standard_error, 2);
        let direction = if difference.value < 0.0 { "less" } else { "more" };
        if self.is_beyond_errors {
            format!("{first}: {change} ± {error} {direction} than that {second}")
        } else {
            let is_negative = difference.value < 0.0 && change != rounded(0.0, 2);
            let sign = if is_negative { "-" } else { "" };
            format!(
                "{first}: no difference from that {second} beyond errors ({sign}{change} ± {error})"
            )
        }
    }
}

impl NormalityRecord {
    /// The share of rejected audits as a sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let Self { rejected, audits, p_value, .. } = *self;
        let judgement = if p_value < 0.01 { "not normal" } else { "nothing against normal scores" };
        format!(
            "{rejected} of {audits} rejected at 15 %; as many or more with probability {}: {judgement}",
            rounded(p_value, 3)
        )
    }
}
