//! `dpscope audit one-run`: guesses on the canaries of one training run.

mod args;
mod canary_file;
mod claimed_training;
mod counted;
mod load;
mod null_scores;

pub(crate) use args::{CanariesArg, DirectionArg, OneRunArgs, canaries};
pub(crate) use canary_file::CanaryFile;

use std::path::Path;

use dpscope_core::audit::one_run::{
    CanaryScores, OneRunQuestion, OneRunResult, RedrawnCoins, audit_runs,
};
use dpscope_report::figure::{OneRunFigure, SVG_MARK, one_run_svg};
use dpscope_report::record::{ClaimTest, OneRunReport, PlannedGame, PlannedRunsRecord};
use dpscope_report::text::{one_run_brief_text, one_run_text};
use dpscope_report::words::{CanaryGameKind, CoinsStatus, OneRunDesign, self_test_sentence};

use crate::canary_plan::CommittedPlan;
use crate::failure::{CommandResult, Exit, Failure};
use crate::files::{check_replaces, write_text};
use crate::output::{print_json, print_text};
use args::{option_of, test_of};
use load::{Loaded, Run};

/// Redraws of a self-test.
const REDRAWS: u32 = 1_000;
/// Fixed, so that a failure can be reproduced.
const SELF_TEST_SEED: u64 = 1;

pub(crate) fn run(args: &OneRunArgs) -> CommandResult {
    let started = std::time::Instant::now();
    if let Some(plot) = &args.plot {
        check_plot(plot)?;
    }
    if args.null_scores.is_some() || args.pool_scores.is_some() {
        return null_scores::audit(args, started);
    }
    if let Some(folder) = &args.plan {
        let committed = CommittedPlan::open(folder, args.seed.as_deref())?;
        if let PlannedGame::Poisson(mean) = committed.plan.game {
            return null_scores::audit_plan(args, (folder, &committed), mean, started);
        }
    }
    if args.design.is_some() {
        return Err(Failure::input(
            "--design is of canaries whose null scores are known: pass --null-scores or --pool-scores",
        ));
    }
    let has_runs = args.scores.len() > 1;
    Failure::first_of(&[
        (has_runs && args.plot.is_some(), "--plot draws one run; leave it out with several"),
        (has_runs && args.self_test, "--self-test tests one run; leave it out with several"),
    ])?;
    match args.correct {
        Some(correct) => {
            let (result, design) = counted::counted(args, correct)?;
            let test = test_of(args, result.bounds()[0].delta, &args.deltas(), design.adjacency)?;
            let report = report_of(args, result, design, &test)?;
            let inclusion_probability = args.inclusion_probability;
            finish(args, OneRunReport { inclusion_probability, ..report }, None, started)
        }
        None => scored(args, started),
    }
}

fn scored(args: &OneRunArgs, started: std::time::Instant) -> CommandResult {
    let loaded = Loaded::read(args)?;
    let runs: Vec<CanaryScores<'_>> =
        loaded.runs.iter().map(|run| loaded.canaries(run)).collect::<Result<_, _>>()?;
    let question = OneRunQuestion {
        deltas: &loaded.deltas,
        significance: loaded.significance,
        rule: loaded.rule,
        is_committed: loaded.is_committed,
    };
    let features: Vec<_> =
        loaded.features.iter().map(|(feature, values)| (*feature, &values[..])).collect();
    let tie = |run: u64, index: u64| loaded.tie(run, index);
    let result = audit_runs(&runs, loaded.planned_runs, &question, &features, tie)?;
    let result = result.with_findings(loaded.findings.clone());
    let game = match () {
        () if runs[0].is_matching() => CanaryGameKind::MatchedPairs,
        () if runs[0].is_sets() => CanaryGameKind::Sets,
        () if loaded.inclusion.is_some() => CanaryGameKind::UnfairCoins,
        () => CanaryGameKind::Coins,
    };
    let design = OneRunDesign {
        game,
        canaries: result.game().canaries(),
        set_size: result.game().set_size(),
        adjacency: match loaded.adjacency {
            Some(planned) => planned,
            None => args.adjacency_of(game)?,
        },
        rule: loaded.rule_kind(),
        coins: match loaded.is_committed {
            true => CoinsStatus::Committed,
            false => CoinsStatus::NotCommitted,
        },
    };
    let test = test_of(args, loaded.deltas[0], &loaded.deltas, design.adjacency)?;
    let figure = args.plot.is_some().then(|| {
        let ranking = runs[0].ranking(|index| tie(0, index));
        let Run { scores, coins } = &loaded.runs[0];
        OneRunFigure::new(&runs[0], &ranking, &result, scores, coins)
    });
    let self_test = match args.self_test {
        true => Some(self_test(&runs[0], &question, |index| tie(0, index))?),
        false => None,
    };
    let (made, planned) = (runs.len() as u64, loaded.planned_runs);
    let report = report_of(args, result, design, &test)?;
    let report = OneRunReport {
        auc: runs[0].auc().filter(|_| made == 1),
        runs: (planned > 1).then_some(PlannedRunsRecord { made, planned }),
        inclusion_probability: loaded.inclusion,
        self_test,
        input: Some(loaded.input.clone()),
        ..report
    };
    loaded.remember(args)?;
    finish(args, report, figure, started)
}

