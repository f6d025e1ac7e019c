//! Audits of scores of any origin: which runs choose the threshold and which are evaluated.

mod curve;

use super::bound::{
    BoundError, PredictedErrors, ThresholdRule, choose_cuts, max_uncorrected, simultaneous,
    split_by_pilot,
};
use super::finding::Finding;
use super::outcome::Outcome;
use super::planner::PlannedAudit;
use super::repeats::Repeats;
use super::result::AuditResult;
use super::trade_off::{TradeOff, Trials};
use crate::adjacency::World;
use crate::random::{Purpose, Words};
use crate::recorded::independence::Dependence;

/// Scores of runs of both worlds, higher if the attack suspects the target; a score that is not
/// finite is a failed run and counts against the attack.
///
/// # Example
/// ```
/// use dpscope_core::audit::{AuditOptions, Scores};
/// # let world = |shift: f64| (0..2000).map(|i| shift + f64::from(i * 7919 % 2000) / 1e3).collect();
/// # let (target, zero_out): (Vec<f64>, Vec<f64>) = (world(1.000_25), world(0.0));
/// let options = AuditOptions { delta: 1e-5, seed: 3, ..AuditOptions::default() };
/// let result = Scores::new(&target, &zero_out).audit(&options)?;
/// println!("epsilon >= {:.4}", result.epsilon());
/// # assert_eq!(format!("{:.4}", result.bound().unwrap().value()), "4.4536");
/// # Ok::<(), dpscope_core::audit::ScoresError>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Scores<'a> {
    /// Runs of D.
    pub target: &'a [f64],
    /// Runs of D′.
    pub zero_out: &'a [f64],
    /// Whether the scores are log-likelihood ratios in nats: their values then help to choose
    /// thresholds. A wrong setting costs tightness, never validity.
    pub likelihood_ratios: bool,
}

/// Options of an audit of scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AuditOptions {
    /// How the threshold is chosen.
    pub threshold_rule: ThresholdRule,
    /// δ of the bound, in [0, 1).
    pub delta: f64,
    /// Chance that the bound is wrong, in (0, 1).
    pub significance: f64,
    /// Maximum number of thresholds of the simultaneous rule, ≥ 1.
    pub cuts: u32,
    /// Seed of the random half or pilot. A bound requires a seed that was fixed before the scores
    /// were known.
    pub seed: u64,
}

impl Default for AuditOptions {
    /// At δ = 10⁻⁵ and 95 % confidence, thresholds chosen by a tenth of the runs
    /// ([`ThresholdRule::Split`], the program's default for scores), seed 0.
    fn default() -> Self {
        AuditOptions {
            threshold_rule: ThresholdRule::Split,
            delta: 1e-5,
            significance: 0.05,
            cuts: PlannedAudit::DEFAULT_CUTS,
            seed: 0,
        }
    }
}

/// Fewer equal scores, or decisions in one world, may be a coincidence.
const LEAST_IDENTICAL: usize = 20;

/// Scores with as many values in a world are not those of decisions.
const MANY_VALUES: usize = LEAST_IDENTICAL;

/// Errors of audits of scores.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ScoresError {
    /// Too few runs to divide.
    #[error(
        "{runs} runs in the {} world are too few for the {} rule; record at \
         least {least}", world.name(), rule.name()
    )]
    TooFew {
        /// The world.
        world: World,
        /// Runs there.
        runs: usize,
        /// The rule.
        rule: ThresholdRule,
        /// Minimum number of runs.
        least: usize,
    },
    /// Both worlds have the same scores, in the same order.
    #[error(
        "the scores of the two worlds are identical in all {runs} runs; pass the scores of \
         different runs"
    )]
    Identical {
        /// Runs of each world.
        runs: usize,
    },
    /// Labels in place of the scores of a world.
    #[error(
        "the {} world contains at most two different numbers, and the other world many: these are labels; \
         pass the scores of each world separately", world.name()
    )]
    Labels {
        /// The world.
        world: World,
    },
    /// One score and no other.
    #[error("every score is {score}, and such scores show no leak; pass scores that vary")]
    Constant {
        /// The score.
        score: f64,
    },
    /// A rule that needs counts.
    #[error("the threshold rule `fixed` needs counts at a threshold, not scores")]
    Rule,
    /// An error of the rule.
    #[error(transparent)]
    Bound(#[from] BoundError),
}

