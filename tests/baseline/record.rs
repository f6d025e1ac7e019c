//! Cases, their values, and the file of what 0.1 printed.

use std::path::{Path, PathBuf};
use std::{env, fs};

use dpscope_tests::cli;
use libtest_mimic::Failed;
use serde_json::{Map, Value, json};

use crate::comparison;

const CLAIM_REFUTED: i32 = 3;

/// One run of the program.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    /// Name in the file; it does not change when a flag is renamed.
    pub(crate) id: String,
    /// Words of the command line, without `--json`.
    pub(crate) arguments: String,
    /// Values of the document that it prints.
    pub(crate) values: fn(&Value) -> Map<String, Value>,
}

/// The cases of one file.
pub(crate) struct Record {
    name: &'static str,
    cases: Vec<Case>,
    prepare: fn(&Path),
}

impl Record {
    /// The file `data/NAME.json`.
    pub(crate) fn new(name: &'static str, cases: Vec<Case>) -> Self {
        Record { name, cases, prepare: |_| () }
    }

    /// Sets the function that writes the files that commands read.
    pub(crate) fn with_files(self, prepare: fn(&Path)) -> Self {
        Record { prepare, ..self }
    }

    /// What version 0.1 printed.
    pub(crate) fn recorded(&self) -> Map<String, Value> {
        let text = fs::read_to_string(self.path()).unwrap();
        let parsed: Value = serde_json::from_str(&text).unwrap();
        parsed.as_object().unwrap().clone()
    }

    /// Runs the cases and compares them with the file, or writes it on request.
    pub(crate) fn check(&self) -> Result<(), Failed> {
        let seen = evaluate(&self.cases, self.prepare);
        if env::var("RECORD_BASELINE").is_ok_and(|value| value == "1") {
            fs::write(self.path(), lines(&seen)).unwrap();
        }
        let differences = comparison::differences(&self.recorded(), &seen);
        if differences.is_empty() {
            return Ok(());
        }
        let file = self.path().display().to_string();
        Err(format!("{} values differ from {file}:\n{}", differences.len(), differences.join("\n"))
            .into())
    }

    fn path(&self) -> PathBuf {
        let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/baseline/data"));
        folder.join(format!("{}.json", self.name))
    }
}

/// Values of each case; the exit code alone where the program refuses it.
pub(crate) fn evaluate(cases: &[Case], prepare: fn(&Path)) -> Map<String, Value> {
    let folder = tempfile::tempdir().unwrap();
    prepare(folder.path());
    let run = |case: &Case| {
        let ended = cli::run(folder.path(), &format!("{} --json", case.arguments));
        let mut values = match ended.code {
            Some(0 | CLAIM_REFUTED) => (case.values)(&ended.json()),
            _ => Map::new(),
        };
        if ended.code != Some(0) {
            values.insert("exit_code".into(), json!(ended.code));
        }
        (case.id.clone(), values.into())
    };
    let values: Map<String, Value> = cases.iter().map(run).collect();
    assert_eq!(values.len(), cases.len(), "two cases have the same id");
    values
}

/// One line per case.
fn lines(values: &Map<String, Value>) -> String {
    let lines: Vec<String> = values
        .iter()
        .map(|(id, values)| format!("{}: {values}", Value::from(id.clone())))
        .collect();
    format!("{{\n{}\n}}\n", lines.join(",\n"))
}
