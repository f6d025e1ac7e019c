//! What differs between settings or attacks, with errors.

use dpscope_core::format::rounded;
use serde::Deserialize;
use serde_json::{Value, json};

use super::audits::Audits;
use crate::commands::reproduce::mean::MeanEstimate;

/// Two values whose means are compared, for example "bound of known rounds".
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Difference {
    first: String,
    /// The value by its name in rows.
    value: String,
    /// What it is compared with, in words; none for the setting before.
    second: Option<String>,
    /// The value that it is compared with; none for its own in the setting before.
    other: Option<String>,
    /// Whether values of one training are compared.
    #[serde(default)]
    is_paired: bool,
    #[serde(default = "one")]
    unit: f64,
}

const fn one() -> f64 {
    1.0
}

/// A difference in a sentence and in a row.
pub(super) struct FoundDifference {
    pub(super) sentence: String,
    pub(super) row: Value,
}

impl Difference {
    /// The first less the second in every setting, after so many audits.
    pub(super) fn between(&self, settings: &[Audits<'_>], runs: u64) -> Vec<FoundDifference> {
        let found = |one: &Audits<'_>, other: &Audits<'_>| {
            let second = match &self.second {
                Some(second) => second.clone(),
                None => format!("with {}", other.setting.name),
            };
            let values = |of: &Audits<'_>, name| -> Vec<f64> {
                of.values(name).iter().map(|value| self.unit * value).collect()
            };
            let more = values(one, &self.value);
            let fewer = values(other, self.other.as_ref().unwrap_or(&self.value));
            let change = match self.is_paired {
                true => {
                    let changes: Vec<f64> = more.iter().zip(&fewer).map(|(a, b)| a - b).collect();
                    MeanEstimate::of(&changes)
                }
                false => MeanEstimate::of(&more).less(MeanEstimate::of(&fewer)),
            };
            let setting = &one.setting.name;
            FoundDifference {
                sentence: sentence([setting, &self.first, &second], change, runs),
                row: json!({
                    "setting": setting, "first": self.first, "second": second, "runs": runs,
                    "difference": change, "is_beyond_errors": is_beyond_errors(change, runs),
                }),
            }
        };
        match self.other {
            Some(_) => settings.iter().map(|one| found(one, one)).collect(),
            None => settings.windows(2).map(|pair| found(&pair[1], &pair[0])).collect(),
        }
    }
}

/// Whether a difference exceeds three standard errors, of enough values.
fn is_beyond_errors(MeanEstimate { value, standard_error }: MeanEstimate, runs: u64) -> bool {
    runs >= MeanEstimate::LEAST_RUNS && value.abs() > MeanEstimate::ERRORS * standard_error
}

/// The setting and the difference as a sentence.
fn sentence([setting, first, second]: [&str; 3], change: MeanEstimate, runs: u64) -> String {
    let size = rounded(change.value.abs(), 2);
    let error = rounded(change.standard_error, 2);
    let is_negative = change.value < 0.0;
    let direction = if is_negative { "less" } else { "more" };
    let sign = if is_negative && size != rounded(0.0, 2) { "-" } else { "" };
    let least = MeanEstimate::LEAST_RUNS;
    let found = if runs < least {
        format!(
            "{runs} audits are too few for a comparison with that {second} ({sign}{size} ± \
             {error}); run at least {least}"
        )
    } else if is_beyond_errors(change, runs) {
        format!("{size} ± {error} {direction} than that {second}")
    } else {
        format!("no difference from that {second} beyond errors ({sign}{size} ± {error})")
    };
    format!("{setting}: {first}: {found}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_need_three_standard_errors() {
        let is_beyond = |value, standard_error, runs| {
            is_beyond_errors(MeanEstimate { value, standard_error }, runs)
        };
        assert!(!is_beyond(9.0, 0.1, 4));
        assert!(is_beyond(3.1, 1.0, 5) && is_beyond(-3.1, 1.0, 5) && is_beyond(1.0, 0.0, 5));
        assert!(!is_beyond(2.9, 1.0, 5) && !is_beyond(0.0, 0.0, 5) && !is_beyond(f64::NAN, 1.0, 5));
    }

    #[test]
    fn differences_within_errors_are_no_claims() {
        let sentence = |value, runs| {
            let change = MeanEstimate { value, standard_error: 0.5 };
            sentence(["σ = 1", "bound", "of others"], change, runs)
        };
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
