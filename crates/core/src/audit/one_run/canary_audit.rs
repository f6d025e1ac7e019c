//! From scores and coins to bounds: the entry point for audits of one run.

use super::coin_checks::{NOTABLE_TIES, ORDERED};
use super::result::bounds;
use super::{
    CanaryError, CanaryFeature, CanaryGame, CanaryScores, GuessEvidence, Guesses, OneRunBound,
    OneRunFinding, OneRunResult, RankedGuess, RepeatedScores, ranking_sizes,
};
use crate::audit::repeats::Repeats;

/// Which canaries are guessed; fixed before the coins are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case", deny_unknown_fields))]
pub enum GuessRule {
    /// 8, 16, 32, … and all of the most confident ones, at a joint level.
    #[default]
    Walk,
    /// So many of the most confident ones, on both sides alternately.
    Most(u64),
    /// So many of the largest scores as included, so many of the smallest as not included.
    Sides {
        /// Guesses "included".
        included: u64,
        /// Guesses "not included".
        excluded: u64,
    },
}

impl GuessRule {
    /// The rule of stated numbers: most confident ones, or those of each side; without any, the walk.
    #[must_use]
    pub fn of_counts(most: Option<u64>, included: Option<u64>, excluded: Option<u64>) -> Self {
        match (most, included, excluded) {
            (Some(guesses), ..) => Self::Most(guesses),
            (None, None, None) => Self::Walk,
            (None, included, excluded) => {
                Self::Sides { included: included.unwrap_or(0), excluded: excluded.unwrap_or(0) }
            }
        }
    }
}

/// What is asked of one run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OneRunQuestion<'a> {
    /// The δ of the statements, at least one.
    pub deltas: &'a [f64],
    /// Chance that a bound is wrong.
    pub significance: f64,
    /// Which canaries are guessed.
    pub rule: GuessRule,
    /// Whether the coins were committed before the training: their pattern is then not examined.
    pub is_committed: bool,
}

