//! Values of a report that do not follow from others in it, and why.

use serde::Serialize;
use serde_json::Value;

/// A value that was not computed again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OpenValue {
    /// Its JSON pointer, or a part of a page, as `page:figure`.
    pub pointer: String,
    /// Why it does not follow from the report.
    pub reason: &'static str,
}

const MEASURED: &str = "a measurement of time, speed or device";
const SCORES: &str = "it needs the scores, of which the report has counts at one cut alone";
const CANARY_SCORES: &str = "it needs the scores of the canaries, which are not in the report";
const NULL: &str = "it needs the null scores, the server rounds or the number of scores, which are not in the report";
const RUNS: &str = "it needs the outputs of the runs, which are not in the report";
const INPUT: &str = "an input, whose edit can leave every value as it was";
const DRAWN: &str = "it was drawn; run the command of the report";
const SETTING: &str = "a setting or a digest of what was run, on which no value here depends";
const ACCOUNTED: &str = "the accountant is not run again; run the command of the report";
const TRAINED: &str = "it is a fact about the trainings, which are not in the report";
const FOUND: &str = "it needs the data in which it was found";
const CLAIMED: &str = "an input: only the verdict on it follows from the report";
const UNTESTED: &str = "it needs the counts of each run, of which the report has the bounds";
const CHOSEN: &str = "an input on which the bound depends: the report does not show that it was fixed before \
                      the evaluated data were known";
const NOT_FOUND: &str = "that nothing else was found needs the data";
pub(super) const NO_COUNTS: &str = "the bound of the headline: the report has no counts";
pub(super) const TEXT: &str =
    "a sentence that is not written again: it can say something else than the values";
const NAME: &str = "a name, a setting or a digest, as the program stated it";
pub(super) const SEVERAL: &str =
    "it needs the counts of each run or step, of which the report has those that decide";
const MANY_HITS: &str =
    "it needs the hits below a cut, which are not in the report or are too many to recompute it";
const REGION: &str =
    "it follows from how several attacks share the significance, which is not in the report";

/// By schema and start of the pointer; the first that matches counts.
const REASONS: &[(&str, &str, &str)] = &[
    ("", "/elapsed_ms", MEASURED),
    ("", "/normals_per_second", MEASURED),
    ("", "/fallback_shards", MEASURED),
    ("", "/resumed_from", MEASURED),
    ("", "/findings", FOUND),
    ("", "/checks", FOUND),
    ("", "/input", SETTING),
    ("", "/claim/verdict", UNTESTED),
    ("", "/claim", CLAIMED),
    ("", "/claimed_epsilon", CLAIMED),
    ("", "/fail_above", CLAIMED),
    ("dpscope.report/2", "/result/cuts", CHOSEN),
    ("dpscope.report/2", "/result/threshold_rule", CHOSEN),
    ("dpscope.report/2", "/result/expected_rates", CHOSEN),
    ("dpscope.report/2", "/result/ceiling", REGION),
    ("dpscope.report/2", "/plan", SETTING),
    ("dpscope.report/2", "/mechanism", SETTING),
    ("dpscope.report/2", "/theory", ACCOUNTED),
    ("dpscope.report/2", "/training", TRAINED),
    ("dpscope.report/2", "", SCORES),
    ("dpscope.one_run/1", "/bounds", SEVERAL),
    ("dpscope.one_run/1", "/ranking", SEVERAL),
    ("dpscope.one_run/1", "/runs", SETTING),
    ("dpscope.one_run/1", "/claimed_training/test", UNTESTED),
    ("dpscope.one_run/1", "/claimed_training", CLAIMED),
    ("dpscope.one_run/1", "/training", TRAINED),
    ("dpscope.one_run/1", "", CANARY_SCORES),
    ("dpscope.one_shot/1", "/design", SETTING),
    ("dpscope.one_shot/1", "/null_significance", INPUT),
    ("dpscope.one_shot/1", "/delta", INPUT),
    ("dpscope.one_shot/1", "/training", TRAINED),
    ("dpscope.one_shot/1", "/simulation", SEVERAL),
    ("dpscope.one_shot/1", "/evidence", INPUT),
    ("dpscope.one_shot/1", "/detectable_epsilon", NULL),
    ("dpscope.one_shot/1", "/ceiling", NULL),
    ("dpscope.one_shot/1", "/bounds/gdp_mu", MANY_HITS),
    ("dpscope.one_shot/1", "", CANARY_SCORES),
    ("dpscope.pategan/1", "/delta", INPUT),
    ("dpscope.pategan/1", "/settings", SETTING),
    ("dpscope.pategan/1", "/data", SETTING),
    ("dpscope.pategan/1", "/accounted_epsilon", ACCOUNTED),
    ("dpscope.pategan/1", "/moments_epsilon", ACCOUNTED),
    ("dpscope.pategan/1", "", RUNS),
    ("dpscope.generator/1", "/delta", INPUT),
    ("dpscope.generator/1", "", RUNS),
    ("dpscope.check/1", "", INPUT),
    ("dpscope.comparison/1", "/rows", DRAWN),
    ("dpscope.comparison/1", "", INPUT),
    ("", "", SETTING),
];

/// Fields whose text is for people.
const TEXTS: [&str; 8] =
    ["says", "sentence", "note", "headline", "remedy", "reason", "prior", "next"];

/// The values that are neither computed again nor the basis of what is.
pub(super) fn open_values(
    report: &Value,
    schema: &str,
    is_known: impl Fn(&str) -> bool,
) -> Vec<OpenValue> {
    let mut open = Vec::new();
    let mut pending = vec![(String::new(), report)];
    while let Some((pointer, value)) = pending.pop() {
        match value {
            Value::Number(_) | Value::String(_) | Value::Bool(_) if !is_known(&pointer) => {
                let reason = match value {
                    Value::Number(_) => reason(schema, &pointer),
                    _ => reason_of_text(schema, &pointer),
                };
                open.push(OpenValue { pointer, reason });
            }
            Value::Array(items) => {
                let items = items.iter().enumerate();
                pending.extend(items.map(|(index, item)| (format!("{pointer}/{index}"), item)));
            }
            Value::Object(fields) => {
                pending
                    .extend(fields.iter().map(|(name, item)| (format!("{pointer}/{name}"), item)));
            }
            _ => {}
        }
    }
    let found = match schema {
        "dpscope.report/2" | "dpscope.one_run/1" | "dpscope.one_shot/1" | "dpscope.generator/1" => {
            Some("/findings")
        }
        "dpscope.pategan/1" => Some("/checks"),
        _ => None,
    };
    open.extend(found.map(|list| OpenValue { pointer: list.to_owned(), reason: NOT_FOUND }));
    open.sort_by(|one, other| one.pointer.cmp(&other.pointer));
    open
}

fn reason(schema: &str, pointer: &str) -> &'static str {
    let fits = |&&(of, start, _): &&(&str, &str, &str)| {
        (of.is_empty() || of == schema) && pointer.starts_with(start)
    };
    REASONS.iter().find(fits).map_or(SETTING, |&(.., reason)| reason)
}

/// Why a text, a name or a flag is open.
fn reason_of_text(schema: &str, pointer: &str) -> &'static str {
    let is_numbers =
        [FOUND, UNTESTED, TRAINED, CHOSEN].into_iter().find(|it| *it == reason(schema, pointer));
    let mut fields = pointer.rsplit('/').filter(|field| field.parse::<usize>().is_err());
    let is_text = fields.next().is_some_and(|field| TEXTS.contains(&field));
    match is_numbers {
        Some(reason) => reason,
        None if is_text => TEXT,
        None => NAME,
    }
}