impl<'a> Scores<'a> {
    /// Scores of which only the order is meaningful.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `target` | one score per run of D | any number; higher where the target is suspected |
    /// | `zero_out` | one score per run of D′ | the same |
    #[must_use]
    pub const fn new(target: &'a [f64], zero_out: &'a [f64]) -> Self {
        Scores { target, zero_out, likelihood_ratios: false }
    }

    /// Applies the threshold rule, and computes the uncorrected maximum over all scores.
    ///
    /// `Split` and `Simultaneous` take a seeded random tenth of each world as their pilot, which is not
    /// counted.
    ///
    /// # Guarantee
    /// If runs are independent and their number and the seed were fixed beforehand, a bound exceeds
    /// ε with probability at most `significance`
    /// (`tests/coverage/bounds.rs::fixed_cut_covers_by_enumeration_and_its_twin_does_not`); each
    /// run either chooses thresholds or is evaluated
    /// (`unit::each_run_either_chooses_or_is_evaluated`). Copied scores leave an estimate: independent
    /// ones, discrete or not, do so with probability at most 4·10⁻⁵
    /// (`unit::copied_scores_are_a_finding_and_ties_are_not`).
    ///
    /// # Errors
    /// Too few runs, identical worlds, labels in place of scores, or an argument outside its domain.
    pub fn audit(&self, options: &AuditOptions) -> Result<AuditResult, ScoresError> {
        if options.threshold_rule != ThresholdRule::Fixed {
            self.check_varies()?;
            self.check_no_labels()?;
        }
        self.audit_with(options, self.repeated())
    }

    /// Audits scores of runs that were already compared with each other by more than their scores.
    pub(in crate::audit) fn audit_compared(
        &self,
        options: &AuditOptions,
    ) -> Result<AuditResult, ScoresError> {
        self.audit_with(options, None)
    }

    fn audit_with(
        &self,
        options: &AuditOptions,
        repeated: Option<Finding>,
    ) -> Result<AuditResult, ScoresError> {
        let AuditOptions { threshold_rule, delta, significance, seed, .. } = *options;
        if threshold_rule != ThresholdRule::Fixed {
            self.check_identical()?;
        }
        let joined =
            |chosen: TradeOff, evaluated: TradeOff| chosen.joined(&evaluated).unwrap_or(evaluated);
        let (bound, all) = match threshold_rule {
            ThresholdRule::MaxUncorrected => {
                let all = TradeOff::from_scores(self.target, self.zero_out);
                (None, all.map_err(BoundError::from)?)
            }
            ThresholdRule::Split => {
                let [choose, evaluate] = self.divided(seed, ThresholdRule::Split)?;
                let bound = split_by_pilot(&choose, &evaluate, delta, significance)?;
                (Some(bound), joined(choose, evaluate))
            }
            ThresholdRule::Simultaneous => {
                let [pilot, evaluate] = self.divided(seed, ThresholdRule::Simultaneous)?;
                let thresholds = self.cuts(&pilot, evaluate.trials(), options)?;
                let bound = simultaneous(&evaluate, &thresholds, delta, significance)?;
                (Some(bound), joined(pilot, evaluate))
            }
            ThresholdRule::Fixed => return Err(ScoresError::Rule),
        };
        let uncorrected = max_uncorrected(&all, delta, significance)?;
        let outcome = bound.map_or(Outcome::Estimate(uncorrected), Outcome::Bound);
        // its limits are those of independent runs
        let reversed = repeated.is_none().then(|| Finding::scores_reversed(&all)).flatten();
        Ok(AuditResult::new(outcome, significance)
            .with_uncorrected_maximum(Some(uncorrected))
            .with_findings(self.failed_runs())
            .with_findings(repeated)
            .with_findings(reversed))
    }

    /// Finding of scores that occur several times in a world, or in both.
    fn repeated(&self) -> Option<Finding> {
        let within = |world: World, scores: &[f64]| {
            let Repeats { values, times, p_value } = Repeats::within(scores)?;
            let runs = scores.len() as u64;
            let dependence = Dependence::RepeatedScores { values, times, runs };
            Some(Finding::Dependence { world: Some(world), p_value, dependence })
        };
        let shared = |of: World, scores: &[f64], others: &[f64]| {
            let Repeats { values, times, p_value } = Repeats::shared(scores, others)?;
            let dependence = Dependence::SharedScores { of, values, times };
            Some(Finding::Dependence { world: None, p_value, dependence })
        };
        let (target, zero_out) = (self.target, self.zero_out);
        within(World::Target, target)
            .or_else(|| within(World::ZeroOut, zero_out))
            .or_else(|| shared(World::Target, target, zero_out))
            .or_else(|| shared(World::ZeroOut, zero_out, target))
    }

