//! Metrics that membership-inference papers report beside ε.

mod plug_in;
mod true_positives;

pub use plug_in::PlugInEpsilon;
pub use true_positives::TprAtFpr;

use super::auc::Auc;
use super::bound::{Assumes, BoundError, Statement, ThresholdRule};
use super::counts::Counts;
use super::histogram::ScoreBins;
use super::scores::{Scores, ScoresError};
use super::trade_off::{Cut, RateIntervals, TradeOff, Trials};
use super::two_worlds::{AuditError, AuditHistograms};
use crate::gdp::{gdp_epsilon, gdp_mu_lower_bound};

/// False positive rates at which the true positive rate is reported.
pub const REPORTED_FPRS: [f64; 3] = [0.001, 0.01, 0.1];

/// Metrics of one attack; none of them decides a verdict.
///
/// # Guarantee
/// Each pair of limits, and the lower bound of [`gdp`](Self::gdp), fails with probability at most
/// `significance`: pointwise, not all at once
/// (`crates/core/src/audit/auc.rs::the_interval_covers_by_enumeration_and_its_twin_does_not`,
/// `crates/core/src/audit/metrics/true_positives.rs::limits_cover_and_those_at_the_observed_threshold_do_not`,
/// `tests/coverage/intervals.rs::clopper_pearson_covers_and_its_twin_does_not`).
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AttackMetrics {
    /// Chance that a pair of limits, or the bound of the Gaussian curve, is wrong: pointwise.
    pub significance: f64,
    /// Area under the receiver operating characteristic; none for counts at one threshold, or
    /// where a finding costs coverage.
    pub auc: Option<Auc>,
    /// True positive rates at fixed false positive rates; empty where `auc` is none.
    pub tpr_at_fpr: Vec<TprAtFpr>,
    /// ε of a Gaussian trade-off curve; none where a finding costs coverage.
    pub gdp: Option<GdpEpsilon>,
    /// Ratio of the observed rates, with bootstrap quantiles: an estimate. None where no threshold
    /// has enough errors.
    pub plug_in: Option<PlugInEpsilon>,
}

/// What the metrics of an attack need.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MetricOptions {
    /// δ and significance.
    pub statement: Statement,
    /// Seed of the bootstrap.
    pub seed: u64,
    /// Whether runs are independent and their number was fixed beforehand.
    pub has_coverage: bool,
}

impl AttackMetrics {
    /// Metrics of scores of any origin. A seeded random tenth chooses the threshold of the Gaussian
    /// curve, and the other runs are counted there.
    ///
    /// # Errors
    /// A world without runs, or an argument outside its domain.
    pub fn of_scores(scores: &Scores<'_>, options: &MetricOptions) -> Result<Self, ScoresError> {
        let all =
            TradeOff::from_scores(scores.target, scores.zero_out).map_err(BoundError::from)?;
        let gaussian = match scores.divided(options.seed, ThresholdRule::Simultaneous) {
            Ok([pilot, rest]) => {
                Some((rest.at_threshold(GdpEpsilon::threshold(&pilot)), rest.trials()))
            }
            Err(ScoresError::TooFew { .. }) => None,
            Err(error) => return Err(error),
        };
        Ok(Self::of(&all.in_order(), gaussian, options)?)
    }

    /// Metrics of counted log-likelihood ratios. The threshold of the Gaussian curve is 0 nats.
    ///
    /// # Errors
    /// A world without observations, or an argument outside its domain.
    pub fn of_histograms(
        histograms: &AuditHistograms,
        bins: &ScoreBins,
        options: &MetricOptions,
    ) -> Result<Self, AuditError> {
        let all = histograms.trade_off(bins)?;
        let gaussian = (all.at_threshold(0.0), all.trials());
        Ok(Self::of(&all, Some(gaussian), options)?)
    }

