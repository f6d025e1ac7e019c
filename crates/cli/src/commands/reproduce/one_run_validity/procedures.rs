//! Procedures that turn the scores of one training into a bound, and their bounds on a simulated run.

use std::sync::OnceLock;

use dpscope_core::audit::one_run::{
    CanaryGame, GaussianGuesses, Guesses, OneRunError, Ranking, independent_canaries_mu,
    ranking_sizes,
};
use serde::{Deserialize, Serialize};

use super::canaries::ScoredCanaries;
use super::training::Simulation;
use super::without_coverage::{
    Statement, clopper_pearson, gaussian_fit, hull_bonferroni, largest_over_guesses,
    largest_over_sides,
};
use crate::commands::reproduce::data;
use crate::failure::Failure;

/// What `procedures.toml` says of a procedure; `SOURCE.md` beside it explains the fields.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Procedure {
    pub(super) id: ProcedureId,
    pub(super) name: String,
    pub(super) description: String,
    pub(super) source: String,
    pub(super) proven_for: Option<String>,
    #[serde(default)]
    pub(super) assumes_independence: bool,
    pub(super) quantity: BoundedQuantity,
}

/// What a procedure bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum BoundedQuantity {
    /// ε at δ.
    Epsilon,
    /// μ of Gaussian differential privacy.
    GdpMu,
}

/// Which bound a procedure computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ProcedureId {
    Count,
    Walk,
    Steinke,
    Recursion,
    LargestOverGuesses,
    LargestOverSides,
    HullBonferroni,
    IndependentCanaries,
    GaussianFit,
    ClopperPearson,
}

/// All of them, in the order of tables.
pub(super) fn procedures() -> Result<Vec<Procedure>, Failure> {
    data::list(include_str!("../../../../papers/one_run/procedures.toml"))
}

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
pub(super) struct Bounds {
    game: CanaryGame,
    guesses: u64,
    cut: f64,
    statement: Statement,
    /// In the order of the table; bounds by count of the procedures with a fixed number of guesses.
    procedures: Vec<(ProcedureId, BoundsByCount)>,
}

impl Bounds {
    pub(super) fn new(
        procedures: &[Procedure],
        simulation: &Simulation<'_>,
        significance: f64,
    ) -> Result<Self, anyhow::Error> {
        let guesses = simulation.guesses();
        let by_count = procedures.iter().map(|one| (one.id, BoundsByCount::new(guesses)));
        Ok(Self {
            game: CanaryGame::coins(simulation.canaries)?,
            guesses,
            cut: simulation.cut()?,
            statement: Statement { delta: simulation.delta, significance },
            procedures: by_count.collect(),
        })
    }

    /// The bounds of all procedures, in their order.
    pub(super) fn of(&self, canaries: &ScoredCanaries) -> Result<Vec<f64>, anyhow::Error> {
        let guesses_all = self.guesses == canaries.count();
        let correct =
            if guesses_all { canaries.correct_by_sign() } else { canaries.correct(self.guesses) };
        let counts = Guesses::new(self.game, self.guesses, correct)?;
        let bounds = self.procedures.iter();
        bounds.map(|(procedure, known)| self.bound(*procedure, canaries, &counts, known)).collect()
    }

    fn bound(
        &self,
        procedure: ProcedureId,
        canaries: &ScoredCanaries,
        counts: &Guesses,
        by_count: &BoundsByCount,
    ) -> Result<f64, anyhow::Error> {
        let statement = self.statement;
        let Statement { delta, significance } = statement;
        Ok(match procedure {
            ProcedureId::Count => {
                by_count.of(counts, |counts| counts.epsilon_lower(delta, significance))?
            }
            ProcedureId::Walk => {
                let sizes = ranking_sizes(canaries.count());
                let correct = sizes.iter().map(|&size| canaries.correct(size)).collect();
                Ranking::new(self.game, sizes, correct)?.epsilon_lower(delta, significance)?
            }
            ProcedureId::Steinke => {
                by_count.of(counts, |counts| counts.steinke_epsilon_lower(delta, significance))?
            }
            ProcedureId::Recursion => by_count.of(counts, |counts| {
                GaussianGuesses::new(*counts).mu_lower_by_recursion(significance)
            })?,
            ProcedureId::LargestOverGuesses => largest_over_guesses(canaries, statement)?,
            ProcedureId::LargestOverSides => largest_over_sides(canaries, statement)?,
            ProcedureId::HullBonferroni => hull_bonferroni(canaries, statement)?,
            ProcedureId::IndependentCanaries => {
                by_count.of(counts, |counts| independent_canaries_mu(counts, significance))?
            }
            ProcedureId::GaussianFit => gaussian_fit(canaries, statement)?,
            ProcedureId::ClopperPearson => clopper_pearson(canaries, self.cut, statement)?,
        })
    }
}
