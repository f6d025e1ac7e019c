//! Audits of scores that were recorded elsewhere: which runs choose the cut and which give the
//! bound.

use dpscope_core::adjacency::World;
use dpscope_core::audit::Outcome;
use dpscope_core::audit::bound::{
    BoundError, EpsilonEstimate, PredictedErrors, ThresholdRule, choose_cuts, max_uncorrected,
    simultaneous, split,
};
use dpscope_core::audit::trade_off::{TradeOff, Trials};
use dpscope_core::random::{Purpose, Words};

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
    /// What the rule makes of the scores, and the uncorrected maximum over all of them.
    ///
    /// `Split` evaluates a seeded random half of each world; `Simultaneous` takes a seeded random
    /// tenth as its pilot, which is not counted.
    ///
    /// # Errors
    /// Too few runs, or an argument outside its domain.
    pub fn audit(
        &self,
        audit: &RecordedAudit,
    ) -> Result<(Outcome, EpsilonEstimate), RecordedError> {
        let RecordedAudit { threshold_rule, delta, significance, seed, .. } = *audit;
        let uncorrected = |all: &TradeOff| max_uncorrected(all, delta, significance);
        let bound = |chosen: &TradeOff, evaluated: &TradeOff, bound| {
            let all = chosen.joined(evaluated).unwrap_or_else(|| evaluated.clone());
            Ok((Outcome::Bound(bound), uncorrected(&all)?))
        };
        match threshold_rule {
            ThresholdRule::MaxUncorrected => {
                let all = TradeOff::from_scores(self.target, self.zero_out);
                let estimate = uncorrected(&all.map_err(BoundError::from)?)?;
                Ok((Outcome::Estimate(estimate), estimate))
            }
            ThresholdRule::Split => {
                let [choose, evaluate] = self.divided(seed, "split", 2)?;
                bound(&choose, &evaluate, split(&choose, &evaluate, delta, significance)?)
            }
            ThresholdRule::Simultaneous => {
                let [pilot, evaluate] = self.divided(seed, "simultaneous", 10)?;
                let thresholds = self.cuts(&pilot, evaluate.trials(), audit)?;
                let found = simultaneous(&evaluate, &thresholds, delta, significance)?;
                bound(&pilot, &evaluate, found)
            }
            ThresholdRule::Fixed => Err(RecordedError::Rule),
        }
    }

    /// A random 1/`part` of each world, and the rest.
    pub(crate) fn divided(
        &self,
        seed: u64,
        rule: &'static str,
        part: usize,
    ) -> Result<[TradeOff; 2], RecordedError> {
        let world = |world: World, scores: &[f64]| {
            if scores.len() < 2 {
                let (world, runs) = (world.name(), scores.len());
                return Err(RecordedError::TooFew { world, runs, rule, least: 2 });
            }
            let wanted = (scores.len() / part).max(1);
            Ok(random_subset(scores, wanted, seed, world))
        };
        let (chosen, rest) = world(World::Target, self.target)?;
        let (chosen_zero_out, rest_zero_out) = world(World::ZeroOut, self.zero_out)?;
        let trade_off = |d, d_prime| TradeOff::from_scores(d, d_prime).map_err(BoundError::from);
        Ok([trade_off(chosen, chosen_zero_out)?, trade_off(rest, rest_zero_out)?])
    }

    pub(crate) fn cuts(
        &self,
        pilot: &TradeOff,
        trials: Trials,
        audit: &RecordedAudit,
    ) -> Result<Vec<f64>, RecordedError> {
        let RecordedAudit { delta, significance, cuts, .. } = *audit;
        let choose = |predicted: &[PredictedErrors], m: usize| {
            choose_cuts(predicted, trials, delta, significance, m)
        };
        let grid = grid_over(pilot);
        if !self.likelihood_ratios || cuts < 2 || grid.is_empty() {
            return Ok(choose(&PredictedErrors::from_counts(pilot), cuts as usize)?);
        }
        // Half of the cuts trust the scores as likelihood ratios, half only their order.
        let half = cuts as usize / 2;
        let ratios = PredictedErrors::from_likelihood_ratios(pilot, &grid);
        let mut thresholds = choose(&PredictedErrors::from_counts(pilot), half)?;
        thresholds.extend(choose(&ratios, cuts as usize - half)?);
        thresholds.sort_unstable_by(f64::total_cmp);
        thresholds.dedup();
        Ok(thresholds)
    }
}

