//! Repeated audits of DP-SGD with canaries of a kind.

use dpscope_core::audit::one_run::{CanaryGame, Guesses, OneRunError};
use dpscope_core::random::{Purpose, Words};
use dpscope_engine::{UnitRange, Workload};
use dpscope_train::data::Examples;
use dpscope_train::one_run::{
    OneRunEvidence, OneRunGame, OneRunModels, OneRunPlan, OneRunTraining,
};

use super::sets::CanarySet;
use super::trainings::{Comparison, guesses_of};
use crate::commands::audit::dpsgd::{mechanism, one_run};
use crate::commands::reproduce::mean::MeanEstimate;
use crate::commands::reproduce::one_run_validity::canaries::ScoredCanaries;
use crate::commands::reproduce::one_run_validity::without_coverage::{
    Statement, largest_over_guesses,
};
use crate::failure::{Exit, Failure};
use crate::progress::Terminal;

/// Redraws of the coins of a repeat.
const REDRAWS: u64 = 20;
/// The scores of all repeats.
pub(super) struct Repeats {
    raw: OneRunEvidence,
    calibrated: OneRunEvidence,
    plan: OneRunPlan,
}

/// Audits of one run, game by game.
pub(super) struct AuditedGames {
    pub(super) auc: MeanEstimate,
    /// Largest bounds over the number of guesses, uncorrected, as published; no bounds.
    pub(super) estimates: Vec<f64>,
    /// Lower bounds on ε, with k fixed before the coins are drawn.
    pub(super) bounds: Vec<f64>,
}

impl Comparison {
    /// Trains the repeats and the reference models on records that are no canaries.
    pub(super) fn train(&self, set: &CanarySet<'_>, base: &Examples) -> Result<Repeats, Failure> {
        let labels = set.start.labels.clone();
        let (shape, classes, values) = (base.shape(), base.classes(), set.values.clone());
        let canaries = Examples::from_values(set.name, shape, classes, labels, values)
            .ok_or_else(|| Failure::with(Exit::Internal, "canaries that are not finite"))?;
        let mechanism = mechanism(&self.audit)?;
        let settings = one_run::settings(&self.audit, &mechanism, None)?;
        let base = base.clone();
        let training =
            OneRunTraining::new(&self.spec, base, canaries, mechanism, settings, self.seed)
                .map_err(|error| Failure::input(format!("{error}, or another --seed")))?;
        let plan = one_run::planned(&self.audit, self.seed, &training);
        let all = UnitRange { first: 0, end: plan.models() };
        let models = OneRunModels::new(plan.clone(), training, self.threads)?;
        let calibrated = models.compute(&(), all, &Terminal::of_pair(true))?;
        if calibrated.failed() > 0 {
            let problem = format!("a DP-SGD training with {} canaries diverged", set.name);
            return Err(Failure::input(problem + "; scale the features to about 1"));
        }
        let mut raw = calibrated.clone();
        raw.models.truncate(plan.repeats as usize);
        Ok(Repeats { raw, calibrated, plan })
    }

    /// The repeats, each a game.
    pub(super) fn audited(
        &self,
        repeats: &Repeats,
        is_calibrated: bool,
    ) -> Result<AuditedGames, Failure> {
        let game = |repeat| (u64::from(repeat), repeats.game(is_calibrated, repeat..repeat + 1));
        self.games((0..self.runs).map(game))
    }

    /// Bound of the canaries of all repeats as one game.
    pub(super) fn joint_bound(
        &self,
        repeats: &Repeats,
        is_calibrated: bool,
    ) -> Result<f64, Failure> {
        let game = repeats.game(is_calibrated, 0..self.runs);
        self.bound(&self.ranked(&game, self.runs.into()), self.runs.into())
    }

    /// The repeats with coins that are drawn after the trainings, several times each.
    pub(super) fn redrawn(
        &self,
        repeats: &Repeats,
        is_calibrated: bool,
    ) -> Result<AuditedGames, Failure> {
        let game = |repeat: u32, redraw: u64| {
            let stream = 2 << 40 | u64::from(repeat) << 8 | redraw;
            let mut words = Words::new(self.seed, Purpose::OneRunAudit, stream);
            let mut game = repeats.game(is_calibrated, repeat..repeat + 1);
            game.coins.fill_with(|| words.next_word() & 1 == 1);
            (stream, game)
        };
        let redraws = |repeat| (0..REDRAWS).map(move |redraw| game(repeat, redraw));
        self.games((0..self.runs).flat_map(redraws))
    }

    /// Games by the streams of the order of their equal scores.
    fn games(
        &self,
        games: impl Iterator<Item = (u64, OneRunGame)>,
    ) -> Result<AuditedGames, Failure> {
        let (mut aucs, mut estimates, mut bounds) = (Vec::new(), Vec::new(), Vec::new());
        for (stream, game) in games {
            let auc = game.canary_scores().ok().and_then(|scores| scores.auc());
            // without canaries on both sides
            aucs.push(auc.unwrap_or(0.5));
            let ranked = self.ranked(&game, stream);
            estimates.push(largest_over_guesses(&ranked, self.statement()).map_err(internal)?);
            bounds.push(self.bound(&ranked, 1)?);
        }
        Ok(AuditedGames { auc: MeanEstimate::of(&aucs), estimates, bounds })
    }

    /// Canaries by score, equal scores in an order that neither coins nor scores decide.
    fn ranked(&self, game: &OneRunGame, stream: u64) -> ScoredCanaries {
        let mut words = Words::new(self.seed, Purpose::OneRunAudit, 3 << 40 | stream);
        ScoredCanaries::ranked(&game.scores, &game.coins, || words.next_word())
    }

    /// The exact bound of a fixed number of guesses.
    fn bound(&self, ranked: &ScoredCanaries, repeats: u64) -> Result<f64, Failure> {
        let canaries = ranked.count();
        let guesses = repeats * guesses_of(canaries / repeats);
        let game = CanaryGame::coins(canaries).map_err(internal)?;
        let counts = Guesses::new(game, guesses, ranked.correct(guesses)).map_err(internal)?;
        let Statement { delta, significance } = self.statement();
        counts.epsilon_lower(delta, significance).map_err(internal)
    }
}

impl Repeats {
    fn game(&self, is_calibrated: bool, repeats: std::ops::Range<u32>) -> OneRunGame {
        let evidence = if is_calibrated { &self.calibrated } else { &self.raw };
        evidence.game(&self.plan, repeats)
    }
}

fn internal(error: OneRunError) -> Failure {
    Failure::with(Exit::Internal, error)
}
