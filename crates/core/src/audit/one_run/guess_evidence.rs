//! Correct guesses: of a fixed number, along a ranking, or of several runs.

use super::{
    CanaryGame, FixedSize, Guesses, OneRunError, PlannedRuns, Ranking, check_significance,
};

/// The correct guesses of one run, or of several runs of one plan.
#[derive(Debug, Clone, PartialEq)]
pub struct GuessEvidence {
    kind: Kind,
    /// Probability of the number of included canaries, if it may have been fixed; else 1.
    size_chance: f64,
}

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    Fixed(Guesses),
    Walk { ranking: Ranking, steps: Vec<Guesses> },
    Runs { runs: PlannedRuns, steps: Vec<Guesses> },
}

impl From<Kind> for GuessEvidence {
    fn from(kind: Kind) -> Self {
        Self { kind, size_chance: 1.0 }
    }
}

impl GuessEvidence {
    /// A number of guesses that was fixed beforehand.
    #[must_use]
    pub const fn fixed(guesses: Guesses) -> Self {
        Self { kind: Kind::Fixed(guesses), size_chance: 1.0 }
    }

    /// These guesses if the number of included canaries may have been fixed: a test at level α of
    /// coins, fair or with probability n/m, is made at α P\[Bin(m, π) = n\].
    #[must_use]
    pub fn of_fixed_size(self, size: FixedSize) -> Self {
        let is_fair = self.steps().first().is_none_or(Guesses::has_fair_coins);
        let size_chance = size.chance_at(if is_fair { 0.5 } else { size.share() });
        Self { size_chance, ..self }
    }

    /// These guesses, with the size probabilities of several runs multiplied.
    pub(super) fn of_sizes(self, runs: &[Self]) -> Self {
        Self { size_chance: runs.iter().map(|run| run.size_chance).product(), ..self }
    }

    /// The level at which coins are tested for this significance.
    pub(super) fn coin_level(&self, significance: f64) -> f64 {
        significance * self.size_chance
    }

    /// The p-value from that of a test of coins, `p`.
    pub(super) fn allowing_size(&self, p: f64) -> f64 {
        (p / self.size_chance).min(1.0)
    }

    /// Correct guesses among the first ones of a ranking, for several numbers of guesses.
    ///
    /// # Errors
    /// As [`Ranking::new`].
    pub fn walk(game: CanaryGame, sizes: Vec<u64>, correct: Vec<u64>) -> Result<Self, OneRunError> {
        let steps = sizes.iter().zip(&correct).map(|(&k, &v)| Guesses::new(game, k, v));
        let steps = steps.collect::<Result<_, _>>()?;
        Ok(Kind::Walk { ranking: Ranking::new(game, sizes, correct)?, steps }.into())
    }

    /// Several runs of one plan, each with several numbers of guesses.
    ///
    /// # Errors
    /// As [`Guesses::new`].
    pub fn runs(runs: PlannedRuns) -> Result<Self, OneRunError> {
        let steps = runs.steps()?;
        Ok(Kind::Runs { runs, steps }.into())
    }

    /// Numbers of guesses with their correct ones: one, or those of the walk; of several runs, summed.
    #[must_use]
    pub fn steps(&self) -> &[Guesses] {
        match &self.kind {
            Kind::Fixed(guesses) => std::slice::from_ref(guesses),
            Kind::Walk { steps, .. } | Kind::Runs { steps, .. } => steps,
        }
    }

    /// Whether the number of guesses was fixed beforehand: one number is tried.
    #[must_use]
    pub const fn is_fixed(&self) -> bool {
        matches!(self.kind, Kind::Fixed(_))
    }

    /// The largest probability of such guesses under (ε, δ)-DP.
    ///
    /// # Errors
    /// As [`Guesses::p_value`].
    pub fn p_value(&self, epsilon: f64, delta: f64) -> Result<f64, OneRunError> {
        let p = match &self.kind {
            Kind::Fixed(guesses) => guesses.p_value(epsilon, delta),
            Kind::Walk { ranking, .. } => ranking.p_value(epsilon, delta),
            Kind::Runs { runs, .. } => runs.p_value(epsilon, delta),
        };
        Ok(self.allowing_size(p?))
    }

