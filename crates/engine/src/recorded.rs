//! Audits of scores that were recorded elsewhere: which runs choose the cut and which give the
//! bound.

use dpscope_core::adjacency::World;
use dpscope_core::audit::Outcome;
use dpscope_core::bound::{
    BoundError, PredictedErrors, ThresholdRule, choose_cuts, max_uncorrected, simultaneous, split,
};
use dpscope_core::trade_off::{TradeOff, Trials};
use dpscope_shaders::random::{Purpose, stream_words};

/// Scores of recorded runs, higher for the target's world; a score that is not finite stands for a
/// failed run and counts against the attacker.
#[derive(Debug, Clone, Copy)]
pub struct RecordedScores<'a> {
    /// Runs of D.
    pub target: &'a [f64],
    /// Runs of D′.
    pub zero_out: &'a [f64],
    /// Whether the scores are meant as log-likelihood ratios in nats: their size then helps to
    /// place cuts. A wrong answer costs tightness, never validity.
    pub likelihood_ratios: bool,
}

/// How recorded scores are audited.
#[derive(Debug, Clone, Copy)]
pub struct RecordedAudit {
    /// How the threshold is chosen.
    pub threshold_rule: ThresholdRule,
    /// δ, in (0, 1).
    pub delta: f64,
    /// Chance that the bound is wrong.
    pub significance: f64,
    /// Most cuts of the simultaneous rule.
    pub cuts: u32,
    /// Seed of the random half or pilot.
    pub seed: u64,
}

/// Why recorded scores could not be audited.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RecordedError {
    /// Too few runs to divide.
    #[error(
        "{runs} runs in the {world} world cannot be divided as the {rule} rule needs; record at \
         least {least}"
    )]
    TooFew {
        /// `target` or `zero-out`.
        world: &'static str,
        /// Runs there.
        runs: usize,
        /// The rule.
        rule: &'static str,
        /// Fewest that can be divided.
        least: usize,
    },
    /// A rule for simulations.
    #[error("the threshold rule `fixed` needs counts at a threshold, not scores")]
    Rule,
    /// The rule was refused.
    #[error(transparent)]
    Bound(#[from] BoundError),
}

impl RecordedScores<'_> {
    /// What the rule makes of the scores.
    ///
    /// `Split` evaluates a seeded random half of each world; `Simultaneous` takes a seeded random
    /// tenth as its pilot, which is not counted.
    ///
    /// # Errors
    /// Too few runs, or an argument outside its domain.
    pub fn audit(&self, audit: &RecordedAudit) -> Result<Outcome, RecordedError> {
        let RecordedAudit { threshold_rule, delta, significance, .. } = *audit;
        match threshold_rule {
            ThresholdRule::MaxUncorrected => {
                let all = trade_off(self.target, self.zero_out)?;
                Ok(Outcome::Estimate(max_uncorrected(&all, delta, significance)?))
            }
            ThresholdRule::Split => {
                let [choose, evaluate] = self.divided(audit.seed, "split", 2)?;
                let choose = trade_off(&choose[0], &choose[1])?;
                let evaluate = trade_off(&evaluate[0], &evaluate[1])?;
                Ok(Outcome::Bound(split(&choose, &evaluate, delta, significance)?))
            }
            ThresholdRule::Simultaneous => {
                let [pilot, evaluate] = self.divided(audit.seed, "simultaneous", 10)?;
                let evaluate = trade_off(&evaluate[0], &evaluate[1])?;
                let thresholds = self.cuts(&pilot, evaluate.trials(), audit)?;
                let bound = simultaneous(&evaluate, &thresholds, delta, significance)?;
                Ok(Outcome::Bound(bound))
            }
            ThresholdRule::Fixed => Err(RecordedError::Rule),
        }
    }

    /// A random 1/`part` of each world, and the rest.
    fn divided(
        &self,
        seed: u64,
        rule: &'static str,
        part: usize,
    ) -> Result<[[Vec<f64>; 2]; 2], RecordedError> {
        let mut first: [Vec<f64>; 2] = Default::default();
        let mut rest: [Vec<f64>; 2] = Default::default();
        for (world, scores) in [(World::Target, self.target), (World::ZeroOut, self.zero_out)] {
            if scores.len() < 2 {
                let world = if world == World::Target { "target" } else { "zero-out" };
                return Err(RecordedError::TooFew { world, runs: scores.len(), rule, least: 2 });
            }
            let order = permutation(scores.len(), seed, world);
            let (chosen, others) = order.split_at((scores.len() / part).max(1));
            first[world.index()] = chosen.iter().map(|&i| scores[i]).collect();
            rest[world.index()] = others.iter().map(|&i| scores[i]).collect();
        }
        Ok([first, rest])
    }

    fn cuts(
        &self,
        pilot: &[Vec<f64>; 2],
        trials: Trials,
        audit: &RecordedAudit,
    ) -> Result<Vec<f64>, RecordedError> {
        let RecordedAudit { delta, significance, cuts, .. } = *audit;
        let counted = trade_off(&pilot[0], &pilot[1])?;
        let choose = |predicted: &[PredictedErrors], m: usize| {
            choose_cuts(predicted, trials, delta, significance, m)
        };
        if !self.likelihood_ratios || cuts < 2 {
            return Ok(choose(&PredictedErrors::from_counts(&counted), cuts as usize)?);
        }
        // Half of the cuts trust the scores as likelihood ratios, half only their order.
        let half = cuts as usize / 2;
        let finite = |scores: &[f64]| -> Vec<f64> {
            scores.iter().copied().filter(|s| s.is_finite()).collect()
        };
        let grid = grid_over(&counted);
        let ratios =
            PredictedErrors::from_likelihood_ratios(&finite(&pilot[0]), &finite(&pilot[1]), &grid);
        let mut thresholds = choose(&PredictedErrors::from_counts(&counted), half)?;
        thresholds.extend(choose(&ratios, cuts as usize - half)?);
        thresholds.sort_unstable_by(f64::total_cmp);
        thresholds.dedup();
        Ok(thresholds)
    }
}

