//! Printing: reports, JSON documents, notes, and the exit code of a report.

use std::borrow::Cow;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use dpscope_core::audit::claim::{ClaimError, ClaimVerdict, PrivacyClaim, Verdict};
use dpscope_core::foreign_text::printable;
use dpscope_report::Reported;
use dpscope_report::document::metrics_document;
use dpscope_report::export::{ExportContext, cyclonedx, junit, markdown, model_index, sarif};
use dpscope_report::figure::{Curves, to_svg};
use dpscope_report::record::{ClaimTest, ErrorReport, Report};
use dpscope_report::text::document_text;
use serde::Serialize;
use terminal_size::{Width, terminal_size};
use textwrap::WordSplitter;

use crate::args::{ClaimArgs, HINTS, PageArgs, PlotArgs, ReportArgs, ReportFormat};
use crate::ascii::{ascii, printable_json};
use crate::disk::HAS_DISK;
use crate::failure::{CommandResult, Exit, Failure};
use crate::host;
use crate::shell::{arguments, command_line};

impl ReportArgs {
    /// Whether the metrics of the attack are printed.
    pub(crate) fn shows_metrics(&self) -> bool {
        self.metrics || self.show.json || self.page.shows_all()
    }

    /// The files that are written, by their options.
    pub(crate) fn files(&self) -> [(&'static str, Option<&Path>); 4] {
        let PlotArgs { plot, curves } = &self.plot;
        let PageArgs { report, sarif, .. } = &self.page;
        [("plot", plot), ("curves", curves), ("report", report), ("sarif", sarif)]
            .map(|(option, path)| (option, path.as_deref()))
    }

    /// Refuses options of a result where a run has none, because it is a part of another. A caller in
    /// this process passes the options of the merged result, and does not expect its document.
    pub(crate) fn check_for_part(&self) -> Result<(), Failure> {
        let claim = &self.claim;
        let files = self.files().map(|(option, path)| (option, path.is_some()));
        let others = [
            ("json", self.show.json),
            ("format", self.page.format.is_some()),
            ("brief", self.brief),
            ("metrics", self.metrics),
            ("claim", claim.claim.is_some()),
            ("fail-above", claim.fail_above.is_some()),
            ("fail-on-finding", claim.fail_on_finding),
        ];
        match others.into_iter().chain(files).find(|&(_, is_present)| is_present) {
            Some((option, _)) if !host::is_guest() => Err(Failure::input(format!(
                "--{option} is for the result, which this part of the runs does not have; leave it out, \
                 and pass it to `dpscope merge`"
            ))),
            _ => Ok(()),
        }
    }

    /// How the report is printed and written.
    pub(crate) fn delivery(&self) -> Delivery<'_> {
        Delivery::of_audit(&self.page, self.show.json, self.brief, &self.claim)
    }

    /// The claim at the audited δ; also rejects curve files that cannot be written. Called before any
    /// work is done.
    pub(crate) fn check(&self, delta: f64) -> Result<ClaimTest, Failure> {
        let test = claim_test(&self.claim, delta)?;
        self.plot.check()?;
        self.page.check()?;
        Ok(test)
    }

    /// Prints a report, writes its curves, and returns its exit code.
    pub(crate) fn finish(
        &self,
        report: &Report,
        curves: impl FnOnce() -> Result<Curves, Failure>,
    ) -> CommandResult {
        // The report comes first, so that a full disk does not lose the result.
        self.delivery().print(report)?;
        let is_text = !self.show.json && self.page.format.is_none() && !host::renders();
        if let Some(metrics) = report.metrics.as_ref().filter(|_| self.metrics && is_text) {
            print_text(&format!("\n{}", document_text(&metrics_document(metrics))))?;
        }
        if self.plot.is_requested() || self.page.is_requested() {
            let curves = curves();
            let svg = || match &curves {
                Ok(curves) => Ok(to_svg(curves)),
                Err(failure) => Err(failure.error.to_string()),
            };
            self.page.write(report, None, svg)?;
            self.plot.write(|| curves)?;
        }
        Ok(self.claim.exit(report.verdict, !report.findings.is_empty()))
    }
}

/// How a report is printed and written.
pub(crate) struct Delivery<'a> {
    pub(crate) page: &'a PageArgs,
    pub(crate) is_json: bool,
    pub(crate) is_brief: bool,
    /// Whether a finding fails the run.
    pub(crate) fails_on_finding: bool,
    /// The file that describes the training, if there is one.
    pub(crate) file: Option<&'a Path>,
}