    /// Lower bound on ε.
    ///
    /// # Errors
    /// As [`Guesses::epsilon_lower`].
    pub fn epsilon_lower(&self, delta: f64, significance: f64) -> Result<f64, OneRunError> {
        check_significance(significance)?;
        let level = self.coin_level(significance);
        match &self.kind {
            Kind::Fixed(guesses) => guesses.epsilon_lower(delta, level),
            Kind::Walk { ranking, .. } => ranking.epsilon_lower(delta, level),
            Kind::Runs { runs, .. } => runs.epsilon_lower(delta, level),
        }
    }

    /// The bound if all guesses were correct.
    ///
    /// # Errors
    /// As [`Guesses::ceiling`].
    pub fn ceiling(&self, delta: f64, significance: f64) -> Result<f64, OneRunError> {
        check_significance(significance)?;
        let level = self.coin_level(significance);
        match &self.kind {
            Kind::Fixed(guesses) => guesses.ceiling(delta, level),
            Kind::Walk { steps, .. } => {
                let sizes: Vec<u64> = steps.iter().map(Guesses::guesses).collect();
                let Some(first) = steps.first() else { return Ok(0.0) };
                Ranking::new(first.game(), sizes.clone(), sizes)?.epsilon_lower(delta, level)
            }
            Kind::Runs { runs, .. } => runs.all_correct()?.epsilon_lower(delta, level),
        }
    }

    /// The fewest correct guesses at each step that reject (ε, δ) alone: the boundary of the walk; none
    /// for several runs, whose evidence multiplies.
    ///
    /// # Errors
    /// As [`Guesses::p_value`].
    pub fn boundary(
        &self,
        epsilon: f64,
        delta: f64,
        significance: f64,
    ) -> Result<Vec<Option<u64>>, OneRunError> {
        if matches!(self.kind, Kind::Runs { .. }) {
            return Ok(vec![None; self.steps().len()]);
        }
        let fewest = |step: usize| -> Result<Option<u64>, OneRunError> {
            let (mut accepted, mut rejected) = (0, self.steps()[step].guesses() + 1);
            while rejected - accepted > 1 {
                let middle = accepted + (rejected - accepted) / 2;
                if self.reaching(step, middle)?.p_value(epsilon, delta)? < significance {
                    rejected = middle;
                } else {
                    accepted = middle;
                }
            }
            Ok((rejected <= self.steps()[step].guesses()).then_some(rejected))
        };
        (0..self.steps().len()).map(fewest).collect()
    }

    /// Guesses of which `correct` are correct at one step, the most of them in the last ones before it
    /// and none after it.
    fn reaching(&self, step: usize, correct: u64) -> Result<Self, OneRunError> {
        let at = self.steps()[step];
        if self.is_fixed() {
            let guesses = at.with_counts(at.game(), at.guesses(), correct)?;
            return Ok(Self { kind: Kind::Fixed(guesses), size_chance: self.size_chance });
        }
        let sizes: Vec<u64> = self.steps().iter().map(Guesses::guesses).collect();
        let count = |&size: &u64| match at.guesses().checked_sub(size) {
            Some(later) => correct.saturating_sub(later),
            None => correct,
        };
        let counts = sizes.iter().map(count).collect();
        Ok(Self { size_chance: self.size_chance, ..Self::walk(at.game(), sizes, counts)? })
    }

    /// The step with the largest bound as if its number of guesses had been fixed.
    pub(super) fn deciding(&self, delta: f64, significance: f64) -> Result<Guesses, OneRunError> {
        let mut best = (self.steps()[0], f64::NEG_INFINITY);
        for step in self.steps() {
            let bound = step.epsilon_lower(delta, self.coin_level(significance))?;
            if bound > best.1 {
                best = (*step, bound);
            }
        }
        Ok(best.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_boundary_is_where_rejection_starts() {
        let game = CanaryGame::coins(64).unwrap();
        let walk = GuessEvidence::walk(game, vec![8, 16, 32, 64], vec![0; 4]).unwrap();
        let boundary = walk.boundary(0.5, 1e-5, 0.05).unwrap();
        for (step, fewest) in boundary.iter().enumerate() {
            let p = |count| walk.reaching(step, count).unwrap().p_value(0.5, 1e-5).unwrap();
            let Some(fewest) = *fewest else { continue };
            assert!(p(fewest) < 0.05 && p(fewest - 1) >= 0.05, "{step}");
        }
        assert_eq!(boundary.iter().flatten().count(), 3, "8 guesses are too few: {boundary:?}");
    }
}
