//! Reads fields of a report, and compares others with what follows from them.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::open::{OpenValue, OpenValues};
use super::result::{Difference, Recomputation, RecomputeError};
use crate::answer::Answer;
use crate::record::{ClaimRecord, LimitRecord};

/// A report on the way to its recomputation.
#[derive(Debug)]
pub struct Checker<'a> {
    report: &'a Value,
    checked: BTreeSet<String>,
    used: BTreeSet<String>,
    differences: Vec<Difference>,
    not_compared: Vec<OpenValue>,
    expected: BTreeMap<String, Value>,
}

impl<'a> Checker<'a> {
    pub(crate) fn new(report: &'a Value) -> Self {
        Checker {
            report,
            checked: BTreeSet::new(),
            used: BTreeSet::new(),
            differences: Vec::new(),
            not_compared: Vec::new(),
            expected: BTreeMap::new(),
        }
    }

    /// A field that other values follow from: an edit of it makes them differ.
    pub(crate) fn read<T: DeserializeOwned>(
        &mut self,
        pointer: &str,
        expected: &'static str,
    ) -> Result<T, RecomputeError> {
        let found = self.parsed(pointer, expected)?;
        self.used.insert(pointer.to_owned());
        Ok(found)
    }

    /// A record of which other values need a part.
    pub(crate) fn parsed<T: DeserializeOwned>(
        &self,
        pointer: &str,
        expected: &'static str,
    ) -> Result<T, RecomputeError> {
        let field = || RecomputeError::Field { pointer: pointer.to_owned(), expected };
        let value = self.report.pointer(pointer).ok_or_else(field)?;
        serde_json::from_value(value.clone()).map_err(|_| field())
    }

    /// A number that only a comparison needs, which an edit can leave as it was.
    pub(crate) fn compared(&self, pointer: &str) -> Option<f64> {
        self.report.pointer(pointer).and_then(Value::as_f64)
    }

    pub(crate) fn number(&mut self, pointer: &str) -> Result<f64, RecomputeError> {
        self.read(pointer, "a number")
    }

    pub(crate) fn count(&mut self, pointer: &str) -> Result<u64, RecomputeError> {
        self.read(pointer, "a count")
    }

    /// A field that may be absent or null.
    pub(crate) fn optional<T: DeserializeOwned>(&mut self, pointer: &str) -> Option<T> {
        if !self.has(pointer) {
            return None;
        }
        self.read(pointer, "").ok()
    }

    /// A record that may be absent or null, and that need not affect other values.
    pub(crate) fn known<T: DeserializeOwned>(
        &self,
        pointer: &str,
        expected: &'static str,
    ) -> Result<Option<T>, RecomputeError> {
        self.has(pointer).then(|| self.parsed(pointer, expected)).transpose()
    }

    /// Inputs of checked values: an edit of them makes these differ.
    pub(crate) fn uses(&mut self, pointers: &[&str]) {
        self.used.extend(pointers.iter().map(ToString::to_string));
    }

    /// Whether a field has a value.
    pub(crate) fn has(&self, pointer: &str) -> bool {
        self.report.pointer(pointer).is_some_and(|value| !value.is_null())
    }

    /// The number of items of an array.
    pub(crate) fn len(&self, pointer: &str) -> usize {
        self.report.pointer(pointer).and_then(Value::as_array).map_or(0, Vec::len)
    }

    /// One field of each item of an array.
    pub(crate) fn items(&self, pointer: &str, field: &str) -> Vec<Value> {
        let items = self.report.pointer(pointer).and_then(Value::as_array);
        items.into_iter().flatten().map(|item| item[field].clone()).collect()
    }

    /// Whether a field is this text.
    pub(crate) fn is(&self, pointer: &str, text: &str) -> bool {
        self.report.pointer(pointer).and_then(Value::as_str) == Some(text)
    }

    /// A text as it should be, or as it is where it does not follow.
    pub(crate) fn text(&self, pointer: &str) -> Option<&str> {
        self.expected.get(pointer).or_else(|| self.report.pointer(pointer))?.as_str()
    }

