//! `dpscope recompute`: the bounds of a report again, from the counts in it.

mod args;

pub(crate) use args::RecomputeArgs;

use std::borrow::Cow;
use std::collections::BTreeMap;

use dpscope_core::foreign_text::ForeignText;
use dpscope_report::html::{HTML_MARK, compare_page, embedded_json};
use dpscope_report::number::counted;
use dpscope_report::recompute::{
    OpenValue, Recomputation, RecomputationOutcome, RecomputationReport, RecomputeError,
    parse_report,
};
use dpscope_report::recomputed;
use dpscope_report::text::row;

use crate::args::HINTS;
use crate::failure::{CommandResult, Exit, Failure};
use crate::files::{name_of, read_text};
use crate::output::{print_json, print_text};

/// Larger files are refused.
const MAX_BYTES: u64 = 64 << 20;

pub(crate) fn run(args: &RecomputeArgs) -> CommandResult {
    let path = args.file.as_path();
    let text = read_text(path, MAX_BYTES)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text); // some editors put it first
    let is_page = text.starts_with(HTML_MARK);
    let json = match text.trim_start().starts_with('{') {
        true => Cow::Borrowed(text),
        false if is_page => {
            Cow::Owned(embedded_json(text).map_err(|error| Failure::input(error).about(path))?)
        }
        false => return Err(Failure::input(unreadable(text)).about(path)),
    };
    let report = parse_report(&json).map_err(|error| {
        let problem = match error.is_data() {
            true => "the report is ambiguous",
            false => "the report is no JSON, or truncated",
        };
        Failure::input(format!("{problem}: {}", ForeignText::of(error))).about(path)
    })?;
    let mut found = recomputed(&report).map_err(|error| refusal(error).about(path))?;
    if is_page {
        compare_page(&mut found, text, &json, &report, HINTS);
    }
    let (file, outcome) = (name_of(path).into_owned(), found.outcome());
    if args.json {
        let version = env!("CARGO_PKG_VERSION");
        let schema = "dpscope.recomputation/1";
        print_json(&RecomputationReport { schema, version, file, outcome, found })?;
    } else {
        print_text(&to_text(&found, &ForeignText::new(&file), args.brief))?;
    }
    Ok(match outcome {
        RecomputationOutcome::Nothing | RecomputationOutcome::NotCompared => Exit::Inconclusive,
        RecomputationOutcome::Consistent => Exit::Done,
        RecomputationOutcome::Inconsistent => Exit::Artefact,
    })
}

fn unreadable(text: &str) -> &'static str {
    match text.replace("\r\n", "\n").starts_with(HTML_MARK) {
        true => {
            "the line ends of the page were changed to CRLF, so it is not the file that was written; \
             pass the original file"
        }
        false => "is neither a page of --report nor a document of --json",
    }
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

fn to_text(found: &Recomputation, file: &ForeignText, is_brief: bool) -> String {
    let values = |list: usize| counted(list as u64, "value");
    let (checked, open) = (values(found.checked.len()), found.open.len());
    let mut out = match found.outcome() {
        RecomputationOutcome::Nothing => {
            format!("{file} has no counts, and nothing in it follows from the rest\n")
        }
        RecomputationOutcome::Consistent => {
            format!("{file} is consistent: {checked} checked, {open} not checked\n")
        }
        RecomputationOutcome::NotCompared => format!(
            "{file} was NOT COMPARED in full: {checked} checked, {open} not checked, and what decides \
             could not be compared\n"
        ),
        RecomputationOutcome::Inconsistent => {
            let differ = values(found.differences.len());
            format!("{file} is INCONSISTENT: {differ} that its counts and settings do not give\n")
        }
    };
    for difference in &found.differences {
        let text = format!("is {}, and {} follows", difference.stated, difference.expected);
        out.push_str(&format!("  {} {text}\n", difference.pointer));
    }
    for OpenValue { pointer, reason } in &found.not_compared {
        out.push_str(&format!("  {pointer}: {reason}\n"));
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