/// 2,000 thresholds over the pilot's range, widened by half of it at each end; none where the range
/// exceeds every float.
fn grid_over(pilot: &TradeOff) -> Vec<f64> {
    let (lowest, highest) = pilot.score_range().unwrap_or((0.0, 0.0));
    let length = (highest - lowest).max(f64::MIN_POSITIVE);
    let at = |i: i32| lowest + length * (f64::from(i) / 1000.0 - 0.5);
    (0..=2000).map(at).filter(|t| t.is_finite()).collect()
}

/// A uniformly random subset of `wanted` scores, and the rest, each in file order: one word a score
/// decides whether it is taken, with probability (still wanted)/(still to come).
///
/// The bias of a 32-bit word against that probability is below 2⁻³².
fn random_subset(scores: &[f64], wanted: usize, seed: u64, world: World) -> (Vec<f64>, Vec<f64>) {
    let mut chosen = Vec::with_capacity(wanted);
    let mut rest = Vec::with_capacity(scores.len() - wanted);
    let mut words = Words::new(seed, Purpose::FileSplit, world.index() as u64);
    for (&score, to_come) in scores.iter().zip((1..=scores.len() as u64).rev()) {
        let still_wanted = (wanted - chosen.len()) as u64;
        if (u64::from(words.next_word()) * to_come) >> 32 < still_wanted {
            chosen.push(score);
        } else {
            rest.push(score);
        }
    }
    (chosen, rest)
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
    fn a_subset_has_its_size_and_follows_the_seed() {
        let scores: Vec<f64> = (0..10_001).map(f64::from).collect();
        let subset = |seed, world| random_subset(&scores, 4_000, seed, world);
        let (chosen, rest) = subset(5, World::Target);
        assert_eq!((chosen.len(), rest.len()), (4_000, 6_001));
        let mut all = [chosen.clone(), rest].concat();
        all.sort_unstable_by(f64::total_cmp);
        assert_eq!(all, scores);
        assert_eq!(subset(5, World::Target).0, chosen);
        assert_ne!(subset(6, World::Target).0, chosen);
        assert_ne!(subset(5, World::ZeroOut).0, chosen);
        // Every tenth of the file gives its share: 400 ± 15.5 of 1,000.
        for tenth in 0..10 {
            let from = f64::from(tenth * 1000);
            let share = chosen.iter().filter(|&&s| s >= from && s < from + 1000.0).count();
            assert!((330..=470).contains(&share), "{tenth}: {share}");
        }
        assert_eq!(random_subset(&scores, 10_001, 1, World::Target).1.len(), 0);
    }

    #[test]
    fn every_run_is_either_chosen_from_or_evaluated() {
        let (target, zero_out) = (scores(1001, 1.0), scores(400, 0.0));
        let recorded =
            RecordedScores { target: &target, zero_out: &zero_out, likelihood_ratios: true };
        let of = |rule| recorded.audit(&audit(rule)).unwrap().0.evidence().trials;
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
            assert!(recorded.audit(&audit(rule)).unwrap().0.value() < 0.05);
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
    fn scores_whose_range_exceeds_every_float_are_audited_by_their_order() {
        let stretched = |shift: f64| -> Vec<f64> {
            scores(400, shift).iter().map(|s| (s / 2.5 - 1.0) * f64::MAX).collect()
        };
        let (target, zero_out) = (stretched(1.0), stretched(0.0));
        let value = |likelihood_ratios| {
            let recorded =
                RecordedScores { target: &target, zero_out: &zero_out, likelihood_ratios };
            recorded.audit(&audit(ThresholdRule::Simultaneous)).unwrap().0.value()
        };
        assert!(value(true) > 0.5 && value(true) == value(false), "{}", value(true));
    }

    #[test]
    fn failed_runs_never_help() {
        let (target, zero_out) = (scores(4000, 1.0), scores(4000, 0.0));
        let mut failing = target.clone();
        failing.iter_mut().step_by(10).for_each(|s| *s = f64::NAN);
        let value = |target: &[f64]| {
            let recorded = RecordedScores { target, zero_out: &zero_out, likelihood_ratios: false };
            recorded.audit(&audit(ThresholdRule::Split)).unwrap().0.value()
        };
        assert!(value(&failing) < value(&target));
    }
}
