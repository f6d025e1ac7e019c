//! A self-test: other coins for the same scores.

use super::canary_scores::Units;
use super::{CanaryError, CanaryScores, OneRunQuestion, RankedGuess};
use crate::random::{Purpose, Words};
use crate::special::BetaDistribution;

/// How often redrawn coins, on which no score depends, show a leak.
///
/// It tests this code and the guessing rule, not the user's files; to check those, audit scores
/// from before the training.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RedrawnCoins {
    /// Number of redraws.
    pub redraws: u32,
    /// Number of redraws that reject ε = 0 at the first δ.
    pub rejections: u32,
    /// Their largest expected share.
    pub significance: f64,
}

impl RedrawnCoins {
    /// Whether as many rejections have a chance of 10⁻⁵ or more, exactly.
    #[must_use]
    pub fn is_as_expected(&self) -> bool {
        let (redraws, rejections) = (f64::from(self.redraws), f64::from(self.rejections));
        if self.rejections == 0 || self.rejections > self.redraws {
            return self.rejections == 0;
        }
        let tail = BetaDistribution::new(rejections, redraws - rejections + 1.0);
        tail.and_then(|tail| tail.cdf(self.significance)).is_ok_and(|chance| chance >= 1e-5)
    }
}

impl CanaryScores<'_> {
    /// Draws the coins anew, with scores and guesses unchanged, and audits them.
    ///
    /// | argument | meaning |
    /// |---|---|
    /// | `redraws` | number of redraws |
    /// | `seed` | of the redraws |
    /// | `tie` | as in [`CanaryScores::audit`] |
    ///
    /// # Guarantee
    /// `unit::redrawn_coins_show_nothing_and_the_true_ones_do`.
    ///
    /// # Errors
    /// As [`CanaryScores::audit`].
    pub fn with_redrawn_coins(
        &self,
        question: &OneRunQuestion<'_>,
        redraws: u32,
        seed: u64,
        tie: impl Fn(u64) -> u64,
    ) -> Result<RedrawnCoins, CanaryError> {
        let game = self.game()?;
        let delta = *question.deltas.first().ok_or(CanaryError::NoDelta)?;
        let mut guesses = self.guesses_of(question.rule, tie)?;
        let is_scored = self.is_scored();
        let mut words = Words::new(seed, Purpose::FileSplit, REDRAWS);
        let mut coins = vec![false; self.scores.len()];
        let mut rejections = 0;
        for _ in 0..redraws {
            self.redraw(&mut words, &mut coins);
            for guess in &mut guesses {
                let RankedGuess { canary, is_included, .. } = *guess;
                guess.is_correct = is_scored[canary] && coins[canary] == is_included;
            }
            let evidence = self.graded(game, question.rule, &guesses)?;
            rejections += u32::from(evidence.p_value(0.0, delta)? < question.significance);
        }
        Ok(RedrawnCoins { redraws, rejections, significance: question.significance })
    }

    /// Whether a guess on each canary may be correct: its score, and that of its set, is a number.
    fn is_scored(&self) -> Vec<bool> {
        let mut is_scored: Vec<bool> = self.scores.iter().map(|score| !score.is_nan()).collect();
        if let Units::Sets { members, set_size, .. } = &self.units {
            for set in members.chunks(*set_size) {
                let is_whole = set.iter().all(|&canary| !self.scores[canary].is_nan());
                set.iter().for_each(|&canary| is_scored[canary] = is_whole);
            }
        }
        is_scored
    }

    fn redraw(&self, words: &mut Words, coins: &mut [bool]) {
        match &self.units {
            Units::Coins if self.fixed_size.is_some() => {
                coins.copy_from_slice(self.coins);
                words.shuffle(coins);
            }
            Units::Coins => {
                coins.iter_mut().for_each(|coin| *coin = words.uniform() < self.inclusion);
            }
            Units::Sets { members, set_size, .. } => {
                coins.fill(false);
                for set in members.chunks(*set_size) {
                    coins[set[words.below(*set_size as u32) as usize]] = true;
                }
            }
        }
    }
}

/// The stream of random words of redraws.
const REDRAWS: u64 = 3;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::one_run::GuessRule;

    fn question(rule: GuessRule) -> OneRunQuestion<'static> {
        OneRunQuestion { deltas: &[1e-5], significance: 0.05, rule, is_committed: true }
    }

    #[test]
    fn redrawn_coins_show_nothing_and_the_true_ones_do() {
        let mut words = Words::new(1, Purpose::Test, 8);
        let coins: Vec<bool> = (0..300).map(|_| words.next_word() & 1 == 1).collect();
        let scores: Vec<f64> =
            coins.iter().map(|&coin| words.uniform() + if coin { 0.5 } else { 0.0 }).collect();
        let fair = CanaryScores::coins(&scores, &coins).unwrap();
        let sets: Vec<u64> = (0..300).map(|i| i / 3).collect();
        let one_of_three: Vec<bool> = (0..300).map(|i| i % 3 == i / 3 % 3).collect();
        let of_sets = CanaryScores::sets(&scores, &one_of_three, &sets).unwrap();
        let tenth = fair.clone().with_inclusion_probability(0.1).unwrap();
        let sides = GuessRule::Sides { included: 60, excluded: 0 };
        let rules = [
            (&fair, GuessRule::Walk),
            (&fair, GuessRule::Most(60)),
            (&of_sets, GuessRule::Walk),
            (&tenth, sides),
        ];
        for (canaries, rule) in rules {
            let found =
                canaries.with_redrawn_coins(&question(rule), 400, 2, |index| index).unwrap();
            assert!(found.is_as_expected(), "{rule:?}: {found:?}");
        }
        let rejected = fair.audit(&question(GuessRule::Walk), &[], |index| index).unwrap();
        assert!(rejected.bounds()[0].epsilon > 0.5);
    }

    #[test]
    fn too_many_rejections_are_not_as_expected() {
        let redrawn = |rejections| RedrawnCoins { redraws: 1_000, rejections, significance: 0.05 };
        assert!(redrawn(82).is_as_expected() && !redrawn(83).is_as_expected());
        let rare = RedrawnCoins { redraws: 1_000, rejections: 2, significance: 1e-4 };
        assert!(rare.is_as_expected());
    }
}
