//! What a comparison of sets of canaries shows.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::commands::reproduce::data;
use crate::commands::reproduce::mean::MeanEstimate;
use crate::failure::Failure;

/// What is compared between sets of canaries.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Measure {
    id: String,
    /// The value by its name in rows.
    value: String,
    /// Label of its sentence.
    label: String,
    /// What the value is, in words.
    quantity: String,
}

pub(super) fn measures() -> Result<Vec<Measure>, Failure> {
    data::list(include_str!("../../../../papers/metagradient_canaries/measures.toml"))
}

/// Optimised canaries against the three other kinds: a row of each measure and kind.
pub(super) fn comparisons(measures: &[Measure], sets: &[Value], runs: u64) -> Vec<Value> {
    let is_other = |set: &&Value| set["set"] != "optimised" && set["set"] != "optimised-rounded";
    let compared = |measure: &Measure, other: &Value| {
        let mean = |set: &Value| MeanEstimate::deserialize(&set[&measure.value]).ok();
        let optimised = mean(sets.iter().find(|set| set["set"] == "optimised")?)?;
        let of_other = mean(other)?;
        let MeanEstimate { value, standard_error } = optimised.less(of_other);
        Some(json!({
            "measure": measure.id, "other": other["set"], "other_text": other["set_text"],
            "change": value, "standard_error": standard_error,
            "is_larger": is_larger(runs, optimised, of_other),
        }))
    };
    let of_measure =
        |measure| sets.iter().filter(is_other).filter_map(move |other| compared(measure, other));
    measures.iter().flat_map(of_measure).collect()
}

/// Whether one mean is larger than another; none where the ranges of [`MeanEstimate::ERRORS`] standard
/// errors overlap, or after few repeats.
fn is_larger(runs: u64, one: MeanEstimate, other: MeanEstimate) -> Option<bool> {
    let change = one.value - other.value;
    let errors = MeanEstimate::ERRORS * (one.standard_error + other.standard_error);
    (runs >= MeanEstimate::LEAST_RUNS && change.abs() > errors).then_some(change > 0.0)
}

/// The label and the sentence of each measure.
pub(super) fn sentences(
    measures: &[Measure],
    comparisons: &[Value],
    runs: u64,
) -> Vec<(String, String)> {
    let least = MeanEstimate::LEAST_RUNS;
    if runs < least {
        let words = format!("kinds of canaries are compared from {least} repeats on (--runs)");
        return vec![("no result".to_owned(), words)];
    }
    measures.iter().map(|measure| sentence(measure, comparisons)).collect()
}

fn sentence(measure: &Measure, comparisons: &[Value]) -> (String, String) {
    let with = |is_larger: Option<bool>| {
        let is_it =
            |one: &&Value| one["measure"] == *measure.id && one["is_larger"].as_bool() == is_larger;
        let names = comparisons.iter().filter(is_it).filter_map(|one| one["other_text"].as_str());
        names.collect::<Vec<_>>().join(", ")
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
    let sentence = format!("{} of optimised canaries {}", measure.quantity, said.join("; it "));
    (measure.label.clone(), sentence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_errors_are_no_difference() {
        let mean = |value, standard_error| MeanEstimate { value, standard_error };
        let found = |one, other| is_larger(10, one, other);
        // 3.5 standard errors of the difference, which a rule of two or three would accept
        assert_eq!(found(mean(0.5, 0.03), mean(0.35, 0.03)), None);
        assert_eq!(found(mean(0.5, 0.03), mean(0.31, 0.03)), Some(true));
        assert_eq!(found(mean(0.31, 0.03), mean(0.5, 0.03)), Some(false));
        assert_eq!(found(mean(0.5, 0.0), mean(0.5, 0.0)), None);
        // a standard error of two equal values
        assert_eq!(is_larger(2, mean(0.5, 0.0), mean(0.4, 0.0)), None);
    }

    #[test]
    fn sentences_name_every_kind_once() {
        let measures = measures().unwrap();
        let set = |(id, name, value): (&str, &str, f64)| {
            let mean = MeanEstimate { value, standard_error: 0.04 };
            json!({ "set": id, "set_text": name, "sgd_calibrated": mean })
        };
        let sets = [
            ("random", "random", 0.2),
            ("mislabelled", "mislabelled", 0.5),
            ("direct-only", "direct part only", 0.9),
            ("optimised", "optimised", 0.5),
        ];
        let all = comparisons(&measures[..1], &sets.map(set), 10);
        let (label, text) = sentence(&measures[0], &all);
        assert_eq!(
            format!("{label}: {text}"),
            "SGD: the calibrated AUC of optimised canaries is larger than that of random; it is \
             smaller than that of direct part only; it does not differ beyond the errors from that \
             of mislabelled"
        );
        let few = sentences(&measures, &all, 4);
        assert!(few.len() == 1 && few[0].1.contains("from 5 repeats on"), "{few:?}");
    }
}
