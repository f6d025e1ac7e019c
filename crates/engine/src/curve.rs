//! Trade-off curves of audits, at thresholds fixed before the scores are seen.

use dpscope_core::audit::bound::BoundError;
use dpscope_core::audit::curve::{AuditCurve, edges_to_show};

use crate::{Artefact, EngineError, Layout};

/// Maximum number of histogram edges in a curve: more resolution would widen the band.
const MAX_EDGES: usize = 192;

impl Artefact {
    /// The curve of the counted observations, with a band if exactly the planned ones are counted.
    ///
    /// # Errors
    /// Nothing is counted yet.
    pub fn curve(&self) -> Result<AuditCurve, EngineError> {
        let Layout { bins, thresholds } = &self.layout;
        let counted = self.histograms.trade_off(bins)?;
        let shown = edges_to_show(bins, thresholds, MAX_EDGES);
        if !self.is_complete() {
            return Ok(AuditCurve::observed(&counted, &shown));
        }
        let curve = AuditCurve::with_band(&counted, &shown, self.plan.significance);
        Ok(curve.map_err(BoundError::from).map_err(dpscope_core::audit::AuditError::from)?)
    }
}

#[cfg(test)]
mod tests {
    use dpscope_core::audit::Outcome;

    use super::*;
    use crate::Shard;
    use crate::plan::tests::plan;
    use crate::run::tests::counted;

    /// Whether the rates at the reported threshold are on the curve and within its band.
    fn shows(curve: &AuditCurve, outcome: &Outcome) -> bool {
        let evidence = outcome.evidence();
        curve.cuts().iter().any(|cut| {
            let limits = cut.limits.expect("a band");
            cut.threshold == evidence.threshold
                && cut.fpr * evidence.trials.zero_out as f64
                    == evidence.errors.false_positives as f64
                && limits.fpr_upper >= evidence.fpr_upper
                && limits.fnr_upper >= evidence.fnr_upper
        })
    }

    #[test]
    fn only_a_complete_run_has_a_band_which_contains_the_reported_threshold() {
        let whole = counted(plan(), Shard::WHOLE, 1, 250);
        let curve = whole.curve().unwrap();
        assert!(curve.band().is_some() && shows(&curve, &whole.outcome().unwrap()));
        assert!(curve.cuts().len() <= MAX_EDGES + 16);
        let part = counted(plan(), Shard { index: 1, count: 3 }, 1, 250).curve().unwrap();
        assert!(part.band().is_none() && part.trials().target < 10_000);
    }
}
