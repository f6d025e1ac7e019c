//! What a comparison of kinds of canaries shows.

use serde::Serialize;
use serde_json::{Value, json};

use super::set_result::CanarySetResult;
use super::sets::CanarySetKind;
use crate::commands::reproduce::mean::MeanEstimate;

/// What is compared between kinds of canaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum CanaryMeasure {
    /// Calibrated AUC after SGD.
    SgdCalibratedAuc,
    /// Estimate by the published rule after DP-SGD, by the loss.
    DpsgdEstimate,
    /// Estimate by the published rule after DP-SGD, by calibrated scores.
    DpsgdCalibratedEstimate,
}

impl CanaryMeasure {
    const ALL: [Self; 3] =
        [Self::SgdCalibratedAuc, Self::DpsgdEstimate, Self::DpsgdCalibratedEstimate];

    fn of(self, set: &CanarySetResult) -> MeanEstimate {
        match self {
            Self::SgdCalibratedAuc => set.sgd_calibrated,
            Self::DpsgdEstimate => set.dpsgd_raw.estimate,
            Self::DpsgdCalibratedEstimate => set.dpsgd_calibrated.estimate,
        }
    }

    /// Label and quantity of its sentence.
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::SgdCalibratedAuc => ("SGD", "the calibrated AUC"),
            Self::DpsgdEstimate => ("DP-SGD", "the uncorrected estimate of ε"),
            Self::DpsgdCalibratedEstimate => {
                ("DP-SGD", "the uncorrected estimate of ε from calibrated scores")
            }
        }
    }
}

/// Optimised canaries against another kind.
pub(super) struct CanarySetComparison {
    measure: CanaryMeasure,
    other: CanarySetKind,
    /// Optimised less other.
    change: MeanEstimate,
    /// Whether optimised canaries have the larger value; none where the ranges of three standard
    /// errors overlap, or after fewer than five repeats.
    is_larger: Option<bool>,
}

impl CanarySetComparison {
    /// Optimised canaries against others, after so many repeats. A difference counts where the
    /// ranges of [`MeanEstimate::ERRORS`] standard errors on each side do not overlap.
    fn new(
        (measure, runs): (CanaryMeasure, u64),
        (other, of_other): (CanarySetKind, MeanEstimate),
        optimised: MeanEstimate,
    ) -> Self {
        let errors = optimised.standard_error + of_other.standard_error;
        let change = optimised.less(of_other);
        let is_apart =
            runs >= MeanEstimate::LEAST_RUNS && change.value.abs() > MeanEstimate::ERRORS * errors;
        Self { measure, other, change, is_larger: is_apart.then_some(change.value > 0.0) }
    }

    pub(super) fn row(&self) -> Value {
        let MeanEstimate { value, standard_error } = self.change;
        json!({
            "measure": self.measure, "other": self.other, "change": value,
            "standard_error": standard_error, "is_larger": self.is_larger,
        })
    }
}

/// Optimised canaries against the three other kinds.
pub(super) fn comparisons(sets: &[CanarySetResult], runs: u64) -> Vec<CanarySetComparison> {
    let Some(optimised) = sets.iter().find(|one| one.set == CanarySetKind::Optimised) else {
        return Vec::new();
    };
    let is_other = |one: &&CanarySetResult| {
        !matches!(one.set, CanarySetKind::Optimised | CanarySetKind::OptimisedRounded)
    };
    let of_measure = |measure: CanaryMeasure| {
        sets.iter().filter(is_other).map(move |one| {
            let other = (one.set, measure.of(one));
            CanarySetComparison::new((measure, runs), other, measure.of(optimised))
        })
    };
    CanaryMeasure::ALL.into_iter().flat_map(of_measure).collect()
}

/// The label and the sentence of each measure.
pub(super) fn sentences(runs: u64, comparisons: &[CanarySetComparison]) -> Vec<(String, String)> {
    let least = MeanEstimate::LEAST_RUNS;
    if runs < least {
        let words = format!("kinds of canaries are compared from {least} repeats on (--runs)");
        return vec![("no result".to_owned(), words)];
    }
    CanaryMeasure::ALL.into_iter().map(|measure| sentence(measure, comparisons)).collect()
}

fn sentence(measure: CanaryMeasure, comparisons: &[CanarySetComparison]) -> (String, String) {
    let (label, quantity) = measure.words();
    let with = |is_larger: Option<bool>| {
        let those = comparisons
            .iter()
            .filter(move |one| one.measure == measure && one.is_larger == is_larger);
        those.map(|one| one.other.name()).collect::<Vec<_>>().join(", ")
    };
    let parts = [
        (with(Some(true)), "is larger than that of"),
        (with(Some(false)), "is smaller than that of"),
        (with(None), "does not differ beyond the errors from that of"),
    ];
    let said: Vec<String> = parts
        .into_iter()
        .filter(|(kinds, _)| !kinds.is_empty())
        .map(|(kinds, verb)| format!("{verb} {kinds}"))
        .collect();
    (label.to_owned(), format!("{quantity} of optimised canaries {}", said.join("; it ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_errors_are_no_difference() {
        let mean = |value, standard_error| MeanEstimate { value, standard_error };
        let found = |runs, one: MeanEstimate, other: MeanEstimate| {
            let measure = CanaryMeasure::DpsgdEstimate;
            CanarySetComparison::new((measure, runs), (CanarySetKind::Random, other), one).is_larger
        };
        let is_larger = |one, other| found(10, one, other);
        // 3.5 standard errors of the difference, which a rule of two or three would accept
        assert_eq!(is_larger(mean(0.5, 0.03), mean(0.35, 0.03)), None);
        assert_eq!(is_larger(mean(0.5, 0.03), mean(0.31, 0.03)), Some(true));
        assert_eq!(is_larger(mean(0.31, 0.03), mean(0.5, 0.03)), Some(false));
        assert_eq!(is_larger(mean(0.5, 0.0), mean(0.5, 0.0)), None);
        // a standard error of two equal values
        assert_eq!(found(2, mean(0.5, 0.0), mean(0.4, 0.0)), None);
    }

    #[test]
    fn sentences_name_every_kind_once() {
        let estimates = [
            (CanarySetKind::Random, 0.2),
            (CanarySetKind::Mislabelled, 0.5),
            (CanarySetKind::DirectOnly, 0.9),
        ];
        let measure = CanaryMeasure::SgdCalibratedAuc;
        let mean = |value| MeanEstimate { value, standard_error: 0.04 };
        let all = estimates.map(|(kind, value)| {
            CanarySetComparison::new((measure, 10), (kind, mean(value)), mean(0.5))
        });
        let (label, text) = sentence(measure, &all);
        assert_eq!(
            format!("{label}: {text}"),
            "SGD: the calibrated AUC of optimised canaries is larger than that of random; it is \
             smaller than that of direct part only; it does not differ beyond the errors from that \
             of mislabelled"
        );
        let few = sentences(4, &all);
        assert!(few.len() == 1 && few[0].1.contains("from 5 repeats on"), "{few:?}");
    }
}