    /// Metrics at every threshold; `gaussian` are counts at a threshold that was fixed without them.
    fn of(
        all: &TradeOff,
        gaussian: Option<(Cut, Trials)>,
        options: &MetricOptions,
    ) -> Result<Self, BoundError> {
        let MetricOptions { statement, seed, has_coverage } = *options;
        let significance = statement.significance;
        let at = |fpr| TprAtFpr::of(all, fpr, significance);
        let fixed = gaussian.filter(|_| has_coverage);
        Ok(AttackMetrics {
            significance,
            auc: has_coverage.then(|| Auc::of(all, significance)).transpose()?,
            tpr_at_fpr: if has_coverage {
                REPORTED_FPRS.map(at).into_iter().collect::<Result<_, _>>()?
            } else {
                Vec::new()
            },
            gdp: fixed.map(|(cut, trials)| GdpEpsilon::at(cut, trials, statement)).transpose()?,
            plug_in: PlugInEpsilon::of_trade_off(all, statement, seed),
        })
    }

    /// Metrics of error counts at one threshold that was fixed beforehand.
    ///
    /// # Errors
    /// More errors than trials, or an argument outside its domain.
    pub fn of_counts(counts: &Counts, options: &MetricOptions) -> Result<Self, BoundError> {
        let MetricOptions { statement, seed, .. } = *options;
        let (cut, trials) = (counts.cut(), counts.trials());
        Ok(AttackMetrics {
            significance: statement.significance,
            auc: None,
            tpr_at_fpr: Vec::new(),
            gdp: Some(GdpEpsilon::at(cut, trials, statement)?),
            plug_in: PlugInEpsilon::of_cut(cut, trials, statement, seed),
        })
    }
}

/// A lower bound on μ of Gaussian differential privacy, and its ε if the trade-off curve is that of
/// two Gaussians.
///
/// # Reference
/// M. Nasr et al., "Tight auditing of differentially private machine learning" (2023), section 4:
/// one threshold determines μ. Conversion by [`gdp_epsilon`].
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GdpEpsilon {
    /// Lower bound on μ.
    pub gdp_mu: f64,
    /// ε of the Gaussian curve of this μ at δ, nats; none at δ = 0, where it is infinite for every
    /// μ above 0.
    pub epsilon: Option<f64>,
    /// The Gaussian curve: without it, the value of ε has no coverage.
    pub assumes: Assumes,
}

impl GdpEpsilon {
    /// From counts at a threshold that was fixed without them.
    ///
    /// # Errors
    /// More errors than trials, or an argument outside its domain.
    pub fn at(cut: Cut, trials: Trials, statement: Statement) -> Result<Self, BoundError> {
        let Statement { delta, significance } = statement;
        if !(0.0..1.0).contains(&delta) {
            return Err(BoundError::Delta { delta });
        }
        let RateIntervals { fpr_upper, fnr_upper, .. } = cut.limits(trials, significance / 2.0)?;
        // upper limits lie in (0, 1], so that μ is defined
        let gdp_mu = gdp_mu_lower_bound(fpr_upper, fnr_upper).unwrap_or(0.0);
        let epsilon = if gdp_mu == 0.0 { Some(0.0) } else { gdp_epsilon(gdp_mu, delta).ok() };
        let rounded_down = |epsilon: f64| (epsilon * (1.0 - 1e-9) - 1e-9).max(0.0);
        Ok(GdpEpsilon {
            gdp_mu,
            epsilon: epsilon.map(rounded_down),
            assumes: Assumes::GaussianCurve,
        })
    }

