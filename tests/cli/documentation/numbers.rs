//! Numbers in the prose of pages: each is computed from a JSON document of a command, or by a function.

use std::collections::BTreeMap;
use std::path::Path;

use dpscope_core::accounting::Kind;
use dpscope_core::format::rounded;
use dpscope_report::number::{grouped, plain};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::computed::computed;
use super::example::output;

/// Numbers by name.
pub(super) type Findings = BTreeMap<String, Finding>;

/// A number of the prose.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Finding {
    /// The command whose JSON document has the number.
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    /// Where in the document: names, indices, and `field=value` for an element of a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    /// The function of `computed.rs` that returns the number, in place of a command.
    #[serde(skip_serializing_if = "Option::is_none")]
    computed: Option<String>,
    /// `0.00` for two decimals, `≥ 0.00` and `≤ 0.00` for bounds, which are rounded outward, `0.0 %` for
    /// a share, `0,0` for whole numbers.
    form: String,
    /// What the page shows.
    pub(super) value: String,
}

/// Documents of commands, each run once.
#[derive(Debug, Default)]
pub(super) struct Documents(BTreeMap<String, Value>);

impl Documents {
    fn of(&mut self, folder: &Path, command: &str) -> Result<&Value, String> {
        if !self.0.contains_key(command) {
            let printed = output(folder, &format!("{command} --json"))?;
            let document = serde_json::from_str(&printed).map_err(|error| error.to_string())?;
            self.0.insert(command.to_owned(), document);
        }
        self.0.get(command).ok_or_else(|| format!("{command}: no document"))
    }
}

impl Finding {
    /// This finding with the value that is computed now.
    pub(super) fn recomputed(
        &self,
        folder: &Path,
        documents: &mut Documents,
    ) -> Result<Self, String> {
        let number = match (&self.command, &self.path, &self.computed) {
            (Some(command), Some(path), None) => {
                let document = documents.of(folder, command)?;
                found(document, path).ok_or_else(|| format!("{command}: no number {path}"))?
            }
            (None, None, Some(name)) => computed(name).ok_or("no such function in computed.rs")?,
            _ => return Err("needs `command` and `path`, or `computed`".to_owned()),
        };
        Ok(Self { value: shown(number, &self.form)?, ..self.clone() })
    }
}

fn found(document: &Value, path: &str) -> Option<f64> {
    let steps = path.split('/').skip(1);
    let value = steps.into_iter().try_fold(document, |value, step| match step.split_once('=') {
        Some((field, wanted)) => value.as_array()?.iter().find(|one| is(&one[field], wanted)),
        None => match step.parse::<usize>() {
            Ok(place) => value.get(place),
            Err(_) => value.get(step),
        },
    });
    value?.as_f64()
}

fn is(value: &Value, wanted: &str) -> bool {
    match value {
        Value::String(text) => text == wanted,
        Value::Number(number) => number.as_f64() == wanted.parse().ok(),
        _ => false,
    }
}

fn shown(number: f64, form: &str) -> Result<String, String> {
    let decimals = |form: &str| match form.strip_prefix("0") {
        Some("") => Some(0),
        Some(rest) => rest.strip_prefix('.').map(str::len),
        None => None,
    };
    if form == "0,0" {
        return Ok(grouped(number.round() as u64));
    }
    for (side, kind) in [("≥ ", Kind::Lower), ("≤ ", Kind::Upper)] {
        if let Some(decimals) = form.strip_prefix(side).and_then(decimals) {
            return Ok(plain(number, kind, decimals));
        }
    }
    let (number, form, unit) = match form.strip_suffix(" %") {
        Some(form) => (100.0 * number, form, " %"),
        None => (number, form, ""),
    };
    let decimals = decimals(form).ok_or_else(|| format!("unknown form {form:?}"))?;
    Ok(rounded(number, decimals) + unit)
}

#[test]
fn numbers_are_found_and_shown_in_their_form() {
    let document = serde_json::json!({ "rows": [{ "name": "a", "d": 1e4, "x": [0.5, 1234.6] }] });
    for (path, form, expected) in [
        ("/rows/0/x/0", "0.00", "0.50"),
        ("/rows/name=a/x/0", "0 %", "50 %"),
        ("/rows/d=10000/x/0", "0.0 %", "50.0 %"),
        ("/rows/name=a/x/1", "0,0", "1,235"),
        ("/rows/name=a/x/1", "0", "1235"),
        ("/rows/name=a/x/1", "≥ 0", "1234"),
        ("/rows/name=a/x/1", "≤ 0.0", "1234.6"),
    ] {
        assert_eq!(shown(found(&document, path).unwrap(), form).unwrap(), expected, "{path}");
    }
    for path in ["/rows/1", "/rows/name=b/x/0", "/rows/0/name", "/rows/0/x/2"] {
        assert_eq!(found(&document, path), None, "{path}");
    }
    assert!(shown(1.0, "two").is_err());
}

#[test]
fn findings_need_one_source() {
    let finding = |text: &str| serde_json::from_str::<Finding>(text).unwrap();
    let problem = |text: &str| {
        let folder = crate::Folder::new();
        finding(text).recomputed(folder.path(), &mut Documents::default()).unwrap_err()
    };
    assert!(problem(r#"{"form": "0", "value": "1"}"#).contains("needs `command`"));
    let unknown = r#"{"computed": "nothing", "form": "0", "value": "1"}"#;
    assert!(problem(unknown).contains("no such function"));
    let path = r#"{"command": "dpscope bound poisson --noise-multiplier 1 --steps 1",
                   "path": "/no", "form": "0", "value": "1"}"#;
    assert!(problem(path).contains("no number /no"));
}
