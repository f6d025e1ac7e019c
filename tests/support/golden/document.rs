//! Parser of golden files; every problem names file, case and field.

use std::fmt;

use serde_json::Value;

use super::{Finding, Outcome};

/// Why a file cannot be evaluated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoldenError {
    file: String,
    case: Option<String>,
    field: Option<String>,
    problem: String,
}

impl GoldenError {
    pub(super) fn of_file(file: &str, problem: &str) -> Self {
        GoldenError { file: file.into(), case: None, field: None, problem: problem.into() }
    }
}

impl fmt::Display for GoldenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.file)?;
        for part in [&self.case, &self.field].into_iter().flatten() {
            write!(f, "{part}: ")?;
        }
        write!(f, "{}", self.problem)
    }
}

impl std::error::Error for GoldenError {}

/// Formats of JSON files that are evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Accounting,
    Estimators,
    OneRun,
    OwnTrainer,
    Metagradient,
    Federated,
    Pate,
    Counts,
}

/// Published values that are known to be wrong, and what is right at 30 digits; how both were found
/// is in `tests/oracles/data/SOURCE.md`.
const CORRECTIONS: [(f64, f64); 3] = [
    (12.196_065_326_153_91, 12.196_063_369_33),
    (7.207_208_943_389_178, 7.207_210_721_303),
    (0.121_915_864_461_755_48, 0.061_461_716_794_769_29),
];

/// A parsed JSON file.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) format: Format,
    file: String,
    cases: Vec<Value>,
    root: Value,
}

/// Parses a JSON file and recognises its format.
pub(super) fn json(text: &str, file: &str) -> Result<Document, GoldenError> {
    let parsed = serde_json::from_str::<Value>(text);
    let parsed = parsed.map_err(|error| GoldenError::of_file(file, &error.to_string()))?;
    let of_file = |problem: String| GoldenError::of_file(file, &problem);
    let (list, is_rows) = match (&parsed["cases"], &parsed["rows"], &parsed) {
        (Value::Array(cases), _, _) | (_, _, Value::Array(cases)) => (cases, false),
        (_, Value::Array(rows), _) => (rows, true),
        _ => return Err(of_file("neither a list of `cases` nor of `rows`".into())),
    };
    let Some(first) = list.first() else { return Err(of_file("no cases".into())) };
    let stem = std::path::Path::new(file).file_stem().and_then(|stem| stem.to_str());
    let format = if is_rows {
        Format::Counts
    } else if first.get("votes_for_1").is_some() {
        Format::Pate
    } else if parsed.get("coverage_exact").is_some() || stem == Some("one_run") {
        Format::OneRun
    } else if parsed.get("finite_differences").is_some() || stem == Some("metagradient") {
        Format::Metagradient
    } else if stem == Some("own_trainer")
        || first["group"].as_str().is_some_and(super::own_trainer::is_group)
    {
        Format::OwnTrainer
    } else if parsed.get("table_2").is_some()
        || stem == Some("federated")
        || first["group"].as_str().is_some_and(super::federated::is_group)
    {
        Format::Federated
    } else if first.get("settings").is_some() {
        Format::Accounting
    } else if first.get("inputs").is_some() {
        Format::Estimators
    } else {
        return Err(of_file("its cases have neither `settings` nor `inputs`".into()));
    };
    Ok(Document { format, file: file.into(), cases: list.clone(), root: parsed.clone() })
}

/// The cases of one group, as a file of the same format.
pub(super) fn only_group(text: &str, file: &str, group: &str) -> Result<String, GoldenError> {
    let mut cases = json(text, file)?.cases;
    cases.retain(|case| case["group"] == group);
    if cases.is_empty() {
        return Err(GoldenError::of_file(file, &format!("has no group `{group}`")));
    }
    Ok(Value::from(cases).to_string())
}

