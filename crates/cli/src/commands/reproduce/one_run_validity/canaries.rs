//! Canaries ranked by score.

/// Canaries by falling score, ties in random order.
#[derive(Debug)]
pub(in crate::commands::reproduce) struct ScoredCanaries {
    scores: Vec<f64>,
    /// IN canaries among the first so many.
    included: Vec<u64>,
}

impl ScoredCanaries {
    pub(in crate::commands::reproduce) fn ranked(
        scores: &[f64],
        coins: &[bool],
        mut tie: impl FnMut() -> u32,
    ) -> Self {
        let mut order: Vec<(f64, u32, bool)> =
            scores.iter().zip(coins).map(|(&score, &coin)| (score, tie(), coin)).collect();
        order.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut included = vec![0];
        included.extend(order.iter().scan(0, |sum, &(_, _, is_in)| {
            *sum += u64::from(is_in);
            Some(*sum)
        }));
        Self { scores: order.iter().map(|&(score, ..)| score).collect(), included }
    }

    pub(super) fn scores(&self) -> &[f64] {
        &self.scores
    }

    pub(in crate::commands::reproduce) fn count(&self) -> u64 {
        self.scores.len() as u64
    }

    /// IN canaries among all.
    pub(super) fn included(&self) -> u64 {
        self.included_in_first(self.count())
    }

    /// IN canaries among the `size` largest scores.
    pub(super) fn included_in_first(&self, size: u64) -> u64 {
        self.included[size as usize]
    }

    /// Whether the canary at a place of the ranking is IN.
    pub(super) fn is_included(&self, place: usize) -> bool {
        self.included[place + 1] > self.included[place]
    }

    /// Correct guesses if the largest scores are guessed IN and the smallest OUT.
    pub(super) fn correct_of_sides(&self, in_guesses: u64, out_guesses: u64) -> u64 {
        let beyond = self.included() - self.included_in_first(self.count() - out_guesses);
        self.included_in_first(in_guesses) + out_guesses - beyond
    }

    /// Correct guesses of `guesses`, half of them IN.
    pub(in crate::commands::reproduce) fn correct(&self, guesses: u64) -> u64 {
        self.correct_of_sides(guesses.div_ceil(2), guesses / 2)
    }

    /// Correct guesses if every canary is guessed by the sign of its score, and half of those with
    /// score 0 IN.
    pub(super) fn correct_by_sign(&self) -> u64 {
        let positive = self.scores.partition_point(|&score| score > 0.0);
        let zeros = self.scores[positive..].partition_point(|&score| score >= 0.0);
        let in_guesses = (positive + zeros.div_ceil(2)) as u64;
        self.correct_of_sides(in_guesses, self.count() - in_guesses)
    }

    /// Canaries and IN canaries above each distinct score, from the first score on to all.
    pub(super) fn operating_points(&self) -> impl Iterator<Item = (u64, u64)> {
        let last = self.scores.len();
        let ends =
            (1..=last).filter(move |&end| end == last || self.scores[end] < self.scores[end - 1]);
        ends.map(|end| (end as u64, self.included[end]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guesses_are_counted_from_both_ends() {
        let scores = [0.5, 3.0, -1.0, 2.0, 2.0];
        let coins = [false, true, true, true, false];
        let ranked = ScoredCanaries::ranked(&scores, &coins, || 7);
        assert_eq!(ranked.scores(), [3.0, 2.0, 2.0, 0.5, -1.0]);
        assert_eq!((ranked.included(), ranked.correct_of_sides(1, 2)), (3, 2));
        assert_eq!((ranked.correct(1), ranked.correct(2)), (1, 1));
        let signs = ScoredCanaries::ranked(&[1.0, 2.0, 0.0, 0.0, -1.0], &coins, || 7);
        // IN, OUT, IN | IN, OUT
        assert_eq!(signs.correct_by_sign(), 3);
        let points: Vec<_> = ranked.operating_points().collect();
        assert_eq!(points, [(1, 1), (3, 2), (4, 2), (5, 3)]);
    }
}
