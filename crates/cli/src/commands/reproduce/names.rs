//! Tables of numbers, and texts that name them.

use dpscope_core::accounting::Kind;
use dpscope_core::format::{given, rounded};
use dpscope_report::number::{confidence, counted, grouped, plain};
use serde_json::Value;

/// A table, with numbers of its own for its paragraph.
pub(super) struct Table {
    pub(super) name: String,
    pub(super) facts: Value,
    pub(super) rows: Vec<Value>,
}

impl Table {
    pub(super) fn new(name: &str, rows: impl IntoIterator<Item = Value>) -> Self {
        Self { name: name.to_owned(), facts: Value::Null, rows: rows.into_iter().collect() }
    }
}

/// Labelled sentences, by the name of their list.
pub(super) type Notes = (&'static str, Vec<(String, String)>);

/// Where the names in texts are looked up: in a row or the facts of a table, then in those of all.
pub(super) struct Names<'a> {
    pub(super) what: &'a str,
    pub(super) seed: u64,
    pub(super) of_table: &'a Value,
    pub(super) facts: &'a Value,
}

impl Names<'_> {
    /// The names of a row, or of the facts of a table.
    pub(super) fn of<'b>(&'b self, of_table: &'b Value) -> Names<'b> {
        Names { of_table, ..*self }
    }

    /// A fact by its path, as "average.rows".
    pub(super) fn value(&self, path: &str) -> Value {
        match path {
            "what" => return Value::from(self.what),
            "seed" => return Value::from(self.seed.to_string()),
            "version" => return Value::from(env!("CARGO_PKG_VERSION")),
            _ => {}
        }
        let pointer = format!("/{}", path.replace('.', "/"));
        let found = self.of_table.pointer(&pointer).or_else(|| self.facts.pointer(&pointer));
        found.cloned().unwrap_or(Value::Null)
    }

    /// Whether a fact is there and not false; `!` before its name turns the condition round.
    pub(super) fn has(&self, condition: &Option<String>) -> bool {
        let Some(condition) = condition else { return true };
        let name = condition.trim_start_matches('!');
        let is_there = !matches!(self.value(name), Value::Null | Value::Bool(false));
        is_there != condition.starts_with('!')
    }

    /// A text with the values that it names.
    pub(super) fn filled(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut parts = text.split('{');
        out += parts.next().unwrap_or_default();
        for part in parts {
            let (name, rest) = part.split_once('}').unwrap_or((part, ""));
            let (name, form) = name.split_once(':').unwrap_or((name, ""));
            out += &shown(&self.value(name), form);
            out += rest;
        }
        out
    }
}

/// A value in a form: `0.00` for two decimals, `+0.00` with a sign, `≥ 0.00`, `≤ 0.00` and `≈ 0.00` for
/// bounds, which are rounded outward, and estimates, `0,0` for whole numbers, `%` for shares, `e` for
/// powers of ten, `held` for the confidence of a significance, `# run` for a number of runs. A pair of
/// numbers is a range, a mean stands before its error, and a value of theory is rounded by its kind.
pub(super) fn shown(value: &Value, form: &str) -> String {
    let number = |name: &str| value.get(name).and_then(Value::as_f64);
    match value {
        Value::Null => "-".to_owned(),
        Value::Bool(is_true) => is_true.to_string(),
        Value::String(text) => text.clone(),
        Value::Number(number) => number.as_f64().map_or(number.to_string(), |it| written(it, form)),
        Value::Array(values) => {
            let is_range = values.iter().all(Value::is_number);
            let texts: Vec<String> = values.iter().map(|value| shown(value, form)).collect();
            texts.join(if is_range { " to " } else { " " })
        }
        Value::Object(fields) => {
            let kind = fields.get("kind").and_then(Value::as_str);
            let sign = match kind {
                Some("upper") => "≤ ",
                Some("lower") => "≥ ",
                _ => "≈ ",
            };
            let error = number("standard_error").or(number("sd"));
            match (number("epsilon"), number("value").or(number("mean")), error) {
                (Some(epsilon), ..) => written(epsilon, &format!("{sign}{form}")),
                (_, Some(mean), Some(error)) => {
                    format!("{} ± {}", written(mean, form), written(error, form))
                }
                (_, Some(mean), None) => written(mean, form),
                _ => "-".to_owned(),
            }
        }
    }
}

/// A number in a form of [`shown`].
pub(super) fn written(value: f64, form: &str) -> String {
    let digits = |form: &str| form.split_once('.').map_or(0, |(_, digits)| digits.len());
    match (form, form.split_once(' ')) {
        (_, Some(("≥", form))) => plain(value, Kind::Lower, digits(form)),
        (_, Some(("≤", form))) => plain(value, Kind::Upper, digits(form)),
        (_, Some(("≈", form))) => plain(value, Kind::Estimate, digits(form)),
        (_, Some(("#", thing))) => counted(value as u64, thing),
        ("", _) => given(value),
        ("e", _) => format!("{value:e}"),
        ("0,0", _) => grouped(value as u64),
        ("held", _) => confidence(value),
        ("%", _) => {
            let text = rounded(100.0 * value, 1);
            format!("{} %", text.strip_suffix(".0").unwrap_or(&text))
        }
        (form, _) if form.starts_with('+') => format!("{value:+.0$}", digits(form)),
        (form, _) => rounded(value, digits(form)),
    }
}
