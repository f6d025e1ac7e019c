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
pub(crate) const SCORES: &str =
    "it needs the scores, of which the report has counts at one cut alone";
pub(crate) const CANARY_SCORES: &str =
    "it needs the scores of the canaries, which are not in the report";
pub(crate) const ORDERED_RUNS: &str =
    "it needs the scores in the order of the runs, which are not in the report";
pub(crate) const NULL: &str = "it needs the null scores, the server rounds or the number of scores, which are not in the report";
pub(crate) const RUNS: &str = "it needs the outputs of the runs, which are not in the report";
pub(crate) const INPUT: &str = "an input, whose edit can leave every value as it was";
pub(crate) const DRAWN: &str = "it was drawn; run the command of the report";
pub(crate) const SETTING: &str =
    "a setting or a digest of what was run, on which no value here depends";
pub(crate) const ACCOUNTED: &str = "the accountant is not run again; run the command of the report";
pub(crate) const TRAINED: &str = "it is a fact about the trainings, which are not in the report";
const FOUND: &str = "it needs the data in which it was found";
pub(crate) const CLAIMED: &str = "an input: only the verdict on it follows from the report";
pub(crate) const UNTESTED: &str =
    "it needs the counts of each run, of which the report has the bounds";
pub(crate) const CHOSEN: &str = "an input on which the bound depends: the report does not show that it was fixed before \
                      the evaluated data were known";
const NOT_FOUND: &str = "that nothing else was found needs the data";
pub(crate) const NO_COUNTS: &str = "the bound of the headline: the report has no counts";
pub(crate) const TEXT: &str =
    "a sentence that is not written again: it can say something else than the values";
const NAME: &str = "a name, a setting or a digest, as the program stated it";
pub(crate) const SEVERAL: &str =
    "it needs the counts of each run or step, of which the report has those that decide";
pub(crate) const MANY_HITS: &str =
    "it needs the hits below a cut, which are not in the report or are too many to recompute it";
pub(crate) const REGION: &str =
    "it follows from how several attacks share the significance, which is not in the report";

/// Why values of every kind of report are open, by the start of the pointer.
const EVERY_KIND: &[(&str, &str)] = &[
    ("/elapsed_ms", MEASURED),
    ("/normals_per_second", MEASURED),
    ("/fallback_shards", MEASURED),
    ("/resumed_from", MEASURED),
    ("/findings", FOUND),
    ("/checks", FOUND),
    ("/input", SETTING),
    ("/claim/verdict", UNTESTED),
    ("/claim", CLAIMED),
    ("/claimed_epsilon", CLAIMED),
    ("/fail_above", CLAIMED),
];

/// Why values of one kind of report are open.
#[derive(Debug, Clone, Copy)]
pub struct OpenValues {
    /// Reasons by the start of the pointer; the first that matches counts.
    pub(crate) reasons: &'static [(&'static str, &'static str)],
    /// The list of what was found, which may lack something.
    pub(crate) findings: Option<&'static str>,
}

/// Fields whose text is for people.
const TEXTS: [&str; 8] =
    ["says", "sentence", "note", "headline", "remedy", "reason", "prior", "next"];

impl OpenValues {
    /// The values that are neither computed again nor the basis of what is.
    pub(super) fn of(&self, report: &Value, is_known: impl Fn(&str) -> bool) -> Vec<OpenValue> {
        let mut open = Vec::new();
        let mut pending = vec![(String::new(), report)];
        while let Some((pointer, value)) = pending.pop() {
            match value {
                Value::Number(_) | Value::String(_) | Value::Bool(_) if !is_known(&pointer) => {
                    let reason = match value {
                        Value::Number(_) => self.reason(&pointer),
                        _ => self.reason_of_text(&pointer),
                    };
                    open.push(OpenValue { pointer, reason });
                }
                Value::Array(items) => {
                    let items = items.iter().enumerate();
                    pending.extend(items.map(|(index, item)| (format!("{pointer}/{index}"), item)));
                }
                Value::Object(fields) => {
                    let fields = fields.iter();
                    pending.extend(fields.map(|(name, item)| (format!("{pointer}/{name}"), item)));
                }
                _ => {}
            }
        }
        let not_found = |list: &str| OpenValue { pointer: list.to_owned(), reason: NOT_FOUND };
        open.extend(self.findings.map(not_found));
        open.sort_by(|one, other| one.pointer.cmp(&other.pointer));
        open
    }

    fn reason(&self, pointer: &str) -> &'static str {
        let mut reasons = EVERY_KIND.iter().chain(self.reasons);
        let found = reasons.find(|(start, _)| pointer.starts_with(start));
        found.map_or(SETTING, |&(_, reason)| reason)
    }

    /// Why a text, a name or a flag is open.
    fn reason_of_text(&self, pointer: &str) -> &'static str {
        let of_number = self.reason(pointer);
        if [FOUND, UNTESTED, TRAINED, CHOSEN].contains(&of_number) {
            return of_number;
        }
        let mut fields = pointer.rsplit('/').filter(|field| field.parse::<usize>().is_err());
        let is_text = fields.next().is_some_and(|field| TEXTS.contains(&field));
        if is_text { TEXT } else { NAME }
    }
}