    /// Compares a field with what follows from others.
    pub(crate) fn expect(&mut self, pointer: &str, expected: impl Serialize) {
        let expected = serde_json::to_value(expected).unwrap_or(Value::Null);
        let stated = self.report.pointer(pointer).cloned().unwrap_or(Value::Null);
        self.checked.insert(pointer.to_owned());
        self.expected.insert(pointer.to_owned(), expected.clone());
        if !is_equal(&stated, &expected) {
            self.differences.push(Difference { pointer: pointer.to_owned(), stated, expected });
        }
    }

    /// A difference that is no single value.
    pub(crate) fn differ(
        &mut self,
        pointer: &str,
        stated: impl Serialize,
        expected: impl Serialize,
    ) {
        let [stated, expected] = [serde_json::to_value(stated), serde_json::to_value(expected)]
            .map(Result::unwrap_or_default);
        self.differences.push(Difference { pointer: pointer.to_owned(), stated, expected });
    }

    /// Compares each field of a record with that of the report.
    pub(crate) fn expect_all(&mut self, pointer: &str, expected: impl Serialize) {
        match serde_json::to_value(expected).unwrap_or(Value::Null) {
            Value::Object(fields) => {
                fields.into_iter().for_each(|(name, value)| {
                    self.expect_all(&format!("{pointer}/{name}"), value);
                });
            }
            Value::Array(items) if items.len() == self.len(pointer) => {
                items.into_iter().enumerate().for_each(|(index, value)| {
                    self.expect_all(&format!("{pointer}/{index}"), value);
                });
            }
            value => self.expect(pointer, value),
        }
    }

    /// Compares the verdicts on a claim and on a limit, and what they say.
    pub(crate) fn expect_tests(
        &mut self,
        claim: Option<ClaimRecord>,
        limit: Option<LimitRecord>,
        delta: f64,
    ) {
        if let Some(claim) = claim {
            self.expect_all("/claim/verdict", claim.verdict);
            self.expect("/claim/says", claim.says);
            self.expect("/claim/note", claim.note);
            self.expect("/claim/delta", delta);
        }
        if let Some(limit) = limit {
            self.expect_all("/fail_above/verdict", limit.verdict);
        }
    }

    /// Compares the answer, where there is one, with that of the rest of the report.
    pub(crate) fn expect_answer(&mut self, of_rest: impl FnOnce(Value) -> Option<Answer>) {
        let mut rest = self.report.clone();
        let stated = rest.as_object_mut().and_then(|fields| fields.remove("answer"));
        let Some((stated, answer)) = stated.and_then(|stated| Some((stated, of_rest(rest)?)))
        else {
            return;
        };
        self.uses(&["/answer"]);
        if serde_json::to_value(&answer).is_ok_and(|answer| answer == stated) {
            self.checked.insert("/answer".to_owned()); // one value, whatever its parts are
        } else {
            self.expect_all("/answer", answer);
        }
    }

    /// A value that decides, and that the report does not suffice to compute again.
    pub(crate) fn leave(&mut self, pointer: &str, reason: &'static str) {
        self.not_compared.push(OpenValue { pointer: pointer.to_owned(), reason });
    }

    /// What was compared and what was not; `kind` says why values of this kind of report are open.
    pub(crate) fn finish(self, schema: &str, kind: &OpenValues) -> Recomputation {
        let open = kind.of(self.report, |pointer| {
            pointer == "/schema"
                || self.checked.contains(pointer)
                || self.used.iter().any(|used| {
                    pointer
                        .strip_prefix(used.as_str())
                        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
                })
        });
        Recomputation {
            document: schema.to_owned(),
            checked: self.checked.into_iter().collect(),
            used: self.used.into_iter().collect(),
            differences: self.differences,
            not_compared: self.not_compared,
            open,
        }
    }
}

/// Numbers are equal as numbers: 1 is 1.0.
fn is_equal(stated: &Value, expected: &Value) -> bool {
    match (stated.as_f64(), expected.as_f64()) {
        (Some(stated), Some(expected)) => stated == expected,
        _ => stated == expected,
    }
}
