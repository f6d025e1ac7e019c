//! Markdown, for pull requests.

use dpscope_core::audit::claim::Verdict;

use super::{ExportContext, PROGRAM, VERSION};
use crate::number::{confidence, delta, plain};
use crate::summary::{ListedValue, Summary};

/// Findings that are listed.
const MOST_FINDINGS: usize = 10;

/// The result, a line per claim, the findings and the values, short enough for a comment.
#[must_use]
pub fn markdown(summary: &Summary, context: &ExportContext<'_>) -> String {
    let mut out =
        format!("### {}\n\n**{}**\n\n", escaped(&summary.title), escaped(&summary.headline));
    for test in &summary.tests {
        let mark = match test.outcome {
            Verdict::Refuted => "❌",
            Verdict::NotRefuted => "⚪",
            Verdict::Inconclusive => "❔",
        };
        let line = format!("{}: {}. {}", test.name, test.verdict, test.sentence);
        out.push_str(&format!("- {mark} {}\n", escaped(&line)));
    }
    for finding in summary.findings.iter().take(MOST_FINDINGS) {
        out.push_str(&format!("- {}: {}\n", finding.severity, escaped(&finding.sentence)));
    }
    if let Some(more @ 1..) = summary.findings.len().checked_sub(MOST_FINDINGS) {
        out.push_str(&format!("- and {more} more\n"));
    }
    if !summary.values.is_empty() {
        out.push_str("\n| value | ε | δ | confidence |\n|---|---:|---:|---:|\n");
        summary.values.iter().for_each(|value| out.push_str(&row(value)));
    }
    out.push_str(&format!("\n{PROGRAM} {VERSION}: {}\n", code(context.command)));
    out
}

fn row(value: &ListedValue) -> String {
    let certainty = value.significance.map_or("–".to_owned(), confidence);
    format!(
        "| {} | {} | {} | {certainty} |\n",
        escaped(value.name),
        plain(value.epsilon, value.kind, 4),
        delta(value.delta)
    )
}

/// Text without markup.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '!' | '@' => {
                out.extend(['\\', c]);
            }
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// Code within a line: the fence is longer than any run of backticks inside.
fn code(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("{fence} {text} {fence}")
}