    /// Rejects one file passed for both worlds.
    fn check_identical(&self) -> Result<(), ScoresError> {
        let bits = |scores: &'a [f64]| scores.iter().map(|score| score.to_bits());
        let runs = self.target.len();
        if runs >= LEAST_IDENTICAL && bits(self.target).eq(bits(self.zero_out)) {
            return Err(ScoresError::Identical { runs });
        }
        Ok(())
    }

    /// Rejects scores that are all equal.
    fn check_varies(&self) -> Result<(), ScoresError> {
        let mut scores = self.target.iter().chain(self.zero_out);
        let Some(&first) = scores.next() else { return Ok(()) };
        let is_constant = first.is_finite() && scores.all(|&score| score == first);
        if is_constant { Err(ScoresError::Constant { score: first }) } else { Ok(()) }
    }

    /// Rejects one array of scores and one of labels, as classifier metrics take them: at most two
    /// values in one world, and many in the other. Decisions of an attack have few values in both worlds.
    fn check_no_labels(&self) -> Result<(), ScoresError> {
        let (target, zero_out) = (self.target, self.zero_out);
        let has_many = |scores: &[f64]| distinct(scores, MANY_VALUES) == MANY_VALUES;
        let world = match (is_of_labels(target), is_of_labels(zero_out)) {
            (true, false) if has_many(zero_out) => World::Target,
            (false, true) if has_many(target) => World::ZeroOut,
            _ => return Ok(()),
        };
        Err(ScoresError::Labels { world })
    }

    fn failed_runs(&self) -> Option<Finding> {
        let failed = |scores: &[f64]| scores.iter().filter(|s| !s.is_finite()).count() as u64;
        Finding::failed_runs(failed(self.target), failed(self.zero_out))
    }

    /// The runs of each world that choose thresholds, and the rest.
    pub(in crate::audit) fn divided(
        &self,
        seed: u64,
        rule: ThresholdRule,
    ) -> Result<[TradeOff; 2], ScoresError> {
        let part = part(rule).ok_or(ScoresError::Rule)?;
        let world = |world: World, scores: &[f64]| {
            if scores.len() < 2 {
                return Err(ScoresError::TooFew { world, runs: scores.len(), rule, least: 2 });
            }
            Ok(random_subset(scores, chosen_of(scores.len(), part), seed, world))
        };
        let (chosen, rest) = world(World::Target, self.target)?;
        let (chosen_zero_out, rest_zero_out) = world(World::ZeroOut, self.zero_out)?;
        let trade_off = |d, d_prime| TradeOff::from_scores(d, d_prime).map_err(BoundError::from);
        Ok([trade_off(chosen, chosen_zero_out)?.in_order(), trade_off(rest, rest_zero_out)?])
    }

    fn cuts(
        &self,
        pilot: &TradeOff,
        trials: Trials,
        options: &AuditOptions,
    ) -> Result<Vec<f64>, ScoresError> {
        let AuditOptions { delta, significance, cuts, .. } = *options;
        let choose = |predicted: &[PredictedErrors], m: usize| {
            choose_cuts(predicted, trials, delta, significance, m)
        };
        let grid = grid_over(pilot);
        if !self.likelihood_ratios || cuts < 2 || grid.is_empty() {
            return Ok(choose(&PredictedErrors::from_counts(pilot), cuts as usize)?);
        }
        // Half of the thresholds use the scores as likelihood ratios, half only their order.
        let half = cuts as usize / 2;
        let ratios = PredictedErrors::from_likelihood_ratios(pilot, &grid);
        let mut thresholds = choose(&PredictedErrors::from_counts(pilot), half)?;
        thresholds.extend(choose(&ratios, cuts as usize - half)?);
        thresholds.sort_unstable_by(f64::total_cmp);
        thresholds.dedup();
        Ok(thresholds)
    }
}

/// A rule that divides the runs lets a random 1/part of each world choose.
const fn part(rule: ThresholdRule) -> Option<usize> {
    match rule {
        ThresholdRule::Split | ThresholdRule::Simultaneous => Some(10),
        ThresholdRule::MaxUncorrected | ThresholdRule::Fixed => None,
    }
}

