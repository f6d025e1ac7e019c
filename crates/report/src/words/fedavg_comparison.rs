//! What comparisons of federated trainings show.

use dpscope_core::format::rounded;

use crate::record::{FedAvgExperiment, MeanDifference};

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
        let Self { first, second, difference, runs, .. } = self;
        let change = rounded(difference.value.abs(), 2);
        let error = rounded(difference.standard_error, 2);
        let direction = if difference.value < 0.0 { "less" } else { "more" };
        let is_negative = difference.value < 0.0 && change != rounded(0.0, 2);
        let sign = if is_negative { "-" } else { "" };
        if *runs < Self::LEAST_RUNS {
            let least = Self::LEAST_RUNS;
            format!(
                "{first}: {runs} audits are too few for a comparison with that {second} \
                 ({sign}{change} ± {error}); run at least {least}"
            )
        } else if self.is_beyond_errors {
            format!("{first}: {change} ± {error} {direction} than that {second}")
        } else {
            format!(
                "{first}: no difference from that {second} beyond errors ({sign}{change} ± {error})"
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::MeanEstimate;

    #[test]
    fn differences_within_errors_are_no_claims() {
        let sentence = |value, runs| {
            let difference = MeanEstimate { value, standard_error: 0.5 };
            MeanDifference::new(("σ = 1", runs), "bound", "of others", difference).sentence()
        };
        assert_eq!(sentence(-2.0, 6), "bound: 2.00 ± 0.50 less than that of others");
        let none = "bound: no difference from that of others beyond errors";
        assert_eq!(sentence(-1.0, 6), format!("{none} (-1.00 ± 0.50)"));
        // with fewer audits, standard errors say little
        assert_eq!(
            sentence(2.0, 4),
            "bound: 4 audits are too few for a comparison with that of others (2.00 ± 0.50); run \
             at least 5"
        );
        assert_eq!(sentence(-0.001, 6), format!("{none} (0.00 ± 0.50)"));
    }
}
