//! `dpscope recompute`: the bounds of a report again, from the counts in it.

mod args;

pub(crate) use args::RecomputeArgs;

use std::borrow::Cow;
use std::collections::BTreeMap;

use dpscope_report::html::{HTML_MARK, compare_page, embedded_json};
use dpscope_report::number::counted;
use dpscope_report::recompute::{
    Recomputation, RecomputationOutcome, RecomputationReport, RecomputeError, recompute,
};
use dpscope_report::text::row;
use serde_json::Value;

use crate::failure::{CommandResult, Exit, Failure};
use crate::files::{name_of, read_text};
use crate::output::{print_json, print_text};

/// Larger files are refused.
const MAX_BYTES: u64 = 64 << 20;

pub(crate) fn run(args: &RecomputeArgs) -> CommandResult {
    let path = args.file.as_path();
    let text = read_text(path, MAX_BYTES)?;
    let is_page = text.starts_with(HTML_MARK);
    let json = match text.trim_start().starts_with('{') {
        true => Cow::Borrowed(&text),
        false if is_page => {
            Cow::Owned(embedded_json(&text).map_err(|error| Failure::input(error).about(path))?)
        }
        false => {
            let problem = "is neither a page of --report nor a document of --json";
            return Err(Failure::input(problem).about(path));
        }
    };
    let report: Value = serde_json::from_str(&json).map_err(|error| {
        Failure::input(format!("the report is no JSON, or truncated: {error}")).about(path)
    })?;
    let mut found = recompute(&report).map_err(|error| refusal(error).about(path))?;
    if is_page {
        compare_page(&mut found, &text, &json, &report);
    }
    let (file, outcome) = (name_of(path).into_owned(), found.outcome());
    if args.json {
        let version = env!("CARGO_PKG_VERSION");
        let schema = "dpscope.recomputation/1";
        print_json(&RecomputationReport { schema, version, file, outcome, found })?;
    } else {
        print_text(&to_text(&found, &file, args.brief))?;
    }
    Ok(match outcome {
        RecomputationOutcome::Nothing => Exit::Inconclusive,
        RecomputationOutcome::Consistent => Exit::Done,
        RecomputationOutcome::Inconsistent => Exit::Artefact,
    })
}

fn refusal(error: RecomputeError) -> Failure {
    match error {
        RecomputeError::Schema { .. } => Failure::with(
            Exit::Artefact,
            format!("{error}; use the version of dpscope that wrote it"),
        ),
        RecomputeError::Counts { .. } => Failure::with(Exit::Artefact, error),
        error => Failure::input(error),
    }
}

fn to_text(found: &Recomputation, file: &str, is_brief: bool) -> String {
    let values = |list: usize| counted(list as u64, "value");
    let mut out = match found.outcome() {
        RecomputationOutcome::Nothing => {
            format!("{file} has no counts, and nothing in it follows from the rest\n")
        }
        RecomputationOutcome::Consistent => {
            let (checked, open) = (values(found.checked.len()), found.open.len());
            format!("{file} is consistent: {checked} checked, {open} not checked\n")
        }
        RecomputationOutcome::Inconsistent => {
            let differ = values(found.differences.len());
            format!("{file} is INCONSISTENT: {differ} that its counts and settings do not give\n")
        }
    };
    for difference in &found.differences {
        let text = format!("is {}, and {} follows", difference.stated, difference.expected);
        out.push_str(&format!("  {} {text}\n", difference.pointer));
    }
    if is_brief {
        return out;
    }
    out.push('\n');
    out.push_str(&row(
        "meaning",
        "consistent is not authentic: this shows neither who made the report nor that the counts were \
         observed",
    ));
    let mut open: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for value in &found.open {
        open.entry(value.reason).or_default().push(field(&value.pointer));
    }
    for (reason, mut fields) in open {
        fields.dedup();
        out.push_str(&row("not checked", &format!("{}: {reason}", fields.join(", "))));
    }
    out
}

/// The field of a pointer: items and parts of a field are not listed one by one.
fn field(pointer: &str) -> String {
    pointer.split('/').take(3).collect::<Vec<_>>().join("/")
}
