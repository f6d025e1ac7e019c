//! The histograms of a whole audit, and what a threshold rule makes of them.

mod result;

pub use result::{AuditResult, ValueAtCut};

use crate::adjacency::World;
use crate::bound::{
    BoundError, EpsilonEstimate, EpsilonLowerBound, Evidence, Statement, ThresholdRule,
    at_fixed_cut, max_uncorrected, simultaneous, split,
};
use crate::histogram::{HistogramError, ScoreBins, ScoreHistogram};
use crate::math::exp;
use crate::trade_off::{TradeOff, TradeOffError, Trials};

/// Histograms of both worlds, each in two halves by the parity of the observation's index.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct AuditHistograms {
    /// Halves of D: even observations, odd observations.
    target: [ScoreHistogram; 2],
    /// Halves of D′.
    zero_out: [ScoreHistogram; 2],
}

impl AuditHistograms {
    /// No observations yet.
    #[must_use]
    pub fn empty(bins: &ScoreBins) -> Self {
        let half = || [ScoreHistogram::empty(bins), ScoreHistogram::empty(bins)];
        AuditHistograms { target: half(), zero_out: half() }
    }

    /// Histograms of given halves: of even observations, then of odd ones.
    ///
    /// That all four have the same bins is for the caller to know.
    #[must_use]
    pub fn from_halves(target: [ScoreHistogram; 2], zero_out: [ScoreHistogram; 2]) -> Self {
        AuditHistograms { target, zero_out }
    }

    /// Counts the score of observation `observation` of `world`.
    pub fn add(&mut self, bins: &ScoreBins, world: World, observation: u64, score: i64) {
        self.world_mut(world)[(observation & 1) as usize].add(bins, score);
    }

    /// Adds another audit's histograms with the same bins.
    ///
    /// A histogram holds no edges: that they are the same is for the caller to know.
    ///
    /// # Errors
    /// Another number of bins, or a count above 2⁶⁴ − 1; `self` may then be changed in part.
    pub fn merge(&mut self, other: &AuditHistograms) -> Result<(), HistogramError> {
        for world in World::BOTH {
            for (mine, theirs) in self.world_mut(world).iter_mut().zip(other.world(world)) {
                mine.merge(theirs)?;
            }
        }
        Ok(())
    }

    /// The two halves of one world.
    #[must_use]
    pub fn world(&self, world: World) -> &[ScoreHistogram; 2] {
        match world {
            World::Target => &self.target,
            World::ZeroOut => &self.zero_out,
        }
    }

    fn world_mut(&mut self, world: World) -> &mut [ScoreHistogram; 2] {
        match world {
            World::Target => &mut self.target,
            World::ZeroOut => &mut self.zero_out,
        }
    }

    /// Both halves of one world together.
    ///
    /// # Errors
    /// A count above 2⁶⁴ − 1.
    pub fn whole(&self, world: World) -> Result<ScoreHistogram, HistogramError> {
        let [even, odd] = self.world(world);
        let mut whole = even.clone();
        whole.merge(odd)?;
        Ok(whole)
    }

    /// Observations counted.
    #[must_use]
    pub fn trials(&self) -> Trials {
        let total = |world| self.world(world).iter().map(ScoreHistogram::total).sum();
        Trials { target: total(World::Target), zero_out: total(World::ZeroOut) }
    }

    /// As [`trials`](Self::trials), for counts that were read from outside.
    ///
    /// # Errors
    /// A total above 2⁶⁴ − 1.
    pub fn checked_trials(&self) -> Result<Trials, HistogramError> {
        let counts = |world| self.world(world).iter().flat_map(ScoreHistogram::counts);
        let total = |world| counts(world).try_fold(0_u64, |sum, &n| sum.checked_add(n));
        let [target, zero_out] =
            World::BOTH.map(|world| total(world).ok_or(HistogramError::Overflow));
        Ok(Trials { target: target?, zero_out: zero_out? })
    }

    /// Scores outside the inner bins, both ends, per world.
    #[must_use]
    pub fn saturated(&self) -> Trials {
        let ends = |h: &ScoreHistogram| h.saturated().0 + h.saturated().1;
        let total = |world| self.world(world).iter().map(ends).sum();
        Trials { target: total(World::Target), zero_out: total(World::ZeroOut) }
    }

    /// Whether every histogram has these bins.
    #[must_use]
    pub fn fits(&self, bins: &ScoreBins) -> bool {
        let fits = |h: &ScoreHistogram| h.counts().len() == bins.len();
        World::BOTH.iter().all(|&world| self.world(world).iter().all(fits))
    }

