//! The bounds of all procedures on one simulated run.

use std::sync::OnceLock;

use dpscope_core::audit::one_run::{
    CanaryGame, GaussianGuesses, Guesses, OneRunError, Ranking, independent_canaries_mu,
    ranking_sizes,
};
use dpscope_report::record::OneRunProcedure;

use super::canaries::ScoredCanaries;
use super::training::Simulation;
use super::without_coverage::{
    Statement, clopper_pearson, gaussian_fit, hull_bonferroni, largest_over_guesses,
    largest_over_sides,
};

/// Bounds that depend on the number of correct guesses alone, each computed once.
#[derive(Debug)]
struct BoundsByCount(Vec<OnceLock<Result<f64, OneRunError>>>);

impl BoundsByCount {
    fn new(guesses: u64) -> Self {
        Self((0..=guesses).map(|_| OnceLock::new()).collect())
    }

    fn of(
        &self,
        counts: &Guesses,
        bound: impl FnOnce(&Guesses) -> Result<f64, OneRunError>,
    ) -> Result<f64, OneRunError> {
        self.0[counts.correct() as usize].get_or_init(|| bound(counts)).clone()
    }
}

/// All procedures on one simulated training.
#[derive(Debug)]
pub(super) struct Procedures {
    game: CanaryGame,
    guesses: u64,
    cut: f64,
    statement: Statement,
    /// Bounds of the procedures with a fixed number of guesses, in the order of all procedures.
    by_count: [BoundsByCount; OneRunProcedure::ALL.len()],
}

impl Procedures {
    pub(super) fn new(simulation: &Simulation, significance: f64) -> Result<Self, anyhow::Error> {
        let guesses = simulation.guesses();
        Ok(Self {
            game: CanaryGame::coins(simulation.canaries)?,
            guesses,
            cut: simulation.cut()?,
            statement: Statement { delta: simulation.delta, significance },
            by_count: OneRunProcedure::ALL.map(|_| BoundsByCount::new(guesses)),
        })
    }

    /// The bounds of all procedures, in their order.
    pub(super) fn bounds(
        &self,
        canaries: &ScoredCanaries,
    ) -> Result<[f64; OneRunProcedure::ALL.len()], anyhow::Error> {
        let guesses_all = self.guesses == canaries.count();
        let correct =
            if guesses_all { canaries.correct_by_sign() } else { canaries.correct(self.guesses) };
        let counts = Guesses::new(self.game, self.guesses, correct)?;
        let mut bounds = [0.0; OneRunProcedure::ALL.len()];
        let places = bounds.iter_mut().zip(&self.by_count);
        for ((bound, by_count), procedure) in places.zip(OneRunProcedure::ALL) {
            *bound = self.bound(procedure, canaries, &counts, by_count)?;
        }
        Ok(bounds)
    }

    fn bound(
        &self,
        procedure: OneRunProcedure,
        canaries: &ScoredCanaries,
        counts: &Guesses,
        by_count: &BoundsByCount,
    ) -> Result<f64, anyhow::Error> {
        let statement = self.statement;
        let Statement { delta, significance } = statement;
        Ok(match procedure {
            OneRunProcedure::Count => {
                by_count.of(counts, |counts| counts.epsilon_lower(delta, significance))?
            }
            OneRunProcedure::Walk => {
                let sizes = ranking_sizes(canaries.count());
                let correct = sizes.iter().map(|&size| canaries.correct(size)).collect();
                Ranking::new(self.game, sizes, correct)?.epsilon_lower(delta, significance)?
            }
            OneRunProcedure::Steinke => {
                by_count.of(counts, |counts| counts.steinke_epsilon_lower(delta, significance))?
            }
            OneRunProcedure::Recursion => by_count.of(counts, |counts| {
                GaussianGuesses::new(*counts).mu_lower_by_recursion(significance)
            })?,
            OneRunProcedure::LargestOverGuesses => largest_over_guesses(canaries, statement)?,
            OneRunProcedure::LargestOverSides => largest_over_sides(canaries, statement)?,
            OneRunProcedure::HullBonferroni => hull_bonferroni(canaries, statement)?,
            OneRunProcedure::IndependentCanaries => {
                by_count.of(counts, |counts| independent_canaries_mu(counts, significance))?
            }
            OneRunProcedure::GaussianFit => gaussian_fit(canaries, statement)?,
            OneRunProcedure::ClopperPearson => clopper_pearson(canaries, self.cut, statement)?,
        })
    }
}