impl CanaryScores<'_> {
    /// Checks coins and scores, ranks the canaries, and bounds ε.
    ///
    /// | argument | meaning |
    /// |---|---|
    /// | `features` | what is known of each canary before the training; coins must not depend on it |
    /// | `tie` | order of equal scores, fixed before the coins are drawn; smaller first |
    ///
    /// # Errors
    /// Coins that are unbalanced or follow a feature or the order of the file; arguments outside their
    /// domain; guesses that can show nothing.
    ///
    /// # Example
    /// ```
    /// use dpscope_core::audit::one_run::{CanaryScores, GuessRule, OneRunQuestion};
    /// let coins: Vec<bool> = (0..400_u32).map(|i| i.wrapping_mul(2_654_435_761) >> 31 == 1).collect();
    /// let scores: Vec<f64> = (0..400_u32)
    ///     .map(|i| f64::from(i * 7919 % 400) / 150.0 + f64::from(u8::from(coins[i as usize])))
    ///     .collect();
    /// let question = OneRunQuestion {
    ///     deltas: &[1e-5],
    ///     significance: 0.05,
    ///     rule: GuessRule::Most(100),
    ///     is_committed: true,
    /// };
    /// let result = CanaryScores::coins(&scores, &coins)?.audit(&question, &[], |index| index)?;
    /// assert!(result.bounds()[0].epsilon > 1.0);
    /// # Ok::<(), dpscope_core::audit::one_run::CanaryError>(())
    /// ```
    pub fn audit(
        &self,
        question: &OneRunQuestion<'_>,
        features: &[(CanaryFeature, &[f64])],
        tie: impl Fn(u64) -> u64,
    ) -> Result<OneRunResult, CanaryError> {
        let evidence = self.checked_evidence(question.rule, features, tie)?;
        let result = OneRunResult::new(evidence, question.deltas, question.significance);
        let result = result.map_err(|error| error.of_draw(self.inferred_draw()))?;
        let result = result.with_findings(self.findings(question.is_committed)?);
        Ok(result.with_pairs(self.ordered_pairs()))
    }

    /// The bounds of [`audit`](Self::audit) alone, without its estimates of μ, which take most of its time.
    ///
    /// # Errors
    /// As [`audit`](Self::audit).
    pub fn bounds(
        &self,
        question: &OneRunQuestion<'_>,
        features: &[(CanaryFeature, &[f64])],
        tie: impl Fn(u64) -> u64,
    ) -> Result<Vec<OneRunBound>, CanaryError> {
        let evidence = self.checked_evidence(question.rule, features, tie)?;
        let bounds = bounds(&evidence, question.deltas, question.significance);
        Ok(bounds.map_err(|error| error.of_draw(self.inferred_draw()))?.0)
    }

    /// The guesses, of coins that pass all checks.
    pub(super) fn checked_evidence(
        &self,
        rule: GuessRule,
        features: &[(CanaryFeature, &[f64])],
        tie: impl Fn(u64) -> u64,
    ) -> Result<GuessEvidence, CanaryError> {
        self.check_balance()?;
        self.check_features(features)?;
        self.evidence(rule, tie).map_err(|error| error.of_draw(self.inferred_draw()))
    }

    fn evidence(
        &self,
        rule: GuessRule,
        tie: impl Fn(u64) -> u64,
    ) -> Result<GuessEvidence, CanaryError> {
        self.graded(self.game()?, rule, &self.guesses_of(rule, tie)?)
    }

    /// The guesses of a rule, in the order of confidence.
    pub(super) fn guesses_of(
        &self,
        rule: GuessRule,
        tie: impl Fn(u64) -> u64,
    ) -> Result<Vec<RankedGuess>, CanaryError> {
        let (game, inclusion) = (self.game()?, self.inclusion);
        let is_one_sided = match rule {
            GuessRule::Sides { included, excluded } => included == 0 || excluded == 0,
            GuessRule::Walk | GuessRule::Most(_) => false,
        };
        if inclusion != 0.5 && !is_one_sided {
            return Err(CanaryError::BothSidesOfUnfairCoins { inclusion });
        }
        Ok(match rule {
            GuessRule::Walk => self.ranking(tie),
            GuessRule::Most(guesses) => {
                Guesses::new(game, guesses, 0)?; // its domain, before ranking
                self.ranking(tie)
            }
            GuessRule::Sides { .. } if self.is_sets() => return Err(CanaryError::SidesOfSets),
            GuessRule::Sides { included, excluded } => {
                Guesses::new(game, included.saturating_add(excluded), 0)?;
                self.sides(included as usize, excluded as usize, tie)
            }
        })
    }

    /// The evidence of ranked guesses.
    pub(super) fn graded(
        &self,
        game: CanaryGame,
        rule: GuessRule,
        guesses: &[RankedGuess],
    ) -> Result<GuessEvidence, CanaryError> {
        // a draw of a fixed number is tested as coins with its share
        let inclusion = self.fixed_size.map_or(self.inclusion, |size| size.share());
        let correct_of = |first: u64| {
            guesses[..first as usize].iter().filter(|guess| guess.is_correct).count() as u64
        };
        let evidence = match rule {
            GuessRule::Walk => {
                let sizes = ranking_sizes(game.canaries());
                let correct = sizes.iter().copied().map(correct_of).collect();
                GuessEvidence::walk(game, sizes, correct)?
            }
            GuessRule::Most(guesses) => {
                GuessEvidence::fixed(Guesses::new(game, guesses, correct_of(guesses))?)
            }
            GuessRule::Sides { included, excluded } => {
                let guesses = included + excluded;
                let counts = Guesses::new(game, guesses, correct_of(guesses))?;
                GuessEvidence::fixed(match (included, excluded) {
                    (_, 0) => counts.with_inclusion_probability(inclusion)?,
                    (0, _) => counts.with_inclusion_probability(1.0 - inclusion)?,
                    _ => counts,
                })
            }
        };
        Ok(match self.fixed_size {
            Some(size) => evidence.of_fixed_size(size),
            None => evidence,
        })
    }

    pub(super) fn findings(&self, is_committed: bool) -> Result<Vec<OneRunFinding>, CanaryError> {
        let p_value = if is_committed { 1.0 } else { self.order_of_coins() };
        let order = (p_value < ORDERED).then_some(OneRunFinding::CoinsFollowOrder { p_value });
        let pairs = self.coins.len() as u64 / 2;
        let half = self.is_matching().then_some(OneRunFinding::ExactlyHalf { pairs });
        let fixed = self.fixed_size.map(|size| size.finding(self.inclusion)).transpose()?;
        let (count, canaries) = (self.nan_scores() as u64, self.scores.len() as u64);
        let failed = (count > 0).then_some(OneRunFinding::FailedScores { count, canaries });
        let copies = self.copies();
        let share = self.share_of_ties();
        let is_notable = share > NOTABLE_TIES && copies.is_none();
        let ties = is_notable.then_some(OneRunFinding::TiedScores { share });
        let (correlation, p_value) = self.correlation_with_index();
        let follows = OneRunFinding::ScoresFollowOrder { correlation, p_value };
        let follows = (p_value < ORDERED).then_some(follows);
        let findings = [order, half, fixed, failed, copies, ties, follows, self.reversed()];
        Ok(findings.into_iter().flatten().collect())
    }

    /// Scores that recur as copies do, each of them with one coin: canaries of a file that was added
    /// twice. Equal canaries with coins of their own have both coins.
    fn copies(&self) -> Option<OneRunFinding> {
        let found = Repeats::within(self.scores)?;
        let mut rows: Vec<(u64, bool)> = (self.scores.iter().map(|score| score.to_bits()))
            .zip(self.coins.iter().copied())
            .collect();
        rows.sort_unstable();
        let groups = rows.chunk_by(|(score, _), (other, _)| score == other);
        let mut copied = groups.filter(|group| group.len() as u64 == found.times);
        let is_one_coin = copied.all(|group| group.iter().all(|(_, coin)| *coin == group[0].1));
        is_one_coin.then(|| OneRunFinding::repeated(RepeatedScores::Canaries, found))
    }

    /// Share of the pairs of an included and another canary in which the included one has the larger
    /// score, ties counted half; none if all canaries are included, or none.
    #[must_use]
    pub fn auc(&self) -> Option<f64> {
        self.ranks_of_scores().map(|test| test.auc)
    }
}

