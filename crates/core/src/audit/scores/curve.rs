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
        let [pilot, counted] = self.divided(options.seed, ThresholdRule::Simultaneous, 10)?;
        let thresholds = match options.threshold_rule {
            ThresholdRule::Simultaneous => self.cuts(&pilot, counted.trials(), options)?,
            _ => Vec::new(),
        };
        let shown = scores_to_show(&pilot, &thresholds);
        let curve = AuditCurve::with_band(&counted, &shown, options.significance);
        Ok(curve.map_err(BoundError::from)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::Outcome;

    /// The observed rates at the deciding threshold are those of the curve, inside its limits.
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
    fn recorded_scores_have_a_band_from_the_runs_that_fixed_no_cut() {
        let uniform = |i: usize| (i as f64 * 0.618_033_988_749_894_9).fract();
        let world = |shift: f64| (0..300).map(|i| shift + 4.0 * uniform(i)).collect::<Vec<_>>();
        let (target, zero_out) = (world(1.5), world(0.0));
        let scores = Scores { target: &target, zero_out: &zero_out, likelihood_ratios: true };
        let audit = AuditOptions {
            threshold_rule: ThresholdRule::Simultaneous,
            delta: 1e-5,
            significance: 0.05,
            cuts: 16,
            seed: 3,
        };
        let curve = scores.curve(&audit, true).unwrap();
        assert_eq!(curve.trials().target, 270);
        assert!(shows(&curve, scores.audit(&audit).unwrap().outcome()));
        let dependent = scores.curve(&audit, false).unwrap();
        assert!(dependent.band().is_none() && dependent.trials().target == 300);
        let few = Scores { target: &target[..19], ..scores };
        assert!(few.curve(&audit, true).unwrap().band().is_none());
    }
}