impl Document {
    /// The whole file as one case.
    pub(super) fn whole(&self) -> Case<'_> {
        Case { file: &self.file, id: "file".into(), field: None, value: &self.root }
    }

    /// Evaluates every case, up to the first that is malformed.
    pub(super) fn each_case(
        &self,
        evaluate: impl Fn(&Case<'_>) -> Result<Vec<Finding>, GoldenError>,
    ) -> Result<Vec<Finding>, GoldenError> {
        let mut findings = Vec::new();
        for (index, value) in self.cases.iter().enumerate() {
            let mut case =
                Case { file: &self.file, id: format!("case {}", index + 1), field: None, value };
            if self.format == Format::Counts {
                let input = |name: &str| value.get(name).map(Value::to_string).unwrap_or_default();
                let [n, fp, fn_, alpha] = ["n_per_class", "FP", "FN", "alpha"].map(input);
                case.id = format!("row {}, n={n} FP={fp} FN={fn_} alpha={alpha}", index + 1);
            } else {
                let id = if self.format == Format::Pate { "name" } else { "id" };
                case.id = case.at(id)?.text()?.to_string();
            }
            findings.extend(evaluate(&case)?);
        }
        Ok(findings)
    }
}

/// A case, or one of its fields.
#[derive(Debug, Clone)]
pub(super) struct Case<'a> {
    file: &'a str,
    pub(super) id: String,
    field: Option<String>,
    value: &'a Value,
}

impl<'a> Case<'a> {
    pub(super) fn error(&self, problem: &str) -> GoldenError {
        GoldenError {
            file: self.file.into(),
            case: Some(self.id.clone()),
            field: self.field.clone(),
            problem: problem.into(),
        }
    }

    fn inside(&self, name: &str, value: &'a Value) -> Case<'a> {
        let field = match &self.field {
            Some(outer) => format!("{outer}.{name}"),
            None => name.to_string(),
        };
        Case { file: self.file, id: self.id.clone(), field: Some(field), value }
    }

    /// A field that must be there.
    pub(super) fn at(&self, name: &str) -> Result<Case<'a>, GoldenError> {
        let found = self.find(name);
        found.ok_or_else(|| self.inside(name, &Value::Null).error("is missing"))
    }

