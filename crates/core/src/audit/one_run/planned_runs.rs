//! E-values of the runs of one plan.

use super::walk::largest_of_grid;
use super::{
    CanaryGame, GuessRecord, Guesses, OneRunError, check_delta, check_epsilon, check_significance,
};
use crate::math;

/// The runs made so far under a plan that fixes their number, each with its own coins.
///
/// With E_r the e-value of run r ([`GuessRecord::ln_e_value`]),
/// p = α + mδ(1 − α) ln(1/q)/ln(1/α), α = 1/max_r Π_{i ≤ r} E_i, m the canaries of all runs that the
/// plan allows, made or not. One may stop after any run. Canaries, score and training of a run must
/// not depend on the coins of earlier ones.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedRuns {
    records: Vec<GuessRecord>,
    /// The canaries of all planned runs.
    game: CanaryGame,
}

impl PlannedRuns {
    /// The runs so far, of `planned` ones.
    ///
    /// # Errors
    /// [`OneRunError::Runs`] without runs or with more than planned, [`OneRunError::DifferentRuns`],
    /// [`OneRunError::Canaries`] above 10¹² canaries.
    pub fn new(planned: u64, records: Vec<GuessRecord>) -> Result<Self, OneRunError> {
        let runs = records.len();
        let Some(first) = records.first().filter(|_| runs as u64 <= planned) else {
            return Err(OneRunError::Runs { runs, planned });
        };
        let design = |record: &GuessRecord| -> (CanaryGame, Vec<u64>) {
            (record.game(), record.counts().map(|(size, _)| size).collect())
        };
        let expected = design(first);
        if let Some(run) = records.iter().position(|record| design(record) != expected) {
            return Err(OneRunError::DifferentRuns { run });
        }
        let game = of_all_runs(first.game(), planned)?;
        Ok(Self { records, game })
    }

    /// The largest probability of such runs under (ε, δ)-DP.
    ///
    /// # Errors
    /// [`OneRunError::Epsilon`], [`OneRunError::Delta`].
    pub fn p_value(&self, epsilon: f64, delta: f64) -> Result<f64, OneRunError> {
        check_epsilon(epsilon)?;
        check_delta(delta)?;
        Ok(self.game.monotone_p(self.level(epsilon), epsilon, delta))
    }

    /// Lower bound on ε: the largest of 0, 0.005, 0.010, … that is rejected together with all
    /// smaller ones; 0 if none is.
    ///
    /// # Guarantee
    /// If every run is (ε, δ)-DP, the bound exceeds ε after any of them with probability at most
    /// `significance`, for one δ
    /// (`tests/coverage/one_run.rs::e_values_need_the_canaries_of_all_planned_runs`).
    ///
    /// # Errors
    /// [`OneRunError::Delta`], [`OneRunError::Significance`].
    pub fn epsilon_lower(&self, delta: f64, significance: f64) -> Result<f64, OneRunError> {
        check_delta(delta)?;
        check_significance(significance)?;
        // α rises with ε, and ln(1/q) is largest at ε = 0
        let p = |epsilon: f64, ln_q_at: f64| {
            self.game.monotone_p(self.level(epsilon), ln_q_at, delta) < significance
        };
        Ok(largest_of_grid(|epsilon| p(epsilon, 0.0), |epsilon| p(epsilon, epsilon)))
    }

    /// α: 1/max ΠE, at most 1.
    fn level(&self, epsilon: f64) -> f64 {
        let (mut sum, mut largest) = (0.0, 0.0_f64);
        for record in &self.records {
            sum += record.ln_e(epsilon);
            largest = largest.max(sum);
        }
        math::exp(-largest)
    }

    /// The guesses of all runs, summed.
    pub(super) fn steps(&self) -> Result<Vec<Guesses>, OneRunError> {
        let runs = self.records.len() as u64;
        let sizes = self.records[0].counts().map(|(size, _)| size);
        let correct = |step: usize| -> u64 {
            self.records.iter().filter_map(|run| run.counts().nth(step)).map(|(_, v)| v).sum()
        };
        let step = |(step, size)| Guesses::new(self.game, runs * size, correct(step));
        sizes.enumerate().map(step).collect()
    }

    /// These runs if all guesses were correct.
    pub(super) fn all_correct(&self) -> Result<Self, OneRunError> {
        let records = self.records.iter().map(GuessRecord::all_correct).collect();
        Ok(Self { records, game: self.game })
    }
}

pub(super) fn of_all_runs(game: CanaryGame, planned: u64) -> Result<CanaryGame, OneRunError> {
    CanaryGame::sets(game.canaries().saturating_mul(planned), game.set_size())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::one_run::ranking_sizes;

    fn record(correct: &[u64]) -> GuessRecord {
        GuessRecord::new(CanaryGame::coins(64).unwrap(), ranking_sizes(64), correct.to_vec())
            .unwrap()
    }

    const LEAK: [u64; 4] = [8, 15, 28, 50];
    const NOTHING: [u64; 4] = [4, 8, 16, 32];

    #[test]
    fn runs_add_evidence_and_planned_ones_cost_some() {
        let bound = |planned, records: &[[u64; 4]]| {
            let records = records.iter().map(|correct| record(correct)).collect();
            PlannedRuns::new(planned, records).unwrap().epsilon_lower(1e-3, 0.05).unwrap()
        };
        let (one, three) = (bound(3, &[LEAK]), bound(3, &[LEAK; 3]));
        assert!(three > one + 0.2 && one > 0.4, "{one} {three}");
        assert!(bound(30, &[LEAK; 3]) < three, "canaries of runs that were not made count, too");
        // the largest product so far: a run without evidence takes nothing back
        assert_eq!(bound(3, &[LEAK, LEAK, NOTHING]), bound(3, &[LEAK; 2]));
        assert!(PlannedRuns::new(1, vec![record(&LEAK), record(&LEAK)]).is_err());
        assert!(PlannedRuns::new(1, vec![]).is_err());
    }
}