    /// The trade-off curve of all observations.
    ///
    /// # Errors
    /// A world without observations.
    pub fn trade_off(&self, bins: &ScoreBins) -> Result<TradeOff, AuditError> {
        let [d, d_prime] = [self.whole(World::Target)?, self.whole(World::ZeroOut)?];
        Ok(TradeOff::from_histograms(bins, &d, &d_prime)?)
    }

    fn half(&self, bins: &ScoreBins, half: usize) -> Result<TradeOff, AuditError> {
        Ok(TradeOff::from_histograms(bins, &self.target[half], &self.zero_out[half])?)
    }

    /// What `rule` makes of these histograms.
    ///
    /// `complete` says that exactly the planned observations were counted; without it there is no
    /// bound, only an estimate. `thresholds` are the pilot's, for the simultaneous rule.
    ///
    /// # Errors
    /// A world without observations, or an argument outside its domain.
    pub fn evaluate(
        &self,
        bins: &ScoreBins,
        rule: ThresholdRule,
        thresholds: &[f64],
        statement: Statement,
        complete: bool,
    ) -> Result<Outcome, AuditError> {
        let Statement { delta, significance } = statement;
        let bound = match rule {
            ThresholdRule::MaxUncorrected => {
                let estimate = max_uncorrected(&self.trade_off(bins)?, delta, significance)?;
                return Ok(Outcome::Estimate(estimate));
            }
            ThresholdRule::Split => {
                split(&self.half(bins, 0)?, &self.half(bins, 1)?, delta, significance)?
            }
            ThresholdRule::Simultaneous => {
                simultaneous(&self.trade_off(bins)?, thresholds, delta, significance)?
            }
            ThresholdRule::Fixed => {
                let trade_off = self.trade_off(bins)?;
                let threshold = *thresholds.first().ok_or(BoundError::NoCuts)?;
                let cut = trade_off.at_threshold(threshold);
                at_fixed_cut(cut, trade_off.trials(), delta, significance)?
            }
        };
        Ok(if complete { Outcome::Bound(bound) } else { Outcome::Estimate(bound.into_estimate()) })
    }

    /// Slope of the log-odds of D against the score, by logistic regression over all inner bins: 1
    /// where the score is the log-likelihood ratio of what was drawn.
    ///
    /// `None` where the worlds do not overlap enough to tell.
    ///
    /// # Errors
    /// A count above 2⁶⁴ − 1.
    pub fn slope(&self, bins: &ScoreBins) -> Result<Option<ScoreSlope>, HistogramError> {
        let [d, d_prime] = [self.whole(World::Target)?, self.whole(World::ZeroOut)?];
        let inner = 1..bins.len() - 1;
        let counts = inner.map(|bin| {
            let (n, n_prime) = (d.counts()[bin] as f64, d_prime.counts()[bin] as f64);
            (bins.centre(bin), n, n + n_prime)
        });
        let seen: Vec<_> = counts.filter(|&(_, _, n)| n > 0.0).collect();
        Ok(ScoreSlope::fit(&seen))
    }
}

/// Logistic regression of the world on the score.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ScoreSlope {
    /// Fitted slope; 1 for a log-likelihood ratio.
    pub slope: f64,
    /// Its standard error, from the Fisher information.
    pub standard_error: f64,
    /// Bins that held scores.
    pub bins: u32,
}

impl ScoreSlope {
    /// Maximum likelihood from (score, observations of D, observations of both) by Newton's method.
    fn fit(points: &[(f64, f64, f64)]) -> Option<Self> {
        let total: f64 = points.iter().map(|p| p.2).sum();
        let centre = points.iter().map(|p| p.0 * p.2).sum::<f64>() / total;
        let (mut intercept, mut slope) = (centre, 1.0);
        for _ in 0..50 {
            let (mut g0, mut g1) = (0.0, 0.0);
            let (mut h00, mut h01, mut h11) = (0.0, 0.0, 0.0);
            for &(score, n_target, n) in points {
                let x = score - centre;
                let p = 1.0 / (1.0 + exp(-(intercept + slope * x)));
                let (residual, weight) = (n_target - n * p, n * p * (1.0 - p));
                g0 += residual;
                g1 += residual * x;
                h00 += weight;
                h01 += weight * x;
                h11 += weight * x * x;
            }
            let determinant = h00 * h11 - h01 * h01;
            if !(determinant > 1e-9 * h00 * h11) {
                return None;
            }
            let change = (h00 * g1 - h01 * g0) / determinant;
            intercept += (h11 * g0 - h01 * g1) / determinant;
            slope += change;
            let standard_error = (h00 / determinant).sqrt();
            if change.abs() < 1e-6 * standard_error.min(1.0) {
                let bins = points.len() as u32;
                return (standard_error < 0.5).then_some(ScoreSlope {
                    slope,
                    standard_error,
                    bins,
                });
            }
        }
        None
    }
}

