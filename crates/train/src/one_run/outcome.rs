//! The report of trainings with canaries.

use dpscope_core::audit::claim::ClaimError;
use dpscope_core::audit::one_run::{
    CanaryError, GuessRule, OneRunFinding, OneRunQuestion, OneRunResult,
};
use dpscope_engine::Artefact;
use dpscope_report::figure::OneRunFigure;
use dpscope_report::record::{
    ClaimTest, OneRunReport, OneRunTrainings, RepeatRecord, RepeatSummary, RunFacts,
};
use dpscope_report::words::{
    CanaryGameKind, CanaryScoreKind, CoinsStatus, GuessRuleKind, OneRunDesign,
};

use super::evidence::{OneRunScore, TrainedUnit};
use super::game::OneRunGame;
use super::plan::OneRunPlan;
use super::settings::OneRunDescription;
use crate::TrainError;

/// Why trainings have no report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OneRunOutcomeError {
    /// Models are missing.
    #[error("models are missing: there is no bound before all of them are trained")]
    Incomplete,
    /// More than 1 % of the trainings diverged: their guesses would count as wrong.
    #[error("{failed} of {trainings} trainings diverged, and their canaries have no scores")]
    Diverged {
        /// Audited trainings that diverged.
        failed: u64,
        /// Audited trainings.
        trainings: u64,
    },
    /// Invalid description.
    #[error(transparent)]
    Training(#[from] TrainError),
    /// The canaries cannot be guessed.
    #[error(transparent)]
    Canaries(#[from] CanaryError),
    /// The claim cannot be tested.
    #[error(transparent)]
    Claim(#[from] ClaimError),
}

/// The canaries of all repeats and their bounds.
#[derive(Debug)]
pub struct OneRunOutcome<'a> {
    state: &'a Artefact<OneRunPlan>,
    description: OneRunDescription,
    game: OneRunGame,
    result: OneRunResult,
}

impl<'a> OneRunOutcome<'a> {
    /// Guesses the coins of all canaries.
    ///
    /// # Errors
    /// Models are missing; more than 1 % of the trainings diverged; a checkpoint without a valid
    /// description.
    pub fn of(state: &'a Artefact<OneRunPlan>) -> Result<Self, OneRunOutcomeError> {
        if !state.is_complete() {
            return Err(OneRunOutcomeError::Incomplete);
        }
        let plan = &state.plan;
        let description = OneRunDescription::from_json(&state.evidence.description)?;
        check_failed(state)?;
        let game = state.evidence.game(plan, 0..plan.repeats);
        let result = plan.guessed(&game, plan.rule)?;
        let result = result.with_findings(findings(state, &description));
        Ok(OneRunOutcome { state, description, game, result })
    }

    /// What a drawing shows beside the report.
    ///
    /// # Errors
    /// None after [`of`](Self::of).
    pub fn figure(&self) -> Result<OneRunFigure, CanaryError> {
        let OneRunGame { scores, coins } = &self.game;
        let canaries = self.game.canary_scores()?;
        let ties = self.state.plan.tie_order(scores.len());
        let ranking = canaries.ranking(|index| ties[index as usize]);
        Ok(OneRunFigure::new(&canaries, &ranking, &self.result, scores, coins))
    }

    /// The report.
    ///
    /// # Errors
    /// A claim that these canaries cannot test.
    pub fn report(
        self,
        facts: &RunFacts,
        test: &ClaimTest,
    ) -> Result<OneRunReport, OneRunOutcomeError> {
        let OneRunOutcome { state, description, game, result } = self;
        let design = OneRunDesign {
            game: CanaryGameKind::Coins,
            canaries: result.game().canaries(),
            set_size: result.game().set_size(),
            adjacency: description.settings.slots.adjacency(),
            rule: match state.plan.rule {
                GuessRule::Walk => GuessRuleKind::Walk,
                GuessRule::Sides { included: 0, .. } | GuessRule::Sides { excluded: 0, .. } => {
                    GuessRuleKind::OneSide
                }
                GuessRule::Most(_) | GuessRule::Sides { .. } => GuessRuleKind::Fixed,
            },
            coins: CoinsStatus::Drawn,
        };
        let report = OneRunReport::new(result, design, test)?;
        let training = trainings(state, facts, &report);
        Ok(OneRunReport {
            auc: game.canary_scores()?.auc(),
            elapsed_ms: facts.elapsed_ms,
            ..report.with_trainings(training)
        })
    }
}

impl OneRunPlan {
    /// The bounds of canaries that are guessed by this rule.
    ///
    /// # Errors
    /// As [`CanaryScores::audit`](dpscope_core::audit::one_run::CanaryScores::audit).
    pub fn guessed(&self, game: &OneRunGame, rule: GuessRule) -> Result<OneRunResult, CanaryError> {
        let ties = self.tie_order(game.scores.len());
        let tie = |index| ties[index as usize];
        game.canary_scores()?.audit(&self.question(rule), &[], tie)
    }

    /// ε of [`guessed`](Self::guessed).
    fn epsilon(&self, game: &OneRunGame, rule: GuessRule) -> Result<f64, CanaryError> {
        let ties = self.tie_order(game.scores.len());
        let tie = |index| ties[index as usize];
        Ok(game.canary_scores()?.bounds(&self.question(rule), &[], tie)?[0].epsilon)
    }

    fn question(&self, rule: GuessRule) -> OneRunQuestion<'_> {
        OneRunQuestion {
            deltas: &self.deltas,
            significance: self.significance,
            rule,
            // the program drew them
            is_committed: true,
        }
    }

    /// The rule with the share of some repeats in the guesses of all.
    #[must_use]
    pub fn rule_of(&self, repeats: u32) -> GuessRule {
        let all = u64::from(self.repeats.max(1));
        let share = |guesses: u64| (guesses * u64::from(repeats)).div_ceil(all);
        match self.rule {
            GuessRule::Walk => GuessRule::Walk,
            GuessRule::Most(guesses) => GuessRule::Most(share(guesses)),
            GuessRule::Sides { included, excluded } => {
                GuessRule::Sides { included: share(included), excluded: share(excluded) }
            }
        }
    }
}

