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