    /// The threshold with the largest μ in a pilot, each error counted twice and one added, so that
    /// a threshold without errors does not win by chance.
    #[must_use]
    pub(in crate::audit) fn threshold(pilot: &TradeOff) -> f64 {
        let trials = pilot.trials();
        let rate = |events: u64, trials: u64| (events as f64 + 1.0) / (trials as f64 + 2.0);
        let mu = |cut: &Cut| {
            let fpr = rate(cut.errors.false_positives, trials.zero_out);
            let fnr = rate(cut.errors.false_negatives, trials.target);
            gdp_mu_lower_bound(fpr, fnr).unwrap_or(0.0)
        };
        let best = plug_in::few_cuts(pilot).into_iter().max_by(|a, b| mu(a).total_cmp(&mu(b)));
        best.map_or(0.0, |cut| cut.threshold)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::bound::epsilon_from_rates;
    use crate::special::normal_cdf;

    const AT: Statement = Statement { delta: 1e-5, significance: 0.05 };

    fn options(has_coverage: bool) -> MetricOptions {
        MetricOptions { statement: AT, seed: 1, has_coverage }
    }

    fn counts(rate: f64) -> Counts {
        let errors = (rate * 10_000.0) as u64;
        Counts {
            false_positives: errors,
            zero_out_trials: 10_000,
            false_negatives: errors,
            target_trials: 10_000,
        }
    }

    #[test]
    fn a_gaussian_curve_extends_one_threshold_to_its_epsilon() {
        // μ = 1 at its balanced threshold: FPR = FNR = Φ(−½)
        let found = AttackMetrics::of_counts(&counts(normal_cdf(-0.5)), &options(true)).unwrap();
        let gdp = found.gdp.unwrap();
        assert_eq!(gdp.assumes, Assumes::GaussianCurve);
        assert!(gdp.gdp_mu > 0.93 && gdp.gdp_mu < 1.0, "{gdp:?}");
        let exact = gdp_epsilon(gdp.gdp_mu, 1e-5).unwrap();
        let epsilon = gdp.epsilon.unwrap();
        assert!(epsilon < exact && epsilon > exact - 1e-8);
        // at one threshold, what holds for every curve is far less
        assert!(epsilon > 4.0 * epsilon_from_rates(0.31, 0.31, 1e-5).epsilon);
        assert!(found.auc.is_none() && found.tpr_at_fpr.is_empty());
    }

    #[test]
    fn a_gaussian_curve_has_no_finite_epsilon_at_delta_0() {
        let pure = Statement { delta: 0.0, ..AT };
        let at = |rate| GdpEpsilon::at(counts(rate).cut(), counts(rate).trials(), pure).unwrap();
        assert_eq!((at(0.3).epsilon, at(0.5).epsilon), (None, Some(0.0)));
        let invalid = Statement { delta: 1.0, ..AT };
        let refused = GdpEpsilon::at(counts(0.3).cut(), counts(0.3).trials(), invalid);
        assert_eq!(refused, Err(BoundError::Delta { delta: 1.0 }));
    }

    #[test]
    fn without_coverage_only_the_estimate_remains() {
        let world = |shift: f64| -> Vec<f64> {
            (0..900).map(|i| f64::from(i * 7919 % 900) / 300.0 + shift).collect()
        };
        let (target, zero_out) = (world(1.0), world(0.0));
        let scores = Scores::new(&target, &zero_out);
        let all = AttackMetrics::of_scores(&scores, &options(true)).unwrap();
        assert!(all.auc.is_some() && all.gdp.is_some());
        assert_eq!(all.tpr_at_fpr.iter().map(|at| at.fpr).collect::<Vec<_>>(), REPORTED_FPRS);
        let dependent = AttackMetrics::of_scores(&scores, &options(false)).unwrap();
        assert!(dependent.auc.is_none() && dependent.tpr_at_fpr.is_empty());
        assert!(dependent.gdp.is_none() && dependent.plug_in == all.plug_in);
        let single =
            AttackMetrics::of_scores(&Scores::new(&[1.0], &[0.0]), &options(true)).unwrap();
        assert!(single.gdp.is_none() && single.plug_in.is_none() && single.auc.is_some());
    }

    #[test]
    fn histograms_use_the_threshold_at_0_nats() {
        let bins = ScoreBins::new(0.01, -500, 0, 1001).unwrap();
        let mut counted = AuditHistograms::empty(&bins);
        for i in 0..2000_u64 {
            let spread = i as i64 * 7919 % 400 - 200;
            counted.add(&bins, crate::adjacency::World::Target, i, spread + 100);
            counted.add(&bins, crate::adjacency::World::ZeroOut, i, spread - 100);
        }
        let found = AttackMetrics::of_histograms(&counted, &bins, &options(true)).unwrap();
        // both rates are a quarter: μ = 2·Φ⁻¹(3/4) = 1.349
        let gdp_mu = found.gdp.unwrap().gdp_mu;
        assert!(gdp_mu > 1.2 && gdp_mu < 1.349, "{gdp_mu}");
        // the characteristic is ½ + α
        let auc = found.auc.unwrap();
        assert!(auc.lower < 0.875 && auc.upper > 0.875, "{auc:?}");
    }
}