/// The report, with the verdict on a claimed training.
fn report_of(
    args: &OneRunArgs,
    result: OneRunResult,
    design: OneRunDesign,
    test: &ClaimTest,
) -> Result<OneRunReport, Failure> {
    let claimed = match claimed_training::schedule_of(&args.training)? {
        Some(schedule) => {
            let sampler = args.training.sampler;
            Some(claimed_training::tested(sampler, schedule, &result, design.adjacency)?)
        }
        None => None,
    };
    let report = OneRunReport::new(result, design, test)?;
    Ok(match claimed {
        Some(claimed) => report.with_claimed_training(claimed),
        None => report,
    })
}

/// Redraws of the coins; an error if they show a leak.
fn self_test(
    canaries: &CanaryScores<'_>,
    question: &OneRunQuestion<'_>,
    tie: impl Fn(u64) -> u64,
) -> Result<RedrawnCoins, Failure> {
    let test = canaries.with_redrawn_coins(question, REDRAWS, SELF_TEST_SEED, tie)?;
    match test.is_as_expected() {
        true => Ok(test),
        false => Err(Failure::with(
            Exit::Internal,
            format!("the self-test failed: {}; please report this bug", self_test_sentence(&test)),
        )),
    }
}

fn finish(
    args: &OneRunArgs,
    report: OneRunReport,
    figure: Option<OneRunFigure>,
    started: std::time::Instant,
) -> CommandResult {
    let report = OneRunReport { elapsed_ms: started.elapsed().as_secs_f64() * 1e3, ..report };
    print_report(&report, (args.show.json, args.brief), args.plot.as_deref().zip(figure))?;
    Ok(args.claim.exit(report.verdict, !report.findings.is_empty()))
}

/// Prints a report, as a document or in few words if so asked, and draws its figure.
pub(crate) fn print_report(
    report: &OneRunReport,
    (is_json, is_brief): (bool, bool),
    plot: Option<(&Path, OneRunFigure)>,
) -> Result<(), Failure> {
    match (is_json, is_brief) {
        (true, _) => print_json(report)?,
        (false, true) => print_text(&one_run_brief_text(report))?,
        (false, false) => print_text(&one_run_text(report))?,
    }
    if let Some((path, figure)) = plot {
        check_plot(path)?;
        write_text(path, &one_run_svg(&figure, report))?;
    }
    Ok(())
}

/// Rejects a drawing that cannot be written.
pub(crate) fn check_plot(path: &Path) -> Result<(), Failure> {
    if path.extension().is_none_or(|ending| !ending.eq_ignore_ascii_case("svg")) {
        return Err(Failure::input("must end in .svg").about(path));
    }
    check_replaces(path, SVG_MARK)
}

impl From<dpscope_core::audit::one_run::CanaryError> for Failure {
    fn from(error: dpscope_core::audit::one_run::CanaryError) -> Self {
        use dpscope_core::audit::one_run::{CanaryError, OneRunError};
        match &error {
            CanaryError::OneRun(
                argument @ (OneRunError::Guesses { .. }
                | OneRunError::Delta { .. }
                | OneRunError::Significance { .. }),
            ) => Failure::input(option_of(argument)),
            CanaryError::CurveWithoutFixedGuesses => {
                Failure::input(format!("{error}; pass --guesses here or in the plan"))
            }
            CanaryError::BothSidesOfUnfairCoins { .. } => {
                Failure::input(format!("{error}; pass only --guesses-in K or only --guesses-out K"))
            }
            _ => Failure::input(error),
        }
    }
}
