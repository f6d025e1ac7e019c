//! What the counts of a run say.

use dpscope_core::audit::bound::{Statement, max_uncorrected};
use dpscope_core::audit::curve::AuditCurve;
use dpscope_core::audit::trade_off::Trials;
use dpscope_core::audit::{AuditError, AuditResult, Finding, Outcome};
use dpscope_engine::{EngineError, sha256};

use crate::{Artefact, Layout, Plan};

/// Results of the counts of a run.
pub trait Evaluate {
    /// Evaluates the counts by the plan's rule.
    ///
    /// # Errors
    /// Nothing is counted yet.
    fn outcome(&self) -> Result<Outcome, EngineError>;

    /// The outcome with the uncorrected maximum of all counts and the statistics of the run.
    ///
    /// # Errors
    /// Nothing is counted yet.
    fn result(&self) -> Result<AuditResult, EngineError>;

    /// The curve of the counted observations, with a band if exactly the planned ones are counted.
    ///
    /// # Errors
    /// Nothing is counted yet.
    fn curve(&self) -> Result<AuditCurve, EngineError>;

    /// SHA-256 of bins and counts, in hexadecimal.
    #[must_use]
    fn histogram_digest(&self) -> String;
}

impl Evaluate for Artefact {
    fn outcome(&self) -> Result<Outcome, EngineError> {
        let Plan { threshold_rule, delta, significance, .. } = self.plan;
        let Layout { bins, thresholds } = &self.stage;
        let complete = self.is_complete();
        let at = Statement { delta, significance };
        Ok(self.evidence.histograms.evaluate(bins, threshold_rule, thresholds, at, complete)?)
    }

    fn result(&self) -> Result<AuditResult, EngineError> {
        let Plan { delta, significance, observations, .. } = self.plan;
        let histograms = &self.evidence.histograms;
        let trade_off = histograms.trade_off(&self.stage.bins)?;
        let uncorrected = max_uncorrected(&trade_off, delta, significance);
        let uncorrected = uncorrected.map_err(AuditError::from)?;
        let Trials { target, zero_out } = histograms.trials();
        let counted = target + zero_out;
        let partial = Finding::PartialRun { counted, planned: observations };
        Ok(AuditResult::new(self.outcome()?, significance)
            .with_uncorrected_maximum(Some(uncorrected))
            .with_findings((!self.is_complete()).then_some(partial)))
    }

    fn curve(&self) -> Result<AuditCurve, EngineError> {
        crate::curve::of_artefact(self)
    }

    fn histogram_digest(&self) -> String {
        sha256(&(&self.stage.bins, &self.evidence.histograms))
    }
}