/// 2,000 thresholds over the pilot's range, widened by half of it at each end; none if the range
/// overflows.
fn grid_over(pilot: &TradeOff) -> Vec<f64> {
    let (lowest, highest) = pilot.score_range().unwrap_or((0.0, 0.0));
    let length = (highest - lowest).max(f64::MIN_POSITIVE);
    let at = |i: i32| lowest + length * (f64::from(i) / 1000.0 - 0.5);
    (0..=2000).map(at).filter(|t| t.is_finite()).collect()
}

/// The runs of a world, in file order, that neither the rule nor a curve or metric evaluates.
pub(super) fn choosing_runs(options: &AuditOptions, world: World, runs: usize) -> Vec<bool> {
    let chosen = |rule: ThresholdRule| -> Vec<bool> {
        match part(rule) {
            Some(part) => subset(runs, chosen_of(runs, part), options.seed, world).collect(),
            None => vec![true; runs],
        }
    };
    let by_rule = chosen(options.threshold_rule);
    let by_pilot = chosen(ThresholdRule::Simultaneous);
    by_rule.into_iter().zip(by_pilot).map(|(by_rule, by_pilot)| by_rule && by_pilot).collect()
}

/// The number of different finite scores, up to a limit.
fn distinct(scores: &[f64], most: usize) -> usize {
    let mut values: Vec<f64> = Vec::with_capacity(most);
    for score in scores.iter().filter(|score| score.is_finite()) {
        if values.len() == most {
            break;
        }
        if !values.contains(score) {
            values.push(*score);
        }
    }
    values.len()
}

/// Whether the scores of a world, failed runs left out, have at most two values.
fn is_of_labels(scores: &[f64]) -> bool {
    let finite = scores.iter().filter(|score| score.is_finite()).count();
    finite >= LEAST_IDENTICAL && distinct(scores, 3) < 3
}

/// Runs of a part: at least one.
fn chosen_of(runs: usize, part: usize) -> usize {
    (runs / part).max(1)
}

/// Whether each of `runs` runs is in a uniformly random subset of `wanted`: one random word per run
/// decides, with probability (still needed)/(remaining).
///
/// The bias of a 32-bit word against that probability is below 2⁻³².
fn subset(runs: usize, wanted: usize, seed: u64, world: World) -> impl Iterator<Item = bool> {
    let mut words = Words::new(seed, Purpose::FileSplit, world.index() as u64);
    let mut still_wanted = wanted as u64;
    (1..=runs as u64).rev().map(move |to_come| {
        let is_chosen = (u64::from(words.next_word()) * to_come) >> 32 < still_wanted;
        still_wanted -= u64::from(is_chosen);
        is_chosen
    })
}

