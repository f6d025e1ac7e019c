//! Trade-off curves of audits, at cuts that were fixed before the scores were seen.

use dpscope_core::audit::bound::{BoundError, ThresholdRule};
use dpscope_core::audit::curve::{AuditCurve, edges_to_show, scores_to_show};
use dpscope_core::audit::trade_off::TradeOff;

use crate::recorded::{RecordedAudit, RecordedError, RecordedScores};
use crate::{Artefact, EngineError, Layout};

/// Most edges of histograms that a curve shows: more would be drawn finer, with a wider band.
const MOST_EDGES: usize = 192;

/// Fewest runs of each world that a band is made for: a tenth of them fixes its cuts.
const FEWEST_RUNS: usize = 20;

impl Artefact {
    /// The curve of the counted observations, with a band where exactly the planned ones are
    /// counted.
    ///
    /// # Errors
    /// Nothing is counted yet.
    pub fn curve(&self) -> Result<AuditCurve, EngineError> {
        let Layout { bins, thresholds } = &self.layout;
        let counted = self.histograms.trade_off(bins)?;
        let shown = edges_to_show(bins, thresholds, MOST_EDGES);
        if !self.is_complete() {
            return Ok(AuditCurve::observed(&counted, &shown));
        }
        let curve = AuditCurve::with_band(&counted, &shown, self.plan.significance);
        Ok(curve.map_err(BoundError::from).map_err(dpscope_core::audit::AuditError::from)?)
    }
}

impl RecordedScores<'_> {
    /// The curve of the scores.
    ///
    /// With `coverage`, which independent runs have, a seeded random tenth of each world fixes the
    /// cuts, and the rest gives rates and band at `audit.significance`: the same division as the
    /// simultaneous rule's, whose thresholds are among the cuts. Without, or with fewer than 20
    /// runs of a world, all scores are shown, without a band.
    ///
    /// # Errors
    /// A world without runs, or an argument outside its domain.
    pub fn curve(
        &self,
        audit: &RecordedAudit,
        coverage: bool,
    ) -> Result<AuditCurve, RecordedError> {
        if !coverage || self.target.len().min(self.zero_out.len()) < FEWEST_RUNS {
            let all =
                TradeOff::from_scores(self.target, self.zero_out).map_err(BoundError::from)?;
            return Ok(AuditCurve::observed(&all, &scores_to_show(&all, &[])));
        }
        let [pilot, counted] = self.divided(audit.seed, "simultaneous", 10)?;
        let thresholds = match audit.threshold_rule {
            ThresholdRule::Simultaneous => self.cuts(&pilot, counted.trials(), audit)?,
            _ => Vec::new(),
        };
        let shown = scores_to_show(&pilot, &thresholds);
        let curve = AuditCurve::with_band(&counted, &shown, audit.significance);
        Ok(curve.map_err(BoundError::from)?)
    }
}

#[cfg(test)]
mod tests {
    use dpscope_core::audit::Outcome;

    use super::*;
    use crate::Shard;
    use crate::plan::tests::plan;
    use crate::run::tests::counted;

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
    fn only_a_complete_run_has_a_band_and_it_holds_the_deciding_cut() {
        let whole = counted(plan(), Shard::WHOLE, 1, 250);
        let curve = whole.curve().unwrap();
        assert!(curve.band().is_some() && shows(&curve, &whole.outcome().unwrap()));
        assert!(curve.cuts().len() <= MOST_EDGES + 16);
        let part = counted(plan(), Shard { index: 1, count: 3 }, 1, 250).curve().unwrap();
        assert!(part.band().is_none() && part.trials().target < 10_000);
    }

    #[test]
    fn recorded_scores_have_a_band_from_the_runs_that_fixed_no_cut() {
        let uniform = |i: usize| (i as f64 * 0.618_033_988_749_894_9).fract();
        let world = |shift: f64| (0..300).map(|i| shift + 4.0 * uniform(i)).collect::<Vec<_>>();
        let (target, zero_out) = (world(1.5), world(0.0));
        let scores =
            RecordedScores { target: &target, zero_out: &zero_out, likelihood_ratios: true };
        let audit = RecordedAudit {
            threshold_rule: ThresholdRule::Simultaneous,
            delta: 1e-5,
            significance: 0.05,
            cuts: 16,
            seed: 3,
        };
        let curve = scores.curve(&audit, true).unwrap();
        assert_eq!(curve.trials().target, 270);
        assert!(shows(&curve, &scores.audit(&audit).unwrap().0));
        let dependent = scores.curve(&audit, false).unwrap();
        assert!(dependent.band().is_none() && dependent.trials().target == 300);
        let few = RecordedScores { target: &target[..19], ..scores };
        assert!(few.curve(&audit, true).unwrap().band().is_none());
    }
}