    /// A field that may be absent.
    pub(super) fn find(&self, name: &str) -> Option<Case<'a>> {
        self.value.get(name).map(|value| self.inside(name, value))
    }

    /// The entries of an object, in file order.
    pub(super) fn entries(&self) -> Result<Vec<(&'a str, Case<'a>)>, GoldenError> {
        let entries = self.value.as_object().ok_or_else(|| self.wrong("an object"))?;
        Ok(entries.iter().map(|(name, value)| (name.as_str(), self.inside(name, value))).collect())
    }

    /// This part of the file under another id.
    pub(super) fn with_id(self, id: String) -> Case<'a> {
        Case { id, ..self }
    }

    /// This value as a type.
    pub(super) fn parsed<T: serde::de::DeserializeOwned>(&self) -> Result<T, GoldenError> {
        T::deserialize(self.value).map_err(|error| self.error(&error.to_string()))
    }

    /// The elements of a list.
    pub(super) fn list(&self) -> Result<Vec<Case<'a>>, GoldenError> {
        let list = self.value.as_array().ok_or_else(|| self.wrong("a list"))?;
        let places = list.iter().enumerate();
        Ok(places.map(|(index, value)| self.inside(&index.to_string(), value)).collect())
    }

    /// A number; infinities are written as text.
    pub(super) fn number(&self) -> Result<f64, GoldenError> {
        let parsed = self.value.as_f64().or_else(|| self.value.as_str()?.parse().ok());
        let number = parsed.ok_or_else(|| self.wrong("a number"))?;
        if number.is_nan() { Err(self.wrong("a number")) } else { Ok(number) }
    }

    /// A number that is no count is refused.
    pub(super) fn count(&self) -> Result<u64, GoldenError> {
        self.value.as_u64().ok_or_else(|| self.wrong("a whole number"))
    }

    pub(super) fn text(&self) -> Result<&'a str, GoldenError> {
        self.value.as_str().ok_or_else(|| self.wrong("text"))
    }

    /// Both ends of an interval.
    pub(super) fn interval(&self) -> Result<(f64, f64), GoldenError> {
        let list = self.list()?;
        let [low, high] = &list[..] else { return Err(self.wrong("two ends")) };
        let (low, high) = (low.number()?, high.number()?);
        if low <= high { Ok((low, high)) } else { Err(self.wrong("ends in order")) }
    }

    /// True where a peer reports a failure, or nothing, instead of a number.
    pub(super) fn is_no_number(&self) -> bool {
        match self.value {
            Value::Null => true,
            Value::String(text) => !text.parse::<f64>().is_ok_and(|number| !number.is_nan()),
            _ => false,
        }
    }

    pub(super) fn is_object(&self) -> bool {
        self.value.is_object()
    }

    fn wrong(&self, expected: &str) -> GoldenError {
        self.error(&format!("expected {expected}, found {}", self.value))
    }

    /// Name of the value within the case.
    pub(super) fn name(&self) -> String {
        let field = self.field.clone().unwrap_or_default();
        field.strip_prefix("expected.").map_or(field.clone(), str::to_string)
    }

    /// What became of this value.
    pub(super) fn finding(&self, distance: f64, outcome: Outcome) -> Finding {
        let (case, value) = (self.id.clone(), self.name());
        Finding { case, value, distance, relative: distance, outcome }
    }

    pub(super) fn skipped(&self, why: &str) -> Finding {
        self.finding(0.0, Outcome::Skipped(why.into()))
    }

    /// Compares a value of the library with this number, by which it may lie below or above.
    pub(super) fn compared_within(
        &self,
        seen: Result<f64, String>,
        below: f64,
        above: f64,
    ) -> Result<Finding, GoldenError> {
        let value = self.number()?;
        let allowed = if seen.as_ref().is_ok_and(|&seen| seen > value) { above } else { below };
        self.compared(seen, |_| allowed)
    }

    /// Compares a text of the library with this one.
    pub(super) fn compared_text(&self, seen: &str) -> Result<Finding, GoldenError> {
        let expected = self.text()?;
        let how = || format!("expected {expected}, computed {seen}");
        let outcome = if seen == expected { Outcome::Passed } else { Outcome::Failed(how()) };
        Ok(self.finding(0.0, outcome))
    }

    /// Compares a value of the library with this number, or with its correction.
    pub(super) fn compared(
        &self,
        seen: Result<f64, String>,
        allowed: impl Fn(f64) -> f64,
    ) -> Result<Finding, GoldenError> {
        let stated = self.number()?;
        let known = CORRECTIONS.iter().find(|(wrong, _)| wrong.to_bits() == stated.to_bits());
        if let Some((_, right)) = known {
            let corrected = Value::from(*right);
            let mut finding = Case { value: &corrected, ..self.clone() }.compared(seen, allowed)?;
            finding.value = format!("{} (corrected to {right})", finding.value);
            return Ok(finding);
        }
        let value = stated;
        Ok(match seen {
            Err(refusal) => self.finding(f64::INFINITY, Outcome::Failed(refusal)),
            Ok(seen) => {
                let distance = if seen == value { 0.0 } else { (seen - value).abs() };
                let allowed = allowed(value.abs());
                let how = || format!("expected {value:?} ± {allowed:.1e}, computed {seen:?}");
                let passed = distance <= allowed;
                let outcome = if passed { Outcome::Passed } else { Outcome::Failed(how()) };
                let relative = if distance == 0.0 { 0.0 } else { distance / value.abs() };
                Finding { relative, ..self.finding(distance, outcome) }
            }
        })
    }
}
