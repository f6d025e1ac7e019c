//! What audits by something that was drawn share: options of the statement, and the report.

use clap::Args;
use dpscope_core::audit::drawn::{DrawnFinding, DrawnGuesses};
use dpscope_report::record::{DrawnReport, DrawnReportError};

use crate::args::{ClaimArgs, PageArgs, ShowArgs, StatementArgs};
use crate::failure::{CommandResult, Failure};
use crate::output::{Delivery, claim_test};

/// What is stated and tested, and how it is printed.
#[derive(Debug, Args)]
pub(crate) struct DrawnTestArgs {
    #[command(flatten)]
    statement: StatementArgs,
    #[command(flatten)]
    claim: ClaimArgs,
    #[command(flatten)]
    page: PageArgs,
    /// Print only the result and the verdict.
    #[arg(long, conflicts_with_all = ["json", "format"])]
    brief: bool,
    #[command(flatten)]
    show: ShowArgs,
}

impl DrawnTestArgs {
    /// Prints and writes the report of these guesses.
    pub(super) fn deliver(&self, guesses: DrawnGuesses, evidence: DrawnEvidence) -> CommandResult {
        self.page.check()?;
        let level = (self.statement.delta, self.statement.significance());
        let level = evidence.level.unwrap_or(level);
        let test = claim_test(&self.claim, level.0)?;
        let report = DrawnReport::new(guesses, level, evidence.findings, &test)?;
        let elapsed_ms = evidence.started.elapsed().as_secs_f64() * 1e3;
        let (input, commitment) = (evidence.input, evidence.commitment);
        let report = DrawnReport { input, commitment, elapsed_ms, ..report };
        let delivery = Delivery::of_audit(&self.page, self.show.json, self.brief, &self.claim);
        delivery.deliver(&report, || Err("this audit has no drawing yet".to_owned()))?;
        Ok(self.claim.exit(report.verdict, !report.findings.is_empty()))
    }
}

/// What guesses rest on.
pub(super) struct DrawnEvidence {
    /// What scores showed.
    pub(super) findings: Vec<DrawnFinding>,
    /// The files that were read.
    pub(super) input: Option<serde_json::Value>,
    /// δ and significance of a plan, in place of those of the options.
    pub(super) level: Option<(f64, f64)>,
    /// The commitment of a plan.
    pub(super) commitment: Option<String>,
    /// When reading began.
    pub(super) started: web_time::Instant,
}

impl DrawnEvidence {
    /// Evidence without a plan: δ and significance come from the options.
    pub(super) const fn new(
        findings: Vec<DrawnFinding>,
        input: Option<serde_json::Value>,
        started: web_time::Instant,
    ) -> Self {
        Self { findings, input, level: None, commitment: None, started }
    }
}

impl From<DrawnReportError> for Failure {
    fn from(error: DrawnReportError) -> Self {
        match error {
            DrawnReportError::Guesses(error) => Failure::input(error),
            DrawnReportError::Claim(error) => error.into(),
        }
    }
}