/// A uniformly random subset of `wanted` scores, and the rest, each in file order.
fn random_subset(scores: &[f64], wanted: usize, seed: u64, world: World) -> (Vec<f64>, Vec<f64>) {
    let mut chosen = Vec::with_capacity(wanted);
    let mut rest = Vec::with_capacity(scores.len() - wanted);
    for (&score, is_chosen) in scores.iter().zip(subset(scores.len(), wanted, seed, world)) {
        if is_chosen { chosen.push(score) } else { rest.push(score) }
    }
    (chosen, rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::OutcomeKind;
    use crate::random::WideNormals;

    fn scores(n: usize, shift: f64) -> Vec<f64> {
        let uniform = |i: usize| (i as f64 * 0.618_033_988_749_894_9).fract();
        (0..n).map(|i| shift + 4.0 * uniform(i)).collect()
    }

    fn options(threshold_rule: ThresholdRule) -> AuditOptions {
        AuditOptions { threshold_rule, delta: 1e-5, significance: 0.05, cuts: 16, seed: 3 }
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
        // Every tenth of the file contributes equally: 400 ± 15.5 of 1,000.
        for tenth in 0..10 {
            let from = f64::from(tenth * 1000);
            let share = chosen.iter().filter(|&&s| s >= from && s < from + 1000.0).count();
            assert!((330..=470).contains(&share), "{tenth}: {share}");
        }
        assert_eq!(random_subset(&scores, 10_001, 1, World::Target).1.len(), 0);
    }

    #[test]
    fn each_run_either_chooses_or_is_evaluated() {
        let (target, zero_out) = (scores(1001, 1.0), scores(400, 0.0));
        let recorded = Scores { target: &target, zero_out: &zero_out, likelihood_ratios: true };
        let of = |rule| recorded.audit(&options(rule)).unwrap().evidence().trials;
        assert_eq!(of(ThresholdRule::Split), Trials { target: 901, zero_out: 360 });
        assert_eq!(of(ThresholdRule::Simultaneous), Trials { target: 901, zero_out: 360 });
        assert_eq!(of(ThresholdRule::MaxUncorrected), Trials { target: 1001, zero_out: 400 });
    }

    #[test]
    fn nearly_every_run_of_the_pilot_is_evaluated_by_no_rule() {
        for rule in [ThresholdRule::Split, ThresholdRule::Simultaneous] {
            let runs = choosing_runs(&options(rule), World::Target, 4000);
            let evaluated = subset(4000, chosen_of(4000, part(rule).unwrap()), 3, World::Target);
            assert!(runs.iter().zip(evaluated).all(|(chooses, by_rule)| by_rule || !chooses));
            let count = runs.iter().filter(|chooses| **chooses).count();
            assert!((390..=400).contains(&count), "{count}");
        }
    }

    #[test]
    fn file_order_does_not_decide_which_runs_are_evaluated() {
        // Sorted files: halves by file order would compare high scores with low ones.
        let mut target = scores(2000, 0.0);
        target.sort_unstable_by(f64::total_cmp);
        let zero_out: Vec<f64> = target.iter().rev().copied().collect();
        let recorded = Scores { target: &target, zero_out: &zero_out, likelihood_ratios: false };
        for rule in [ThresholdRule::Split, ThresholdRule::Simultaneous] {
            assert!(recorded.audit(&options(rule)).unwrap().epsilon() < 0.05);
        }
    }

    #[test]
    fn labels_are_no_world() {
        let (scores, larger) = (scores(1000, 0.0), scores(1000, 1.0));
        let labels: Vec<f64> = (0..1000).map(|i| f64::from(i % 2)).collect();
        let audit = |target: &[f64], zero_out: &[f64]| {
            let result = Scores::new(target, zero_out).audit(&options(ThresholdRule::Split));
            result.map(|result| result.epsilon())
        };
        let refused = |world| Err(ScoresError::Labels { world });
        assert_eq!(audit(&scores, &labels), refused(World::ZeroOut));
        assert_eq!(audit(&labels, &scores), refused(World::Target));
        // reversed, −1 and 1, 1 and 2, of another number, and those of one class
        let coded = |of: fn(f64) -> f64| labels.iter().map(|label| of(*label)).collect::<Vec<_>>();
        let codes: [fn(f64) -> f64; 4] = [|l| -l, |l| 2.0 * l - 1.0, |l| l + 1.0, |_| 1.0];
        for code in codes.map(coded) {
            assert_eq!(audit(&scores, &code), refused(World::ZeroOut));
            assert_eq!(audit(&code[1..], &scores), refused(World::Target));
        }
        // accepted: decisions of an attack, few values in both worlds, and runs that failed
        let of = |count: u32| (0..1000).map(|i| f64::from(i % count)).collect::<Vec<f64>>();
        let decisions: Vec<f64> = (0..1000).map(|i| f64::from(u8::from(i % 5 == 0))).collect();
        assert!(audit(&labels, &decisions).is_ok() && audit(&of(19), &labels).is_ok());
        assert!(audit(&larger, &of(3)).is_ok() && audit(&larger, &[f64::NAN; 1000]).is_ok());
        assert_eq!(audit(&of(20), &labels), refused(World::ZeroOut));
    }

    #[test]
    fn too_few_runs_are_an_error() {
        let recorded = Scores { target: &[1.0], zero_out: &[0.0, 1.0], likelihood_ratios: false };
        assert!(matches!(
            recorded.audit(&options(ThresholdRule::Split)),
            Err(ScoresError::TooFew { .. })
        ));
    }

    #[test]
    fn constant_scores_are_an_error() {
        let rule = options(ThresholdRule::Simultaneous);
        let refused = Scores::new(&[1.0; 1000], &[1.0; 999]).audit(&rule);
        assert_eq!(refused.unwrap_err(), ScoresError::Constant { score: 1.0 });
    }

    #[test]
    fn identical_worlds_are_an_error() {
        let scores = scores(400, 1.0);
        let same = Scores::new(&scores, &scores);
        let mut changed = scores.clone();
        changed[399] += 1e-9;
        let rules =
            [ThresholdRule::Split, ThresholdRule::Simultaneous, ThresholdRule::MaxUncorrected];
        for rule in rules {
            let refused = same.audit(&options(rule));
            assert_eq!(refused.unwrap_err(), ScoresError::Identical { runs: 400 });
            assert!(Scores::new(&scores, &changed).audit(&options(rule)).is_ok());
        }
        let few = Scores::new(&scores[..10], &scores[..10]);
        assert!(few.audit(&options(ThresholdRule::MaxUncorrected)).is_ok());
    }

    #[test]
    fn copied_scores_are_a_finding_and_ties_are_not() {
        let draws = |block: u64, count: usize| {
            let mut draws = vec![0.0; count];
            WideNormals::new(9, Purpose::Test, block).fill(&mut draws);
            draws
        };
        let audited = |target: &[f64], zero_out: &[f64]| {
            Scores::new(target, zero_out).audit(&options(ThresholdRule::Split)).unwrap()
        };
        let (target, zero_out) = (draws(1, 100), draws(2, 100));
        assert_eq!(audited(&target, &zero_out).findings(), []);
        let copied = audited(&target.repeat(50), &zero_out.repeat(50));
        assert_eq!(copied.kind(), OutcomeKind::Estimate);
        let [Finding::Dependence { world: Some(World::Target), dependence, .. }] =
            copied.findings()
        else {
            panic!("{:?}", copied.findings())
        };
        let expected = Dependence::RepeatedScores { values: 100, times: 50, runs: 5_000 };
        assert_eq!(*dependence, expected);
        // half of the target's scores are in both files
        let (target, zero_out) = (draws(1, 400), draws(2, 400));
        let mixed = [&target[..200], &zero_out[200..]].concat();
        let shared = Dependence::SharedScores { of: World::Target, values: 200, times: 1 };
        assert!(matches!(
            audited(&target, &mixed).findings(),
            [Finding::Dependence { world: None, dependence, .. }] if *dependence == shared
        ));
        for rounding in [0.3, 1.0, 10.0, 100.0] {
            let rounded = |draws: Vec<f64>| -> Vec<f64> {
                draws.iter().map(|z| (rounding * z).round() / rounding).collect()
            };
            let found = audited(&rounded(draws(1, 5_000)), &rounded(draws(2, 4_999)));
            assert_eq!(found.findings(), [], "{rounding}");
        }
    }

    #[test]
    fn reversed_scores_are_a_finding_and_others_are_not() {
        let (high, low) = (scores(1000, 1.0), scores(1000, 0.0));
        let is_reversed = |target: &[f64], zero_out: &[f64]| {
            let result = Scores::new(target, zero_out).audit(&options(ThresholdRule::Split));
            let result = result.unwrap();
            assert_eq!(result.kind(), OutcomeKind::Bound);
            result.findings().iter().any(|found| matches!(found, Finding::ScoresReversed { .. }))
        };
        assert!(is_reversed(&low, &high));
        assert!(!is_reversed(&high, &low));
        assert!(!is_reversed(&low, &scores(999, -1e-6)));
    }

    #[test]
    fn scores_whose_range_overflows_are_audited_by_their_order() {
        let stretched = |shift: f64| -> Vec<f64> {
            scores(400, shift).iter().map(|s| (s / 2.5 - 1.0) * f64::MAX).collect()
        };
        let (target, zero_out) = (stretched(1.0), stretched(0.0));
        let value = |likelihood_ratios| {
            let recorded = Scores { target: &target, zero_out: &zero_out, likelihood_ratios };
            recorded.audit(&options(ThresholdRule::Simultaneous)).unwrap().epsilon()
        };
        assert!(value(true) > 0.5 && value(true) == value(false), "{}", value(true));
    }

    #[test]
    fn failed_runs_never_help() {
        let (target, zero_out) = (scores(4000, 1.0), scores(4000, 0.0));
        let mut failing = target.clone();
        failing.iter_mut().step_by(10).for_each(|s| *s = f64::NAN);
        let value = |target: &[f64]| {
            let recorded = Scores { target, zero_out: &zero_out, likelihood_ratios: false };
            recorded.audit(&options(ThresholdRule::Split)).unwrap().epsilon()
        };
        assert!(value(&failing) < value(&target));
    }
}
