//! Observed error rates at thresholds that were fixed beforehand, with a confidence band.

mod cuts;

pub use cuts::{edges_to_show, scores_to_show};

use crate::accounting::TradeOffPoint;
use crate::audit::trade_off::{Cut, RateIntervals, TradeOff, Trials};
use crate::interval::IntervalError;

/// Observed rates at one threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CutRates {
    /// Threshold τ.
    pub threshold: f64,
    /// Share of D′ above τ.
    pub fpr: f64,
    /// Share of D at or below τ.
    pub fnr: f64,
    /// Simultaneous limits of both rates over all thresholds of the curve; none without coverage.
    pub limits: Option<RateIntervals>,
}

/// Observed rates at several thresholds, in ascending order.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditCurve {
    trials: Trials,
    cuts: Vec<CutRates>,
}

/// A region that contains the attack's curve: two step functions, each by rising fpr.
#[derive(Debug, Clone, PartialEq)]
pub struct RateBand {
    /// fnr is at most this.
    pub most: Vec<TradeOffPoint>,
    /// fnr is at least this.
    pub least: Vec<TradeOffPoint>,
}

impl AuditCurve {
    /// Rates at thresholds that were fixed without these scores, with a simultaneous band.
    ///
    /// At each of K thresholds both rates have two Clopper–Pearson limits at tail
    /// significance/(4K).
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `counted` | error counts of all planned observations | – |
    /// | `thresholds` | the K thresholds, rising | no NaN |
    /// | `significance` | chance that any true rate is outside its limits | (0, 1) |
    ///
    /// # Guarantee
    /// With probability at least 1 − significance the true rates at all thresholds are within their
    /// limits, and the attack's whole curve within [`band`](Self::band)
    /// (`tests/coverage/curves.rs::the_band_contains_the_whole_curve_and_a_pointwise_one_does_not`).
    ///
    /// # Errors
    /// A significance outside its domain.
    ///
    /// # Reference
    /// C. Clopper and E. Pearson (1934); Bonferroni correction over thresholds.
    pub fn with_band(
        counted: &TradeOff,
        thresholds: &[f64],
        significance: f64,
    ) -> Result<Self, IntervalError> {
        let band = counted.simultaneous_band(thresholds, significance)?;
        let mut curve = Self::observed(counted, thresholds);
        for (cut, limits) in curve.cuts.iter_mut().zip(band) {
            cut.limits = Some(limits);
        }
        Ok(curve)
    }

    /// Rates at these thresholds, without coverage.
    #[must_use]
    pub fn observed(counted: &TradeOff, thresholds: &[f64]) -> Self {
        let trials = counted.trials();
        let at = |&threshold: &f64| rates(counted.at_threshold(threshold), trials);
        AuditCurve { trials, cuts: thresholds.iter().map(at).collect() }
    }

    /// The single threshold of an audit of counts, fixed beforehand; arguments as for
    /// [`with_band`](Self::with_band).
    ///
    /// # Errors
    /// More errors than trials, or a significance outside its domain.
    pub fn at_fixed_cut(
        cut: Cut,
        trials: Trials,
        significance: f64,
    ) -> Result<Self, IntervalError> {
        let limits = Some(cut.limits(trials, significance / 4.0)?);
        Ok(AuditCurve { trials, cuts: vec![CutRates { limits, ..rates(cut, trials) }] })
    }

    /// Observations that were counted.
    #[must_use]
    pub fn trials(&self) -> Trials {
        self.trials
    }

    /// The rates by rising threshold.
    #[must_use]
    pub fn cuts(&self) -> &[CutRates] {
        &self.cuts
    }

    /// Observed rates by rising fpr, both ends of the square included.
    #[must_use]
    pub fn points(&self) -> Vec<TradeOffPoint> {
        let mut points = vec![TradeOffPoint { fpr: 0.0, fnr: 1.0 }];
        points.extend(self.cuts.iter().rev().map(|c| TradeOffPoint { fpr: c.fpr, fnr: c.fnr }));
        points.push(TradeOffPoint { fpr: 1.0, fnr: 0.0 });
        points.dedup();
        points
    }

