//! Reports of canaries of a known null distribution, as the program prints them.

use std::path::Path;

use dpscope_core::audit::one_shot::NullTails;
use dpscope_report::figure::one_shot_svg;
use dpscope_report::record::OneShotReport;

use crate::args::{ClaimArgs, write_drawing};
use crate::failure::CommandResult;
use crate::output::Delivery;

/// How a report is printed.
pub(super) struct Shown<'a> {
    pub(super) delivery: Delivery<'a>,
    pub(super) plot: Option<&'a Path>,
    pub(super) claim: &'a ClaimArgs,
}

impl Shown<'_> {
    /// Prints a report, draws it, and returns its exit code.
    pub(super) fn finish(&self, report: &OneShotReport, tails: &NullTails) -> CommandResult {
        self.finish_with(report, || tails.normal_scores().collect())
    }

    /// Prints a report, draws it with these normal scores, and returns its exit code.
    pub(super) fn finish_with(
        &self,
        report: &OneShotReport,
        normal_scores: impl Fn() -> Vec<f64>,
    ) -> CommandResult {
        self.delivery.deliver(report, || Ok(one_shot_svg(&normal_scores(), report)))?;
        if let Some(path) = self.plot {
            write_drawing(path, &one_shot_svg(&normal_scores(), report))?;
        }
        Ok(self.claim.exit(report.verdict, !report.findings.is_empty()))
    }
}