impl<'a> Delivery<'a> {
    /// Delivers a report that no finding fails.
    pub(crate) const fn new(page: &'a PageArgs, is_json: bool) -> Self {
        Delivery { page, is_json, is_brief: false, fails_on_finding: false, file: None }
    }

    /// Delivers an audit, which findings fail if the options say so.
    pub(crate) const fn of_audit(
        page: &'a PageArgs,
        is_json: bool,
        is_brief: bool,
        claim: &ClaimArgs,
    ) -> Self {
        let fails_on_finding = claim.fail_on_finding;
        Delivery { is_brief, fails_on_finding, ..Delivery::new(page, is_json) }
    }

    /// Prints the report, then writes its page.
    pub(crate) fn deliver(
        &self,
        report: &impl Reported,
        figure: impl FnOnce() -> Result<String, String>,
    ) -> Result<(), Failure> {
        self.print(report)?;
        self.page.write(report, self.file, figure)
    }

    /// Prints the report in its format.
    pub(crate) fn print(&self, report: &impl Reported) -> Result<(), Failure> {
        match self.page.format {
            _ if self.is_json || host::renders() => print_json(&report.answered()),
            Some(format) if HAS_DISK => self.print_as(format, report),
            _ if self.is_brief => print_text(&document_text(&report.brief_document(HINTS))),
            _ => print_text(&document_text(&report.document(HINTS))),
        }
    }

    fn print_as(&self, format: ReportFormat, report: &impl Reported) -> Result<(), Failure> {
        let (summary, command) = (report.summary(), command_line(arguments()));
        let file = self.file.map(|file| file.display().to_string());
        let fails_on_finding = self.fails_on_finding;
        let context = ExportContext { command: &command, file: file.as_deref(), fails_on_finding };
        match format {
            ReportFormat::Json => print_json(&report.answered()),
            ReportFormat::Sarif => print_json(&sarif(&summary, &context)),
            ReportFormat::Cyclonedx => print_json(&cyclonedx(&summary, &context)),
            ReportFormat::Junit => print(&junit(&summary, &context)),
            ReportFormat::Markdown => print(&markdown(&summary, &context)),
            ReportFormat::ModelCard => print(&model_index(&summary, &context)),
        }
    }
}

impl ClaimArgs {
    /// The exit code of a verdict and of findings.
    pub(crate) fn exit(&self, verdict: Option<ClaimVerdict>, has_findings: bool) -> Exit {
        match verdict.map(|verdict| verdict.outcome) {
            Some(Verdict::Refuted) => Exit::Refuted,
            _ if self.fail_on_finding && has_findings => Exit::Refuted,
            Some(Verdict::Inconclusive) => Exit::Inconclusive,
            Some(Verdict::NotRefuted) | None => Exit::Done,
        }
    }
}

/// The claims of `--claim` and `--fail-above`.
pub(crate) fn claim_test(args: &ClaimArgs, delta: f64) -> Result<ClaimTest, Failure> {
    let claim = match args.claim {
        None => None,
        Some(epsilon) => {
            if let Some(claimed) = args.claim_delta.filter(|&claimed| claimed != delta) {
                return Err(ClaimError::Delta { claimed, audited: delta }.into());
            }
            let claim = PrivacyClaim { epsilon, delta, adjacency: args.claim_adjacency };
            claim.check()?;
            Some(claim)
        }
    };
    Ok(ClaimTest { claim, fail_above: args.fail_above })
}

/// Whether what is printed is ASCII.
static IS_ASCII: AtomicBool = AtomicBool::new(false);

/// From now on what is printed is ASCII.
pub(crate) fn use_ascii() {
    IS_ASCII.store(true, Ordering::Relaxed);
}

pub(crate) fn is_ascii() -> bool {
    IS_ASCII.load(Ordering::Relaxed)
}

/// Text as it is printed: escapes foreign text that was not escaped before.
pub(crate) fn shown(text: &str) -> Cow<'_, str> {
    let text = printable(text);
    if is_ascii() { ascii(&text).into_owned().into() } else { text }
}

/// Prints a JSON document.
pub(crate) fn print_json(document: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(document)
        .map_err(|error| Failure::with(Exit::Internal, error))?;
    HAS_DOCUMENT.store(true, Ordering::Relaxed);
    print_unchanged(&format!("{}\n", printable_json(&text, is_ascii())))
}

/// Whether a document was printed: an error after it, of a plot for example, is on stderr alone.
static HAS_DOCUMENT: AtomicBool = AtomicBool::new(false);

