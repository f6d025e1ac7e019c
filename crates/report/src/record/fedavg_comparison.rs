//! Federated trainings with canaries, by setting, beside published figures.

use serde::Serialize;

use super::{FederatedAccounted, FederatedAccuracy, MeanEstimate, PaperDiscrepancy};
use crate::words::OneShotAttacker;

/// The document of `dpscope reproduce fedavg-…`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FedAvgComparisonReport {
    /// Name and version of this document.
    #[cfg_attr(feature = "schema", schemars(extend("const" = "dpscope.fedavg_comparison/1")))]
    pub schema: &'static str,
    /// Version of the program.
    pub version: &'static str,
    /// The experiment.
    pub what: FedAvgExperiment,
    /// Name of the data.
    pub data: String,
    /// Parameters of the model.
    pub parameters: u64,
    /// Clients, without canaries.
    pub clients: u32,
    /// Records of each client.
    pub records_per_client: u32,
    /// Server rounds.
    pub rounds: u32,
    /// Clipping norm of updates.
    pub clip_norm: f64,
    /// Momentum of the server.
    pub server_momentum: f64,
    /// δ of the statements.
    pub delta: f64,
    /// Chance that a bound is wrong.
    pub significance: f64,
    /// Trainings per setting; each has canaries, noise and an order of its own.
    pub runs: u32,
    /// Decimal digits.
    pub seed: String,
    /// One per setting.
    pub rows: Vec<FedAvgRow>,
    /// What differs between settings or attacks, with errors.
    pub differences: Vec<MeanDifference>,
    /// Published figures; model, data and noise differ.
    pub published: Vec<PublishedFedAvgRow>,
    /// Published accuracies with and without canaries, in percent, from little noise to much.
    pub published_accuracies: Vec<[f64; 2]>,
    /// Numbers of the paper that its own definitions do not yield.
    pub discrepancies: Vec<PaperDiscrepancy>,
    /// Wall-clock time.
    pub elapsed_ms: f64,
}

/// What varies between the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum FedAvgExperiment {
    /// The noise; what the final model shows beside all updates.
    FinalVsAll,
    /// How often canaries take part.
    Presentations,
    /// The number of trainings, one or ten, that share the same number of canaries.
    OneOrTenRuns,
    /// The noise; accuracy with and without canaries.
    Utility,
    /// The noise; whether scores of canaries are normal.
    Gaussianity,
}

impl FedAvgExperiment {
    /// Name of the command that repeats it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::FinalVsAll => "fedavg-final-vs-all",
            Self::Presentations => "fedavg-presentations",
            Self::OneOrTenRuns => "fedavg-one-or-ten-runs",
            Self::Utility => "fedavg-utility",
            Self::Gaussianity => "fedavg-gaussianity",
        }
    }
}

/// A setting.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FedAvgRow {
    /// What distinguishes it, for example "σ = 0.3".
    pub setting: String,
    /// Noise multiplier.
    pub noise_multiplier: f64,
    /// Trainings whose canaries are audited together.
    pub trainings_per_audit: u32,
    /// Expected canaries of an audit.
    pub canaries: f64,
    /// What is proven for an attacker who sees every update; none without noise.
    pub accounted: Option<FederatedAccounted>,
    /// Attacks, each on the same trainings.
    pub attacks: Vec<FedAvgAttackMean>,
    /// Accuracy on held-out data with canaries; none without such data.
    pub accuracy: Option<FederatedAccuracy>,
    /// Accuracy of trainings without canaries.
    pub accuracy_without_canaries: Option<FederatedAccuracy>,
}

/// An attack, over the audits of a setting.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FedAvgAttackMean {
    /// What the attacker sees.
    pub attacker: OneShotAttacker,
    /// Lower bound on ε for any training algorithm: mean of the audits. Each has its confidence; the
    /// mean has none.
    pub bound: MeanEstimate,
    /// Estimate of ε by the mean score: mean of the audits; none for a largest cosine.
    pub estimate: Option<MeanEstimate>,
    /// 90 % of the estimates of an audit without any leak.
    pub null_range: Option<[f64; 2]>,
    /// Whether the scores of an audit are normal; none for a largest cosine.
    pub normality: Option<NormalityRecord>,
}

/// Tests of Anderson and Darling, one per audit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NormalityRecord {
    /// Mean of A²* = A²(1 + 0.75/n + 2.25/n²), with fitted mean and standard deviation.
    pub statistic: f64,
    /// Audits.
    pub audits: u32,
    /// Audits with p < 0.15, as in the paper.
    pub rejected: u32,
    /// The chance of as many or more, if scores are normal.
    pub p_value: f64,
}

/// Two means.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MeanDifference {
    /// The setting, for example "σ = 0.3".
    pub setting: String,
    /// The quantity and the first of two, for example "bound of known rounds".
    pub first: String,
    /// The second of two.
    pub second: String,
    /// First less second.
    pub difference: MeanEstimate,
    /// Whether it exceeds three standard errors, of at least [`Self::LEAST_RUNS`] values each.
    pub is_beyond_errors: bool,
    /// Number of values of each mean; fewer than [`Self::LEAST_RUNS`] support no judgement.
    pub runs: u32,
}

impl MeanDifference {
    /// Standard errors beyond which means differ.
    pub const ERRORS: f64 = 3.0;
    /// With fewer values, standard errors say little.
    pub const LEAST_RUNS: u32 = 5;

    /// A difference of two quantities after so many runs.
    #[must_use]
    pub fn new(
        (setting, runs): (&str, u32),
        first: &str,
        second: &str,
        difference: MeanEstimate,
    ) -> Self {
        let MeanEstimate { value, standard_error } = difference;
        Self {
            setting: setting.to_owned(),
            first: first.to_owned(),
            second: second.to_owned(),
            difference,
            is_beyond_errors: runs >= Self::LEAST_RUNS
                && value.abs() > Self::ERRORS * standard_error,
            runs,
        }
    }
}

/// A row of a published table.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PublishedFedAvgRow {
    /// Data and model.
    pub data: &'static str,
    /// Noise multiplier.
    pub noise_multiplier: f64,
    /// Analytic ε; none without noise.
    pub analytic: Option<f64>,
    /// Estimate from all updates.
    pub estimate_all: f64,
    /// Estimate from the final model.
    pub estimate_final: f64,
    /// Stated lower bound from all updates.
    pub lower_all: f64,
    /// Stated lower bound from the final model.
    pub lower_final: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_need_three_standard_errors() {
        let of = |value, standard_error| {
            let difference = MeanEstimate { value, standard_error };
            MeanDifference::new(("", 5), "", "", difference).is_beyond_errors
        };
        let difference = MeanEstimate { value: 9.0, standard_error: 0.1 };
        assert!(!MeanDifference::new(("", 4), "", "", difference).is_beyond_errors);
        assert!(of(3.1, 1.0) && of(-3.1, 1.0) && of(1.0, 0.0));
        assert!(!of(2.9, 1.0) && !of(0.0, 0.0) && !of(f64::NAN, 1.0));
    }
}
