//! The histograms of an audit, and their evaluation by a threshold rule.

use super::bound::{
    BoundError, Statement, ThresholdRule, at_fixed_cut, max_uncorrected, simultaneous, split,
};
use super::histogram::{HistogramError, ScoreBins, ScoreHistogram};
use super::outcome::Outcome;
use super::slope::ScoreSlope;
use super::trade_off::{TradeOff, TradeOffError, Trials};
use crate::adjacency::World;

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

    /// Histograms of two halves: even observations, then odd ones.
    ///
    /// The caller must ensure that all four have the same bins.
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
    /// A histogram does not store its edges: the caller must ensure that they are equal.
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

    /// Evaluates a threshold rule on these histograms.
    ///
    /// `complete` states that exactly the planned observations were counted; otherwise the outcome
    /// is an estimate. `thresholds` are the pilot's, for the simultaneous rule.
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
    /// `None` if the worlds do not overlap enough for a fit.
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

/// Errors of an audit.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// An error of the histograms.
    #[error(transparent)]
    Histogram(#[from] HistogramError),
    /// Invalid counts.
    #[error(transparent)]
    TradeOff(#[from] TradeOffError),
    /// An error of the rule.
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
}
