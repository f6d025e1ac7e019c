//! What differs between settings or attacks, with errors.

use dpscope_core::format::rounded;
use dpscope_train::federated::FederatedAttack::{FinalModel, KnownRounds, LargestUpdate};
use serde_json::{Value, json};

use super::audits::Audits;
use crate::commands::reproduce::args::Reproduction;
use crate::commands::reproduce::mean::MeanEstimate;

/// Two means.
pub(super) struct MeanDifference {
    setting: String,
    /// The quantity and the first of two, for example "bound of known rounds".
    first: &'static str,
    second: String,
    /// First less second.
    difference: MeanEstimate,
    /// Number of values of each mean; fewer than [`MeanEstimate::LEAST_RUNS`] support no judgement.
    runs: u32,
}

impl MeanDifference {
    fn has_few_runs(&self) -> bool {
        u64::from(self.runs) < MeanEstimate::LEAST_RUNS
    }

    /// Whether it exceeds three standard errors, of enough values.
    fn is_beyond_errors(&self) -> bool {
        let MeanEstimate { value, standard_error } = self.difference;
        !self.has_few_runs() && value.abs() > MeanEstimate::ERRORS * standard_error
    }

    /// The setting and the difference as a sentence.
    pub(super) fn sentence(&self) -> String {
        let Self { setting, first, second, difference, runs } = self;
        let change = rounded(difference.value.abs(), 2);
        let error = rounded(difference.standard_error, 2);
        let direction = if difference.value < 0.0 { "less" } else { "more" };
        let is_negative = difference.value < 0.0 && change != rounded(0.0, 2);
        let sign = if is_negative { "-" } else { "" };
        let found = if self.has_few_runs() {
            format!(
                "{runs} audits are too few for a comparison with that {second} ({sign}{change} ± \
                 {error}); run at least {}",
                MeanEstimate::LEAST_RUNS
            )
        } else if self.is_beyond_errors() {
            format!("{change} ± {error} {direction} than that {second}")
        } else {
            format!("no difference from that {second} beyond errors ({sign}{change} ± {error})")
        };
        format!("{setting}: {first}: {found}")
    }

    pub(super) fn row(&self) -> Value {
        json!({
            "setting": self.setting, "first": self.first, "second": self.second, "runs": self.runs,
            "difference": self.difference, "is_beyond_errors": self.is_beyond_errors(),
        })
    }
}

/// The comparisons of an experiment.
pub(super) fn differences(what: Reproduction, settings: &[Audits<'_>]) -> Vec<MeanDifference> {
    let difference = |one: &Audits<'_>, first, second: String, difference| MeanDifference {
        setting: one.setting.name.clone(),
        first,
        second,
        difference,
        runs: one.experiment.runs,
    };
    let less =
        |more: Vec<f64>, fewer: Vec<f64>| MeanEstimate::of(&more).less(MeanEstimate::of(&fewer));
    match what {
        Reproduction::FedAvgFinalVsAll => {
            // two attacks on the same trainings
            let paired = |one, first, second: &str, [more, fewer]: [Vec<f64>; 2]| {
                let changes: Vec<f64> = more.iter().zip(&fewer).map(|(a, b)| a - b).collect();
                difference(one, first, second.to_owned(), MeanEstimate::of(&changes))
            };
            let known = settings.iter().map(|one| {
                let pair = [one.bounds(KnownRounds), one.bounds(LargestUpdate)];
                paired(one, "bound of known rounds", "of the largest update", pair)
            });
            let largest = settings.iter().map(|one| {
                let pair = [one.bounds(LargestUpdate), one.bounds(FinalModel)];
                paired(one, "bound of the largest update", "of the final model", pair)
            });
            known.chain(largest).collect()
        }
        Reproduction::FedAvgPresentations => {
            let compared = settings.windows(2).map(|pair| {
                let change = less(pair[1].estimates(FinalModel), pair[0].estimates(FinalModel));
                let second = format!("with {}", pair[0].setting.name);
                difference(&pair[1], "estimate from the final model", second, change)
            });
            compared.collect()
        }
        Reproduction::FedAvgOneOrTenRuns => {
            let [one, ten] = settings else { return Vec::new() };
            let second = format!("with {}", one.setting.name);
            let bounds = less(ten.bounds(FinalModel), one.bounds(FinalModel));
            let estimates = less(ten.estimates(FinalModel), one.estimates(FinalModel));
            vec![
                difference(ten, "bound of the final model", second.clone(), bounds),
                difference(ten, "estimate from the final model", second, estimates),
            ]
        }
        Reproduction::FedAvgUtility => {
            let compared = settings.iter().map(|one| {
                let percent = |has_canaries| {
                    one.accuracies(has_canaries).iter().map(|share| 100.0 * share).collect()
                };
                let first = "accuracy in % with canaries";
                let second = "without canaries".to_owned();
                difference(one, first, second, less(percent(true), percent(false)))
            });
            compared.collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(value: f64, standard_error: f64, runs: u32) -> MeanDifference {
        let difference = MeanEstimate { value, standard_error };
        let (setting, second) = ("σ = 1".to_owned(), "of others".to_owned());
        MeanDifference { setting, first: "bound", second, difference, runs }
    }

    #[test]
    fn differences_need_three_standard_errors() {
        let is_beyond = |value, standard_error| of(value, standard_error, 5).is_beyond_errors();
        assert!(!of(9.0, 0.1, 4).is_beyond_errors());
        assert!(is_beyond(3.1, 1.0) && is_beyond(-3.1, 1.0) && is_beyond(1.0, 0.0));
        assert!(!is_beyond(2.9, 1.0) && !is_beyond(0.0, 0.0) && !is_beyond(f64::NAN, 1.0));
    }

    #[test]
    fn differences_within_errors_are_no_claims() {
        let sentence = |value, runs| of(value, 0.5, runs).sentence();
        assert_eq!(sentence(-2.0, 6), "σ = 1: bound: 2.00 ± 0.50 less than that of others");
        let none = "σ = 1: bound: no difference from that of others beyond errors";
        assert_eq!(sentence(-1.0, 6), format!("{none} (-1.00 ± 0.50)"));
        assert_eq!(sentence(-0.001, 6), format!("{none} (0.00 ± 0.50)"));
        // with fewer audits, standard errors say little
        assert_eq!(
            sentence(2.0, 4),
            "σ = 1: bound: 4 audits are too few for a comparison with that of others (2.00 ± 0.50); \
             run at least 5"
        );
    }
}