    /// The band around the attack's curve; none without coverage.
    ///
    /// Both rates are monotone in the threshold, so a limit at one threshold also holds at the
    /// next.
    #[must_use]
    pub fn band(&self) -> Option<RateBand> {
        let limits: Vec<RateIntervals> =
            self.cuts.iter().rev().map(|cut| cut.limits).collect::<Option<_>>()?;
        let (mut most, mut least) = (vec![TradeOffPoint { fpr: 0.0, fnr: 1.0 }], Vec::new());
        let (mut last_most, mut last_fpr) = (1.0, 0.0);
        for at in &limits {
            most.push(TradeOffPoint { fpr: at.fpr_upper, fnr: last_most });
            most.push(TradeOffPoint { fpr: at.fpr_upper, fnr: at.fnr_upper });
            least.push(TradeOffPoint { fpr: last_fpr, fnr: at.fnr_lower });
            least.push(TradeOffPoint { fpr: at.fpr_lower, fnr: at.fnr_lower });
            (last_most, last_fpr) = (at.fnr_upper, at.fpr_lower);
        }
        most.push(TradeOffPoint { fpr: 1.0, fnr: last_most });
        most.push(TradeOffPoint { fpr: 1.0, fnr: 0.0 });
        least.push(TradeOffPoint { fpr: last_fpr, fnr: 0.0 });
        least.push(TradeOffPoint { fpr: 1.0, fnr: 0.0 });
        most.dedup();
        least.dedup();
        Some(RateBand { most, least })
    }
}

impl RateBand {
    /// Whether the band contains a point.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `point` | rates of one test | [0, 1] each |
    #[must_use]
    pub fn contains(&self, point: TradeOffPoint) -> bool {
        // A limit applies to tests of higher or lower fpr; at its own fpr the curve may be
        // vertical.
        let above = self.most.partition_point(|step| step.fpr < point.fpr);
        let most = above.checked_sub(1).map_or(1.0, |index| self.most[index].fnr);
        let next = self.least.partition_point(|step| step.fpr <= point.fpr);
        let least = self.least.get(next).map_or(0.0, |step| step.fnr);
        (least..=most).contains(&point.fnr)
    }
}

fn rates(cut: Cut, trials: Trials) -> CutRates {
    CutRates {
        threshold: cut.threshold,
        fpr: cut.errors.false_positives as f64 / trials.zero_out as f64,
        fnr: cut.errors.false_negatives as f64 / trials.target as f64,
        limits: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::trade_off::ErrorCounts;

    fn scores(n: u32, shift: f64) -> Vec<f64> {
        (0..n).map(|i| f64::from(i % 100) + shift).collect()
    }

    #[test]
    fn observed_rates_lie_in_the_band_and_the_corners_do() {
        let counted = TradeOff::from_scores(scores(4000, 30.0), scores(3000, 0.0)).unwrap();
        let thresholds: Vec<f64> = (0..26).map(|i| f64::from(i) * 5.0).collect();
        let curve = AuditCurve::with_band(&counted, &thresholds, 0.05).unwrap();
        let band = curve.band().unwrap();
        for point in curve.points() {
            assert!(band.contains(point), "{point:?}");
        }
        for (fpr, fnr, is_held) in
            [(1e-9, 0.0, false), (1.0, 1.0, false), (0.1, 0.99, false), (0.9, 0.0, true)]
        {
            assert_eq!(band.contains(TradeOffPoint { fpr, fnr }), is_held, "{fpr} {fnr}");
        }
        for stairs in [&band.most, &band.least] {
            assert!(stairs.is_sorted_by(|a, b| a.fpr <= b.fpr && a.fnr >= b.fnr));
        }
        assert_eq!(AuditCurve::observed(&counted, &thresholds).band(), None);
    }

    #[test]
    fn a_band_of_one_threshold_is_a_rectangle() {
        let errors = ErrorCounts { false_positives: 12, false_negatives: 480 };
        let cut = Cut { threshold: f64::NAN, errors };
        let trials = Trials { target: 1000, zero_out: 1000 };
        let curve = AuditCurve::at_fixed_cut(cut, trials, 0.05).unwrap();
        let limits = curve.cuts()[0].limits.unwrap();
        let band = curve.band().unwrap();
        let contains = |fpr, fnr| band.contains(TradeOffPoint { fpr, fnr });
        assert!(contains(0.012, 0.48) && contains(limits.fpr_upper, limits.fnr_upper));
        assert!(contains(limits.fpr_lower, limits.fnr_lower));
        assert!(!contains(limits.fpr_upper * 1.01, limits.fnr_upper * 1.01));
        assert!(!contains(limits.fpr_lower * 0.99, limits.fnr_lower * 0.99));
    }
}
