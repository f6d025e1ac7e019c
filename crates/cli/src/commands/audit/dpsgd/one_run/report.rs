//! The report of trainings with canaries.

use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::one_run::{
    CanaryError, GuessRule, OneRunFinding, OneRunQuestion, OneRunResult,
};
use dpscope_engine::Artefact;
use dpscope_report::figure::OneRunFigure;
use dpscope_report::number::counted;
use dpscope_report::record::{
    ClaimTest, OneRunReport, OneRunTrainings, RepeatRecord, RepeatSummary, RunFacts,
};
use dpscope_report::words::{CanaryGameKind, CoinsStatus, GuessRuleKind, OneRunDesign};
use dpscope_train::one_run::{OneRunDescription, OneRunGame, OneRunPlan, TrainedUnit};

use super::args::score_kind;
use crate::args::ReportArgs;
use crate::commands::audit::one_run::{check_plot, print_report};
use crate::failure::{CommandResult, Exit, Failure, reject_unused_options};
use crate::output::{claim_test, print_note};

/// The claim; also rejects options without effect and files that cannot be written.
pub(super) fn check(
    args: &ReportArgs,
    plan: &OneRunPlan,
    certified: Adjacency,
) -> Result<ClaimTest, Failure> {
    let unused = [("--metrics", args.metrics), ("--curves", args.plot.curves.is_some())];
    reject_unused_options(&unused, "on guesses of many canaries in one run")?;
    args.plot.plot.as_deref().map_or(Ok(()), check_plot)?;
    args.page.check()?;
    let test = claim_test(&args.claim, plan.deltas[0])?;
    let is_replace = test.claim.is_some_and(|claim| claim.adjacency == Adjacency::Replace);
    if is_replace && certified == Adjacency::AddRemove {
        return Err(Failure::input(
            "--claim-adjacency is replace, but absent canaries only test add-remove; pass the \
             claim for add-remove",
        ));
    }
    Ok(test)
}

/// Prints the report of trainings, and returns its exit code.
pub(super) fn finish(
    state: &Artefact<OneRunPlan>,
    facts: &RunFacts,
    args: &ReportArgs,
) -> CommandResult {
    let plan = &state.plan;
    if !state.is_complete() {
        print_note(&format!(
            "{} of {} are trained; a result needs all of them",
            state.done(),
            counted(plan.models(), "model")
        ));
        return Ok(Exit::Done);
    }
    let description = OneRunDescription::from_json(&state.evidence.description)?;
    let adjacency = description.settings.slots.adjacency();
    let test = check(args, plan, adjacency)?;
    check_failed(state)?;
    let game = state.evidence.game(plan, 0..plan.repeats);
    let result = audited(plan, &game, plan.rule)?;
    let result = result.with_findings(findings(state, &description));
    let is_drawn = args.plot.plot.is_some() || args.page.report.is_some();
    let figure = is_drawn.then(|| figure(plan, &game, &result)).transpose()?;
    let design = OneRunDesign {
        game: CanaryGameKind::Coins,
        canaries: result.game().canaries(),
        set_size: result.game().set_size(),
        adjacency,
        rule: match plan.rule {
            GuessRule::Walk => GuessRuleKind::Walk,
            GuessRule::Sides { included: 0, .. } | GuessRule::Sides { excluded: 0, .. } => {
                GuessRuleKind::OneSide
            }
            GuessRule::Most(_) | GuessRule::Sides { .. } => GuessRuleKind::Fixed,
        },
        coins: CoinsStatus::Drawn,
    };
    let report = OneRunReport::new(result, design, &test)?;
    let training = trainings(state, facts, &report);
    let report = OneRunReport {
        auc: game.canary_scores()?.auc(),
        training: Some(training),
        elapsed_ms: facts.elapsed_ms,
        ..report
    };
    print_report(&report, &args.delivery(), args.plot.plot.as_deref(), figure)?;
    Ok(args.claim.exit(report.verdict, !report.findings.is_empty()))
}

/// Refuses trainings of which more than 1 % diverged: their guesses count as wrong.
fn check_failed(state: &Artefact<OneRunPlan>) -> Result<(), Failure> {
    let repeats = u64::from(state.plan.repeats);
    let is_repeat = |unit: u64| unit < repeats;
    let models = &state.evidence.models;
    let failed =
        models.iter().filter(|model| model.has_failed && is_repeat(model.unit)).count() as u64;
    if 100 * failed <= repeats {
        return Ok(());
    }
    Err(Failure::input(format!(
        "{failed} of {} diverged, and their canaries have no scores; pass a lower --learning-rate",
        counted(repeats, "training")
    )))
}

/// The bounds of canaries that are guessed by this rule.
fn audited(
    plan: &OneRunPlan,
    game: &OneRunGame,
    rule: GuessRule,
) -> Result<OneRunResult, CanaryError> {
    let ties = plan.tie_order(game.scores.len());
    let question = OneRunQuestion {
        deltas: &plan.deltas,
        significance: plan.significance,
        rule,
        // the program drew them
        is_committed: true,
    };
    game.canary_scores()?.audit(&question, &[], |index| ties[index as usize])
}

fn figure(
    plan: &OneRunPlan,
    game: &OneRunGame,
    result: &OneRunResult,
) -> Result<OneRunFigure, CanaryError> {
    let canaries = game.canary_scores()?;
    let ties = plan.tie_order(game.scores.len());
    let ranking = canaries.ranking(|index| ties[index as usize]);
    Ok(OneRunFigure::new(&canaries, &ranking, result, &game.scores, &game.coins))
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
        score: score_kind(plan.score),
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
    let share = |guesses: u64| guesses.div_ceil(u64::from(plan.repeats));
    let rule = match plan.rule {
        GuessRule::Walk => GuessRule::Walk,
        GuessRule::Most(guesses) => GuessRule::Most(share(guesses)),
        GuessRule::Sides { included, excluded } => {
            GuessRule::Sides { included: share(included), excluded: share(excluded) }
        }
    };
    let game = state.evidence.game(plan, unit..unit + 1);
    let model = state.evidence.models.iter().find(|model| model.unit == u64::from(unit));
    RepeatRecord {
        epsilon: audited(plan, &game, rule).ok().map(|result| result.bounds()[0].epsilon),
        auc: game.canary_scores().ok().and_then(|canaries| canaries.auc()),
        correct_share: model.and_then(TrainedUnit::accuracy),
    }
}
