//! A report as a page, and its format on stdout.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use dpscope_report::Reported;
use dpscope_report::document::Hints;
use dpscope_report::export::{ExportContext, SARIF_MARK, sarif};
use dpscope_report::html::{HTML_MARK, PageContext, page};

use crate::disk::HAS_DISK;
use crate::failure::{Exit, Failure};
use crate::files::{check_replaces, write_text};
use crate::host::{self, Rendered};
use crate::shell::{arguments, command_line};

/// What a reader can do next, in options.
pub(crate) const HINTS: Hints = Hints {
    accountant: "pass --noise-multiplier and --steps of the training to see here what is usually claimed",
    output_scale: "pass --per-batch-mean B for means over B records, --clip-norm C for gradients clipped to C",
    seed: "--seed repeats this run",
};

/// A page for readers, and the format on stdout.
#[derive(Debug, Default, Args)]
pub(crate) struct PageArgs {
    /// Write the report for readers to a self-contained HTML file, to open offline and to print.
    #[arg(long = "report", value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    /// Write findings and refuted claims to a SARIF 2.1.0 file, for code scanning.
    #[arg(long, value_name = "FILE.sarif")]
    pub(crate) sarif: Option<PathBuf>,
    /// Print in this format instead of text; `json` is the same as --json.
    #[arg(long, value_enum, value_name = "FORMAT", conflicts_with = "json")]
    pub(crate) format: Option<ReportFormat>,
}

/// A format on stdout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// One JSON document.
    Json,
    /// SARIF 2.1.0 for code scanning: a result for each finding and refuted claim.
    Sarif,
    /// JUnit XML: a test for each claim; an inconclusive one is an error.
    Junit,
    /// Markdown for a pull request.
    Markdown,
    /// YAML for the metadata of a model card on Hugging Face.
    ModelCard,
    /// CycloneDX 1.6 with a model card.
    Cyclonedx,
}

impl PageArgs {
    /// Whether anything shows more than the text does.
    pub(crate) fn shows_all(&self) -> bool {
        self.is_requested() || self.format.is_some()
    }

    /// Whether any file is requested.
    pub(crate) fn is_requested(&self) -> bool {
        self.has_drawing() || self.sarif.is_some()
    }

    /// Whether the report is written with its drawing.
    pub(crate) fn has_drawing(&self) -> bool {
        self.report.is_some() || host::renders()
    }

    /// Rejects files that cannot be written, before any work is done.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        self.report.as_deref().map_or(Ok(()), check_page)?;
        self.sarif.as_deref().map_or(Ok(()), check_sarif)
    }

    /// Writes the requested files.
    pub(crate) fn write(
        &self,
        report: &impl Reported,
        training: Option<&Path>,
        figure: impl FnOnce() -> Result<String, String>,
    ) -> Result<(), Failure> {
        let command = command_line(arguments());
        let internal = |error| Failure::with(Exit::Internal, error);
        if self.has_drawing() {
            let context = PageContext { command: &command, figure: figure(), hints: HINTS };
            let page = page(report, &context).map_err(internal)?;
            if let Some(path) = &self.report {
                check_page(path)?;
                write_text(path, &page)?;
            }
            if host::renders() {
                let picture = context.figure.ok();
                host::render(Rendered { text: report.text(HINTS), picture, page });
            }
        }
        if let Some(path) = self.sarif.as_ref().filter(|_| HAS_DISK) {
            let file = training.map(|file| file.display().to_string());
            // SARIF lists every finding in any case
            let fails_on_finding = false;
            let context =
                ExportContext { command: &command, file: file.as_deref(), fails_on_finding };
            let log = sarif(&report.summary(), &context);
            let text = serde_json::to_string_pretty(&log).map_err(internal)?;
            check_sarif(path)?;
            write_text(path, &(text + "\n"))?;
        }
        Ok(())
    }
}

fn check_sarif(path: &Path) -> Result<(), Failure> {
    if path.extension().is_none_or(|ending| !ending.eq_ignore_ascii_case("sarif")) {
        return Err(Failure::input("must end in .sarif").about(path));
    }
    check_replaces(path, SARIF_MARK)
}

fn check_page(path: &Path) -> Result<(), Failure> {
    if path.extension().is_none_or(|ending| !ending.eq_ignore_ascii_case("html")) {
        return Err(Failure::input("must end in .html").about(path));
    }
    check_replaces(path, HTML_MARK)
}