/// Prints an error as the only JSON document. Where stdout cannot be written, the message on stderr
/// remains.
pub(crate) fn print_error(report: &ErrorReport) {
    if !HAS_DOCUMENT.load(Ordering::Relaxed) {
        let _ = print_json(report);
    }
}

/// Prints a report, fitted to the width of a terminal.
pub(crate) fn print_text(text: &str) -> Result<(), Failure> {
    match width_of(&std::io::stdout()) {
        Some(width) => print(&fitted(&shown(text), width)),
        None => print(text),
    }
}

/// Prints text without fitting it.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    print_unchanged(&shown(text))
}

/// Prints text as it is. A closed pipe is not an error.
pub(crate) fn print_unchanged(text: &str) -> Result<(), Failure> {
    use std::io::ErrorKind;
    if host::print(text) {
        return Ok(());
    }
    let mut stdout = std::io::stdout();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::with(Exit::Internal, format!("stdout cannot be written: {error}")))
        }
        _ => Ok(()),
    }
}

/// Prints a note or an error on stderr, fitted to the width of a terminal.
pub(crate) fn print_note(text: &str) {
    let text = shown(&format!("{text}\n")).into_owned();
    if host::note(&text) || !HAS_DISK {
        return;
    }
    let text = width_of(&std::io::stderr()).map_or(text.clone(), |width| fitted(&text, width));
    let _ = std::io::stderr().write_all(text.as_bytes()); // best effort: there is nowhere to report it
}

/// Columns beyond which text is not widened.
const MAX_WIDTH: usize = 100;

/// The width of a terminal; none for files and pipes, whose layout is fixed.
fn width_of(stream: &impl IsTerminal) -> Option<usize> {
    let (Width(width), _) = stream.is_terminal().then(terminal_size).flatten()?;
    Some(usize::from(width).min(MAX_WIDTH))
}

/// Columns before the text of a labelled row.
const LABEL: usize = 14;

/// Wraps long lines, below the start of their last column; labelled rows are filled again. Commands
/// stay on one line, so that they can be copied.
fn fitted(text: &str, width: usize) -> String {
    let continues = |line: &str| {
        let indentation = line.len() - line.trim_start_matches(' ').len();
        indentation == LABEL && line.len() > LABEL
    };
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        match lines.last_mut() {
            Some(row) if continues(line) && row.starts_with("  ") => {
                row.push(' ');
                row.push_str(line.trim_start());
            }
            _ => lines.push(line.to_owned()),
        }
    }
    lines.iter().map(|line| fitted_line(line, width) + "\n").collect()
}

fn fitted_line(line: &str, width: usize) -> String {
    /// Narrower columns are not wrapped.
    const MIN_COLUMN: usize = 20;
    let gap = line.trim_end().rfind("  ").map_or(0, |at| at + 2);
    let column = textwrap::core::display_width(&line[..gap]);
    let around = [LABEL - 1, LABEL].map(|at| line.chars().nth(at).is_none_or(|c| c == ' '));
    let indentation = if around == [true, false] { column.max(LABEL) } else { column };
    let is_command = line.trim_start().starts_with("dpscope ");
    if is_command || indentation + MIN_COLUMN > width {
        return line.to_owned();
    }
    let indentation = " ".repeat(indentation);
    let options = textwrap::Options::new(width).subsequent_indent(&indentation);
    textwrap::fill(line, options.break_words(false).word_splitter(WordSplitter::NoHyphenation))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labelled_rows_are_filled_again() {
        let text = "  meaning     one two three\n              four five\n  seed        7\n";
        let wide = "  meaning     one two three four five\n  seed        7\n";
        assert_eq!(fitted(text, 80), wide);
        let narrow = "  meaning     one two three four\n              five\n  seed        7\n";
        assert_eq!(fitted(text, 34), narrow);
        let label = "  error rates one two three four five\n";
        let wrapped = "  error rates one two three four\n              five\n";
        assert_eq!(fitted(label, 34), wrapped);
    }

    #[test]
    fn the_last_column_of_a_table_is_wrapped() {
        let text = "  name  about\n  cpu   two threads of a small machine\n";
        let narrow = "  name  about\n  cpu   two threads of a\n        small machine\n";
        assert_eq!(fitted(text, 28), narrow);
    }

    #[test]
    fn narrow_last_columns_and_commands_are_not_wrapped() {
        for text in ["  shuffle     1,000  0.5\n", "  dpscope resume --device a b c d e f g\n"] {
            assert_eq!(fitted(text, 21), text);
        }
    }
}
