//! Trade-off curves of scores, at thresholds that were fixed before the counted scores were known.

use super::{AuditOptions, Scores, ScoresError};
use crate::audit::bound::{BoundError, ThresholdRule};
use crate::audit::curve::{AuditCurve, scores_to_show};
use crate::audit::trade_off::TradeOff;

/// Minimum number of runs per world for a band: a tenth of them fixes its thresholds.
const FEWEST_RUNS: usize = 20;

impl Scores<'_> {
    /// The trade-off curve of the scores.
    ///
    /// With `coverage` (for independent runs), a seeded random tenth of each world fixes the
    /// thresholds, and the other runs yield rates and a band at `options.significance`: the
    /// division of the simultaneous rule, whose thresholds are included. Without `coverage`, or
    /// with fewer than 20 runs of a world, the curve is that of all scores, without a band.
    ///
    /// # Errors
    /// A world without runs, or an argument outside its domain.
    pub fn curve(&self, options: &AuditOptions, coverage: bool) -> Result<AuditCurve, ScoresError> {
        if !coverage || self.target.len().min(self.zero_out.len()) < FEWEST_RUNS {
            let all =
                TradeOff::from_scores(self.target, self.zero_out).map_err(BoundError::from)?;
            return Ok(AuditCurve::observed(&all, &scores_to_show(&all, &[])));
        }
        let [pilot, counted] = self.divided(options.seed, ThresholdRule::Simultaneous)?;
        let thresholds = match options.threshold_rule {
            ThresholdRule::Simultaneous => self.cuts(&pilot, counted.trials(), options)?,
            _ => Vec::new(),
        };
        let shown = scores_to_show(&pilot, &thresholds);
        let curve = AuditCurve::with_band(&counted, &shown, options.significance);
        Ok(curve.map_err(BoundError::from)?)
    }
}
