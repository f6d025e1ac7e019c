//! What a comparison of kinds of canaries shows.

use crate::record::{CanaryMeasure, CanarySetComparison, CanarySetKind, MeanEstimate};

impl CanarySetComparison {
    /// Standard errors on each side of a mean. Student's distribution needs 2.8 for 95 % with
    /// [`Self::LEAST_RUNS`] values.
    pub const ERRORS: f64 = 3.0;
    /// With fewer repeats, standard errors say little.
    pub const LEAST_RUNS: u64 = 5;

    /// Optimised canaries against others, after so many repeats. A difference counts where the
    /// ranges of [`Self::ERRORS`] standard errors on each side do not overlap.
    #[must_use]
    pub fn new(
        (measure, runs): (CanaryMeasure, u64),
        (other, of_other): (CanarySetKind, MeanEstimate),
        optimised: MeanEstimate,
    ) -> Self {
        let errors = [optimised.standard_error, of_other.standard_error];
        let change = optimised.value - of_other.value;
        let is_apart =
            runs >= Self::LEAST_RUNS && change.abs() > Self::ERRORS * (errors[0] + errors[1]);
        CanarySetComparison {
            measure,
            other,
            change,
            standard_error: (errors[0] * errors[0] + errors[1] * errors[1]).sqrt(),
            is_larger: is_apart.then_some(change > 0.0),
        }
    }
}

/// The label and the sentence of each measure.
#[must_use]
pub fn canary_comparisons(
    runs: u64,
    comparisons: &[CanarySetComparison],
) -> Vec<(&'static str, String)> {
    let least = CanarySetComparison::LEAST_RUNS;
    if runs < least {
        let words = format!("kinds of canaries are compared from {least} repeats on (--runs)");
        return vec![("no result", words)];
    }
    let measures = [
        CanaryMeasure::SgdCalibratedAuc,
        CanaryMeasure::DpsgdEstimate,
        CanaryMeasure::DpsgdCalibratedEstimate,
    ];
    measures.into_iter().map(|measure| comparison(measure, comparisons)).collect()
}

fn comparison(
    measure: CanaryMeasure,
    comparisons: &[CanarySetComparison],
) -> (&'static str, String) {
    let (label, quantity) = match measure {
        CanaryMeasure::SgdCalibratedAuc => ("SGD", "the calibrated AUC"),
        CanaryMeasure::DpsgdEstimate => ("DP-SGD", "the uncorrected estimate of ε"),
        CanaryMeasure::DpsgdCalibratedEstimate => {
            ("DP-SGD", "the uncorrected estimate of ε from calibrated scores")
        }
    };
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
    (label, format!("{quantity} of optimised canaries {}", said.join("; it ")))
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
        let (label, text) = comparison(measure, &all);
        assert_eq!(
            format!("{label}: {text}"),
            "SGD: the calibrated AUC of optimised canaries is larger than that of random; it is \
             smaller than that of direct part only; it does not differ beyond the errors from that \
             of mislabelled"
        );
        let few = canary_comparisons(4, &all);
        assert!(few.len() == 1 && few[0].1.contains("from 5 repeats on"), "{few:?}");
    }
}
