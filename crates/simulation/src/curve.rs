//! Trade-off curves of audits, at thresholds fixed before the scores are seen.

use dpscope_core::audit::bound::BoundError;
use dpscope_core::audit::curve::{AuditCurve, edges_to_show};

use dpscope_engine::EngineError;

use crate::{Artefact, Layout};

/// Maximum number of histogram edges in a curve: more resolution would widen the band.
const MAX_EDGES: usize = 192;

/// The curve of the counted observations, with a band if exactly the planned ones are counted.
pub(crate) fn of_artefact(artefact: &Artefact) -> Result<AuditCurve, EngineError> {
    let Layout { bins, thresholds } = &artefact.stage;
    let counted = artefact.evidence.histograms.trade_off(bins)?;
    let shown = edges_to_show(bins, thresholds, MAX_EDGES);
    if !artefact.is_complete() {
        return Ok(AuditCurve::observed(&counted, &shown));
    }
    let curve = AuditCurve::with_band(&counted, &shown, artefact.plan.significance);
    Ok(curve.map_err(BoundError::from).map_err(dpscope_core::audit::AuditError::from)?)
}