impl From<OneRunScore> for CanaryScoreKind {
    fn from(score: OneRunScore) -> Self {
        match score {
            OneRunScore::FinalLoss => CanaryScoreKind::FinalLoss,
            OneRunScore::LossDifference => CanaryScoreKind::LossDifference,
            OneRunScore::WhiteBox => CanaryScoreKind::WhiteBox,
        }
    }
}

/// Refuses trainings of which more than 1 % diverged.
fn check_failed(state: &Artefact<OneRunPlan>) -> Result<(), OneRunOutcomeError> {
    let trainings = u64::from(state.plan.repeats);
    let has_failed = |model: &&TrainedUnit| model.has_failed && model.unit < trainings;
    let failed = state.evidence.models.iter().filter(has_failed).count() as u64;
    if 100 * failed <= trainings {
        return Ok(());
    }
    Err(OneRunOutcomeError::Diverged { failed, trainings })
}

fn findings(state: &Artefact<OneRunPlan>, description: &OneRunDescription) -> Vec<OneRunFinding> {
    let repeated = description.repeated;
    let (count, canaries) = (repeated.base + repeated.pre_training, state.plan.canaries);
    let in_data =
        OneRunFinding::CanariesInBaseData { copies: count.into(), canaries: canaries.into() };
    let (failed, trainings) = (state.evidence.failed(), state.plan.models());
    let diverged = OneRunFinding::FailedTrainings { count: failed, trainings };
    let found = [(count > 0, in_data), (failed > 0, diverged)];
    found.into_iter().filter(|found| found.0).map(|found| found.1).collect()
}

fn trainings(
    state: &Artefact<OneRunPlan>,
    facts: &RunFacts,
    report: &OneRunReport,
) -> OneRunTrainings {
    let plan = &state.plan;
    let repeats: Vec<RepeatRecord> = (0..plan.repeats).map(|unit| repeat(state, unit)).collect();
    let audited = state.evidence.models.iter().filter(|m| m.unit < u64::from(plan.repeats));
    let (asked, correct) =
        audited.fold((0, 0), |sum, model| (sum.0 + model.evaluated, sum.1 + model.correct));
    let (theory, ideal_attack_epsilon) = report.theory(&plan.mechanism);
    OneRunTrainings {
        mechanism: plan.mechanism,
        description: serde_json::from_str(&state.evidence.description).unwrap_or_default(),
        canaries: plan.canaries,
        score: plan.score.into(),
        reference_models: plan.references,
        failed: state.evidence.failed(),
        correct_share: (asked > 0).then(|| correct as f64 / asked as f64),
        asked,
        summary: RepeatSummary::of(&repeats, report.claimed()),
        repeats,
        theory,
        ideal_attack_epsilon,
        seed: plan.seed.to_string(),
        seed_source: facts.seed_source,
        device: state.devices.join(", "),
        resumed_from: facts.resumed_from,
    }
}

/// One training alone, with its share of the guesses.
fn repeat(state: &Artefact<OneRunPlan>, unit: u32) -> RepeatRecord {
    let plan = &state.plan;
    let game = state.evidence.game(plan, unit..unit + 1);
    let model = state.evidence.models.iter().find(|model| model.unit == u64::from(unit));
    RepeatRecord {
        epsilon: plan.epsilon(&game, plan.rule_of(1)).ok(),
        auc: game.canary_scores().ok().and_then(|canaries| canaries.auc()),
        correct_share: model.and_then(TrainedUnit::accuracy),
    }
}