fn trade_off(target: &[f64], zero_out: &[f64]) -> Result<TradeOff, RecordedError> {
    Ok(TradeOff::from_scores(target, zero_out).map_err(BoundError::from)?)
}

/// 2,000 thresholds over the pilot's range, widened by half of it at each end.
fn grid_over(pilot: &TradeOff) -> Vec<f64> {
    let mut finite = pilot.cuts().iter().map(|cut| cut.threshold).filter(|t| t.is_finite());
    let lowest = finite.next().unwrap_or(0.0);
    let highest = finite.next_back().unwrap_or(lowest);
    let length = (highest - lowest).max(f64::MIN_POSITIVE);
    let at = |i: i32| lowest + length * (f64::from(i) / 1000.0 - 0.5);
    (0..=2000).map(at).filter(|t| t.is_finite()).collect()
}

/// A random order of 0..n: Fisher–Yates with 64-bit words of the seed's own stream.
///
/// The bias of a word modulo a range is below n/2⁶⁴.
fn permutation(n: usize, seed: u64, world: World) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    let mut words = vec![0_u32; 2 * n];
    stream_words(seed, Purpose::FileSplit, world.index() as u64, 0, &mut words);
    for i in (1..n).rev() {
        let word = u64::from(words[2 * i]) << 32 | u64::from(words[2 * i + 1]);
        let range = i as u128 + 1;
        let j = ((u128::from(word) * range) >> 64) as usize;
        order.swap(i, j);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scores(n: usize, shift: f64) -> Vec<f64> {
        let uniform = |i: usize| (i as f64 * 0.618_033_988_749_894_9).fract();
        (0..n).map(|i| shift + 4.0 * uniform(i)).collect()
    }

    fn audit(threshold_rule: ThresholdRule) -> RecordedAudit {
        RecordedAudit { threshold_rule, delta: 1e-5, significance: 0.05, cuts: 16, seed: 3 }
    }

    #[test]
    fn a_permutation_is_one_and_follows_the_seed() {
        let mut order = permutation(1000, 5, World::Target);
        assert_eq!(order, permutation(1000, 5, World::Target));
        assert_ne!(order, permutation(1000, 6, World::Target));
        assert_ne!(order, permutation(1000, 5, World::ZeroOut));
        order.sort_unstable();
        assert!(order.into_iter().eq(0..1000));
    }

    #[test]
    fn every_run_is_either_chosen_from_or_evaluated() {
        let (target, zero_out) = (scores(1001, 1.0), scores(400, 0.0));
        let recorded =
            RecordedScores { target: &target, zero_out: &zero_out, likelihood_ratios: true };
        let of = |rule| recorded.audit(&audit(rule)).unwrap().evidence().trials;
        assert_eq!(of(ThresholdRule::Split), Trials { target: 501, zero_out: 200 });
        assert_eq!(of(ThresholdRule::Simultaneous), Trials { target: 901, zero_out: 360 });
        assert_eq!(of(ThresholdRule::MaxUncorrected), Trials { target: 1001, zero_out: 400 });
    }

    #[test]
    fn the_order_of_a_file_does_not_decide_who_is_evaluated() {
        // Sorted files: halves by file order would compare high scores with low ones.
        let mut target = scores(2000, 0.0);
        target.sort_unstable_by(f64::total_cmp);
        let zero_out: Vec<f64> = target.iter().rev().copied().collect();
        let recorded =
            RecordedScores { target: &target, zero_out: &zero_out, likelihood_ratios: false };
        for rule in [ThresholdRule::Split, ThresholdRule::Simultaneous] {
            assert!(recorded.audit(&audit(rule)).unwrap().value() < 0.05);
        }
    }

    #[test]
    fn too_few_runs_are_an_error() {
        let recorded =
            RecordedScores { target: &[1.0], zero_out: &[0.0, 1.0], likelihood_ratios: false };
        assert!(matches!(
            recorded.audit(&audit(ThresholdRule::Split)),
            Err(RecordedError::TooFew { .. })
        ));
    }

    #[test]
    fn failed_runs_never_help() {
        let (target, zero_out) = (scores(4000, 1.0), scores(4000, 0.0));
        let mut failing = target.clone();
        failing.iter_mut().step_by(10).for_each(|s| *s = f64::NAN);
        let value = |target: &[f64]| {
            let recorded = RecordedScores { target, zero_out: &zero_out, likelihood_ratios: false };
            recorded.audit(&audit(ThresholdRule::Split)).unwrap().value()
        };
        assert!(value(&failing) < value(&target));
    }
}