/// What an audit found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Outcome {
    /// A value with coverage.
    Bound(EpsilonLowerBound),
    /// A value without.
    Estimate(EpsilonEstimate),
}

impl Outcome {
    /// The largest of several outcomes of one audit: a bound if all are bounds, at the sum of their
    /// significances ([`EpsilonLowerBound::best_of`]).
    #[must_use]
    pub fn best_of(outcomes: &[Outcome]) -> Option<Outcome> {
        let bounds: Vec<EpsilonLowerBound> = outcomes
            .iter()
            .filter_map(|outcome| match outcome {
                Outcome::Bound(bound) => Some(*bound),
                Outcome::Estimate(_) => None,
            })
            .collect();
        if bounds.len() == outcomes.len() {
            return EpsilonLowerBound::best_of(&bounds).map(Outcome::Bound);
        }
        let largest = outcomes.iter().max_by(|a, b| a.value().total_cmp(&b.value()))?;
        Some(largest.into_estimate())
    }

    /// The same value without a claim to coverage.
    #[must_use]
    pub fn into_estimate(self) -> Outcome {
        match self {
            Outcome::Bound(bound) => Outcome::Estimate(bound.into_estimate()),
            estimate @ Outcome::Estimate(_) => estimate,
        }
    }

    /// ε in nats.
    #[must_use]
    pub fn value(&self) -> f64 {
        match self {
            Outcome::Bound(bound) => bound.value(),
            Outcome::Estimate(estimate) => estimate.value(),
        }
    }

    /// The deciding cut.
    #[must_use]
    pub fn evidence(&self) -> &Evidence {
        match self {
            Outcome::Bound(bound) => bound.evidence(),
            Outcome::Estimate(estimate) => estimate.evidence(),
        }
    }
}

/// Why an audit has no outcome.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// Histograms could not be joined.
    #[error(transparent)]
    Histogram(#[from] HistogramError),
    /// Counts were refused.
    #[error(transparent)]
    TradeOff(#[from] TradeOffError),
    /// A rule was refused.
    #[error(transparent)]
    Bound(#[from] BoundError),
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: Statement = Statement { delta: 1e-5, significance: 0.05 };

    fn histograms() -> (ScoreBins, AuditHistograms) {
        let bins = ScoreBins::new(0.01, -500, 2, 253).unwrap();
        let mut h = AuditHistograms::empty(&bins);
        for i in 0..4000_u64 {
            let spread = (i as i64 * 7919) % 300;
            h.add(&bins, World::Target, i, spread - 100);
            h.add(&bins, World::ZeroOut, i, spread - 200);
        }
        (bins, h)
    }

    #[test]
    fn only_a_complete_run_has_a_bound() {
        let (bins, h) = histograms();
        for rule in [ThresholdRule::Split, ThresholdRule::Simultaneous] {
            let whole = h.evaluate(&bins, rule, &[0.5], AT, true).unwrap();
            let part = h.evaluate(&bins, rule, &[0.5], AT, false).unwrap();
            assert!(matches!(whole, Outcome::Bound(_)) && matches!(part, Outcome::Estimate(_)));
            assert_eq!(whole.value(), part.value());
        }
        let rule = ThresholdRule::MaxUncorrected;
        let estimate = h.evaluate(&bins, rule, &[], AT, true).unwrap();
        assert!(matches!(estimate, Outcome::Estimate(_)));
    }

    #[test]
    fn split_evaluates_the_half_that_did_not_choose() {
        let (bins, h) = histograms();
        let found = h.evaluate(&bins, ThresholdRule::Split, &[], AT, true).unwrap();
        assert_eq!(found.evidence().trials, Trials { target: 2000, zero_out: 2000 });
    }

    #[test]
    fn the_slope_of_exact_log_odds_is_recovered() {
        let points = |slope: f64| -> Vec<(f64, f64, f64)> {
            let at = |i: i32| {
                let x = f64::from(i) * 0.1;
                let n = 1000.0 * exp(-x * x / 4.0);
                (x, n / (1.0 + exp(-slope * x - 0.3)), n)
            };
            (-40..=60).map(at).collect()
        };
        for slope in [1.0, 0.9, 2.5] {
            let found = ScoreSlope::fit(&points(slope)).unwrap();
            assert!((found.slope - slope).abs() < 1e-5, "{found:?}");
        }
        let separated = [(-1.0, 0.0, 50.0), (-0.5, 0.0, 9.0), (0.5, 30.0, 30.0), (1.0, 9.0, 9.0)];
        assert_eq!(ScoreSlope::fit(&separated), None);
        assert_eq!(ScoreSlope::fit(&[(0.0, 1.0, 2.0)]), None);
        assert_eq!(ScoreSlope::fit(&[]), None);
    }
}
