//! From scores of the rows to guesses.

use super::{SplitCounts, SplitError, SplitSets};
use crate::audit::drawn_finding::DrawnFinding;
use crate::audit::one_run::{NOTABLE_TIES, OneRunFinding, reversed_finding, share_of_ties};
use crate::random::{Purpose, Words};

/// Scores of all rows, larger for likely members, and the sides that the split drew.
///
/// Scores must not know the sides but through the training: they may use all rows of both sides together.
/// Equal scores count against the attack.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SplitScores<'a> {
    members: &'a [f64],
    non_members: &'a [f64],
}

impl<'a> SplitScores<'a> {
    /// Scores of the rows of both sides.
    ///
    /// # Errors
    /// [`SplitError::NotANumber`] for a score that is NaN.
    pub fn new(members: &'a [f64], non_members: &'a [f64]) -> Result<Self, SplitError> {
        for (side, scores) in [("members", members), ("non-members", non_members)] {
            if let Some(index) = scores.iter().position(|score| score.is_nan()) {
                return Err(SplitError::NotANumber { side, index });
            }
        }
        Ok(Self { members, non_members })
    }

    /// The rows with the k largest scores named as members, and those with the k′ smallest as non-members.
    #[must_use]
    pub fn named(&self, [guesses_in, guesses_out]: [u64; 2]) -> SplitCounts {
        let mut members = self.members.to_vec();
        let mut others = self.non_members.to_vec();
        members.sort_unstable_by(|a, b| b.total_cmp(a));
        others.sort_unstable_by(|a, b| b.total_cmp(a));
        let correct_in = first_of(&members, &others, guesses_in, |one, other| one > other);
        members.reverse();
        others.reverse();
        let correct_out = first_of(&others, &members, guesses_out, |one, other| one < other);
        SplitCounts {
            members: self.members.len() as u64,
            non_members: self.non_members.len() as u64,
            guesses_in,
            correct_in,
            guesses_out,
            correct_out,
        }
    }

    /// The odd rows of the sets with the clearest scores: how many of `guesses` are named rightly.
    ///
    /// Sets are drawn by the seed; their margins are between the most and the second most odd score. Fewer
    /// sets are guessed if there are no more.
    ///
    /// # Errors
    /// [`SplitError::Side`] if a side has no rows.
    pub fn sets(&self, guesses: u64, seed: u64) -> Result<(u64, u64), SplitError> {
        let [members, non_members] = [self.members, self.non_members].map(|side| side.len() as u64);
        let sets = SplitSets::new(members, non_members)?;
        // larger scores are odd
        let (sign, odd, others) = match sets.odd_is_included() {
            true => (1.0, self.members, self.non_members),
            false => (-1.0, self.non_members, self.members),
        };
        let mut order: Vec<usize> = (0..others.len()).collect();
        Words::new(seed, Purpose::FileSplit, 0).shuffle(&mut order);
        let size = (sets.set_size() - 1) as usize;
        let mut margins: Vec<(f64, bool)> = Vec::with_capacity(odd.len());
        for (index, &score) in odd.iter().enumerate() {
            let row = |&place: &usize| sign * others[place];
            let matched = order[index * size..(index + 1) * size].iter().map(row);
            let score = sign * score;
            let (mut first, mut second) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
            for other in matched {
                if other > first {
                    (first, second) = (other, first);
                } else if other > second {
                    second = other;
                }
            }
            margins.push(match score > first {
                true => (score - first, true),
                // of two infinite scores, none
                false => ((first - score.max(second)).max(0.0), false),
            });
        }
        let guesses = guesses.min(sets.sets());
        // the largest margins, and of equal ones the wrong ones first
        margins.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let correct = margins.iter().take(guesses as usize).filter(|margin| margin.1).count();
        Ok((guesses, correct as u64))
    }

    /// Whether many scores are equal, and whether members have smaller ones: chance explains that in one of
    /// 2,000 splits.
    #[must_use]
    pub fn findings(&self) -> Vec<DrawnFinding> {
        let scores = [self.members, self.non_members].concat();
        let is_member: Vec<bool> =
            (0..scores.len()).map(|place| place < self.members.len()).collect();
        let share = share_of_ties(&scores);
        let tied = (share > NOTABLE_TIES).then_some(DrawnFinding::TiedScores { share });
        let reversed = match reversed_finding(&scores, &is_member) {
            Some(OneRunFinding::ScoresReversed { auc }) => {
                Some(DrawnFinding::ScoresReversed { auc })
            }
            _ => None,
        };
        tied.into_iter().chain(reversed).collect()
    }
}

/// How many of the first `count` rows of both sorted lists are of the first, where equal ones are of the other.
fn first_of(own: &[f64], other: &[f64], count: u64, precedes: impl Fn(f64, f64) -> bool) -> u64 {
    let (mut taken, mut passed) = (0, 0);
    while ((taken + passed) as u64) < count && taken + passed < own.len() + other.len() {
        let is_own = match (own.get(taken), other.get(passed)) {
            (Some(&one), Some(&another)) => precedes(one, another),
            (one, _) => one.is_some(),
        };
        if is_own { taken += 1 } else { passed += 1 }
    }
    taken as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_count_against_the_attack() {
        let scores = SplitScores::new(&[1.0; 10], &[1.0; 10]).unwrap();
        let counts = scores.named([5, 5]);
        assert_eq!((counts.correct_in, counts.correct_out), (0, 0));
        assert_eq!(scores.sets(5, 1).unwrap(), (5, 0));
        assert_eq!(scores.findings(), [DrawnFinding::TiedScores { share: 1.0 }]);
    }

    #[test]
    fn separated_scores_are_all_named() {
        let members: Vec<f64> = (0..30).map(f64::from).collect();
        let others: Vec<f64> = (0..90).map(|row| -1.0 - f64::from(row)).collect();
        let scores = SplitScores::new(&members, &others).unwrap();
        let counts = scores.named([20, 40]);
        assert_eq!((counts.correct_in, counts.correct_out), (20, 40));
        assert_eq!(scores.sets(30, 1).unwrap(), (30, 30));
        let reversed = SplitScores::new(&others, &members).unwrap().named([20, 40]);
        assert_eq!((reversed.correct_in, reversed.correct_out), (0, 0));
        assert!(SplitScores::new(&[f64::NAN], &[1.0]).is_err());
    }
}