#[cfg(test)]
mod tests {
    use super::super::InferredDraw;
    use super::*;
    use crate::random::{Purpose, Words};

    /// Coins, and scores that are larger by `shift` for included canaries.
    fn run(seed: u64, canaries: usize, shift: f64) -> (Vec<bool>, Vec<f64>) {
        let mut words = Words::new(seed, Purpose::Test, 5);
        let coins: Vec<bool> = (0..canaries).map(|_| words.next_word() & 1 == 1).collect();
        let mut noise = || (0..12).map(|_| words.uniform()).sum::<f64>() - 6.0;
        let scores = coins.iter().map(|&c| noise() + if c { shift } else { 0.0 }).collect();
        (coins, scores)
    }

    fn question(rule: GuessRule) -> OneRunQuestion<'static> {
        OneRunQuestion { deltas: &[1e-5], significance: 0.05, rule, is_committed: false }
    }

    fn audited(coins: &[bool], scores: &[f64], rule: GuessRule) -> OneRunResult {
        let found = CanaryScores::coins(scores, coins).unwrap();
        found.audit(&question(rule), &[], |index| index).unwrap()
    }

    fn bound(coins: &[bool], scores: &[f64], rule: GuessRule) -> f64 {
        audited(coins, scores, rule).bounds()[0].epsilon
    }

    #[test]
    fn a_leak_is_found_by_every_rule() {
        let (coins, scores) = run(1, 1_000, 2.0);
        let sides = [(60, 60), (120, 0), (0, 120)];
        let sides = sides.map(|(included, excluded)| GuessRule::Sides { included, excluded });
        for rule in [GuessRule::Walk, GuessRule::Most(120)].into_iter().chain(sides) {
            let epsilon = bound(&coins, &scores, rule);
            assert!((1.5..6.0).contains(&epsilon), "{rule:?}: {epsilon}");
        }
        assert_eq!(audited(&coins, &scores, GuessRule::Walk).findings(), []);
    }

    #[test]
    fn redrawn_coins_show_nothing_and_the_largest_over_k_does() {
        // 300 redrawn coins at 5 %: at most 15 + 4 standard errors of 3.8
        let (mut wrong, mut mutant) = (0, 0);
        let (_, scores) = run(0, 200, 0.0);
        for seed in 1..=300 {
            let (coins, _) = run(seed, 200, 0.0);
            let Ok(found) = CanaryScores::coins(&scores, &coins) else { continue };
            let Ok(result) = found.audit(&question(GuessRule::Walk), &[], |index| index) else {
                continue;
            };
            wrong += u32::from(result.bounds()[0].epsilon > 0.0);
            let steps = result.evidence().steps();
            mutant += u32::from(steps.iter().any(|k| k.epsilon_lower(1e-5, 0.05).unwrap() > 0.0));
        }
        assert!(wrong <= 30, "{wrong}");
        assert!(mutant > 30, "the mutant: {mutant}");
    }

    #[test]
    fn reversed_scores_are_reported_and_show_nothing() {
        let (coins, scores) = run(2, 1_000, -1.0);
        let found = audited(&coins, &scores, GuessRule::Most(100));
        assert_eq!(found.bounds()[0].epsilon, 0.0);
        assert!(matches!(found.findings(), [OneRunFinding::ScoresReversed { auc }] if *auc < 0.4));
        // the mutant |v − k/2| would show a leak
        let [step] = found.evidence().steps() else { unreachable!() };
        let mirrored = Guesses::new(step.game(), 100, 100 - step.correct()).unwrap();
        assert!(mirrored.epsilon_lower(1e-5, 0.05).unwrap() > 0.5);
    }

    #[test]
    fn choosing_pairs_where_half_are_included_costs_nothing() {
        // Every draw of ten fair coins, and 20 matchings where half are included; p = 1/32 is
        // rejected. Five confident guesses on both sides that are right make half more likely, so
        // that rejections by pairs replace those by coins. Guesses of one side do not: the mutant.
        let scores: Vec<f64> = (0..10).map(f64::from).collect();
        let rejects = |scores: &CanaryScores<'_>, rule| {
            let evidence = scores.checked_evidence(rule, &[], |index| index).unwrap();
            u32::from(evidence.p_value(0.0, 0.0).unwrap() < 0.032)
        };
        let share = |rule| {
            let mut rejections = 0;
            for draw in 0..1024_u32 {
                let coins: Vec<bool> = (0..10).map(|canary| draw >> canary & 1 == 1).collect();
                rejections += match draw.count_ones() {
                    5 => (0..20)
                        .map(|seed| CanaryScores::matched(&scores, &coins, seed).unwrap())
                        .map(|pairs| rejects(&pairs, GuessRule::Most(5)))
                        .sum(),
                    _ => 20 * rejects(&CanaryScores::coins(&scores, &coins).unwrap(), rule),
                };
            }
            f64::from(rejections) / (1024.0 * 20.0)
        };
        let mutant = share(GuessRule::Sides { included: 5, excluded: 0 });
        assert!(share(GuessRule::Most(5)) <= 0.032);
        assert!(mutant > 0.036, "the mutant: {mutant}");
    }

    #[test]
    fn permuting_the_file_changes_no_bound() {
        let (coins, scores) = run(3, 500, 1.0);
        let order: Vec<usize> = (0..500).map(|i| i * 211 % 500).collect();
        let moved: Vec<f64> = order.iter().map(|&i| scores[i]).collect();
        let moved_coins: Vec<bool> = order.iter().map(|&i| coins[i]).collect();
        for rule in [GuessRule::Walk, GuessRule::Most(80)] {
            assert_eq!(bound(&coins, &scores, rule), bound(&moved_coins, &moved, rule));
        }
    }

    #[test]
    fn protocol_mistakes_are_findings() {
        let (coins, scores) = run(4, 600, 0.5);
        let codes = |coins: &[bool], scores: &[f64]| {
            let found = audited(coins, scores, GuessRule::Walk);
            found.findings().iter().map(|f| format!("{f:?}")).collect::<Vec<_>>().join(" ")
        };
        let patterned: Vec<bool> = (0..600).map(|i| i / 3 % 2 == 0).collect();
        assert!(codes(&patterned[..599], &scores[..599]).contains("CoinsFollowOrder"));
        let two_valued: Vec<f64> = scores.iter().map(|s| f64::from(*s > 0.0)).collect();
        assert!(codes(&coins, &two_valued).contains("TiedScores"));
        let drifting: Vec<f64> =
            scores.iter().zip(0..).map(|(s, i)| s + f64::from(i) / 50.0).collect();
        assert!(codes(&coins, &drifting).contains("ScoresFollowOrder"));
        let copies = codes(&coins[..200].repeat(2), &scores[..200].repeat(2));
        assert!(copies.contains("RepeatedScores") && !copies.contains("TiedScores"), "{copies}");
        // equal canaries with coins of their own
        let own_coins = codes(&coins[..400], &scores[..200].repeat(2));
        assert!(!own_coins.contains("RepeatedScores"), "{own_coins}");
        let mut failed = scores.clone();
        failed[17] = f64::NAN;
        assert!(codes(&coins, &failed).contains("FailedScores"));
    }

    #[test]
    fn half_of_an_odd_number_is_allowed_for() {
        let (_, noise) = run(6, 401, 0.0);
        let mut coins: Vec<bool> = (0..401).map(|i| i < 200).collect();
        Words::new(10, Purpose::Test, 6).shuffle(&mut coins);
        let scores: Vec<f64> =
            noise.iter().zip(&coins).map(|(noise, &coin)| noise + 2.0 * f64::from(coin)).collect();
        let coins_alone = CanaryScores::coins(&scores, &coins).unwrap();
        let unknown = coins_alone.clone().with_unknown_draw();
        let chance = unknown.fixed_size().unwrap().chance_at(0.5);
        assert!((chance - 0.0397).abs() < 1e-4, "{chance}");
        for rule in [GuessRule::Walk, GuessRule::Most(100)] {
            let found = unknown.audit(&question(rule), &[], |index| index).unwrap();
            assert_eq!(found.game(), super::super::CanaryGame::coins(401).unwrap());
            let finding = OneRunFinding::FixedSizeInclusion {
                included: 200,
                canaries: 401,
                chance_with_coins: found_chance(&found),
            };
            assert_eq!(found.findings(), [finding]);
            let question = OneRunQuestion { significance: 0.05 * chance, ..question(rule) };
            let at_level = coins_alone.audit(&question, &[], |index| index).unwrap();
            assert_eq!(found.bounds(), at_level.bounds(), "{rule:?}");
            assert!(found.bounds()[0].epsilon > 1.0);
        }
        // a number that is not suspected
        coins.iter_mut().filter(|coin| !**coin).take(2).for_each(|coin| *coin = true);
        let other = CanaryScores::coins(&scores, &coins).unwrap().with_unknown_draw();
        assert_eq!(other.fixed_size(), None);
    }

    fn found_chance(result: &OneRunResult) -> f64 {
        match result.findings() {
            [OneRunFinding::FixedSizeInclusion { chance_with_coins, .. }] => *chance_with_coins,
            _ => f64::NAN,
        }
    }

    #[test]
    fn exactly_half_is_audited_as_pairs() {
        let (_, scores) = run(5, 400, 0.0);
        let mut coins: Vec<bool> = (0..400).map(|i| i < 200).collect();
        Words::new(9, Purpose::Test, 6).shuffle(&mut coins);
        let found = CanaryScores::matched(&scores, &coins, 1).unwrap();
        let result = found.audit(&question(GuessRule::Walk), &[], |index| index).unwrap();
        assert_eq!(result.game(), super::super::CanaryGame::sets(200, 2).unwrap());
        assert_eq!(result.findings(), [OneRunFinding::ExactlyHalf { pairs: 200 }]);
        let sides = question(GuessRule::Sides { included: 10, excluded: 0 });
        let refused = found.audit(&sides, &[], |index| index).unwrap_err();
        let draw = InferredDraw::ExactlyHalf { canaries: 400 };
        let problem = Box::new(CanaryError::SidesOfSets);
        assert_eq!(refused, CanaryError::Inferred { draw, problem });
        let many = found.audit(&question(GuessRule::Most(201)), &[], |index| index).unwrap_err();
        let many = many.to_string();
        assert!(many.starts_with("exactly half of the 400 canaries are included"), "{many}");
    }
}
