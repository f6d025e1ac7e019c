//! `dpscope audit one-run`: guesses on the canaries of one training run.

mod args;
mod canary_file;
mod claimed_training;
mod counted;
mod load;
mod null_scores;

pub(crate) use args::{CanariesArg, DirectionArg, OneRunArgs, canaries};
pub(crate) use canary_file::read_canaries;

use std::path::Path;

use dpscope_core::audit::one_run::{CanaryScores, OneRunQuestion, OneRunResult, RedrawnCoins};
use dpscope_recorded::RecordedRun;
use dpscope_report::figure::{OneRunFigure, SVG_MARK, one_run_svg};
use dpscope_report::record::{ClaimTest, OneRunReport, PlannedGame};
use dpscope_report::words::{OneRunDesign, self_test_sentence};

use crate::canary_plan::{self, CommittedPlan};
use crate::failure::{CommandResult, Exit, Failure};
use crate::files::{check_replaces, write_text};
use crate::output::Delivery;
use args::{OWN_COINS, ScoreArg, option_of, test_of};
use load::read_runs;

/// Redraws of a self-test.
const REDRAWS: u32 = 1_000;
/// Fixed, so that a failure can be reproduced.
const SELF_TEST_SEED: u64 = 1;

pub(crate) fn run(args: &OneRunArgs) -> CommandResult {
    let started = web_time::Instant::now();
    args.page.check()?;
    if let Some(plot) = &args.plot {
        check_plot(plot)?;
    }
    // clap requires nothing that conflicts with another option
    Failure::first_of(&[
        (
            args.seed.is_some() && args.plan.is_none(),
            "--seed is the revealed seed of a plan; pass --plan DIR too",
        ),
        (
            args.score != ScoreArg::Calibrated && args.projections.is_empty(),
            "--score is of projections; pass --projections FILE too",
        ),
    ])?;
    if args.null_scores.is_some() || args.pool_scores.is_some() {
        return null_scores::audit(args, None, started);
    }
    let committed = match &args.plan {
        Some(folder) => Some(canary_plan::open(folder, args.seed.as_deref())?),
        None => None,
    };
    if let (Some(folder), Some(found)) = (&args.plan, &committed)
        && let PlannedGame::Poisson(mean) = found.plan.game
    {
        return null_scores::audit_plan(args, (folder, found), mean, started);
    }
    if args.design.is_some() {
        return Err(Failure::input(
            "--design is of canaries whose null scores are known: pass --null-scores or --pool-scores",
        ));
    }
    let has_runs = args.scores.len().max(args.projections.len()) > 1;
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
        None => scored(args, committed.as_ref(), started),
    }
}

/// Canaries that a manifest drew before the training, with null scores.
pub(in crate::commands::audit) fn of_manifest(args: &OneRunArgs, manifest: &Path) -> CommandResult {
    let started = web_time::Instant::now();
    args.plot.as_deref().map_or(Ok(()), check_plot)?;
    args.page.check()?;
    null_scores::audit(args, Some(manifest), started)
}

fn scored(
    args: &OneRunArgs,
    committed: Option<&CommittedPlan>,
    started: web_time::Instant,
) -> CommandResult {
    let loaded = read_runs(args, committed)?;
    let runs = loaded.scored()?;
    let result = loaded.result(&runs)?;
    let question = loaded.question();
    let tie = |run: u64, index: u64| loaded.tie(run, index);
    let game = loaded.kind(&runs[0]);
    let adjacency = match loaded.adjacency {
        Some(planned) => planned,
        None => args.adjacency_of(game)?,
    };
    let design = loaded.design(game, &result, adjacency);
    let test = test_of(args, question.deltas[0], question.deltas, design.adjacency)?;
    let is_drawn = args.plot.is_some() || args.page.has_drawing();
    let figure = (is_drawn && runs.len() == 1).then(|| {
        let ranking = runs[0].ranking(|index| tie(0, index));
        let RecordedRun { scores, coins } = &loaded.runs[0];
        OneRunFigure::new(&runs[0], &ranking, &result, scores, coins)
    });
    let self_test = match args.self_test {
        true => Some(self_test(&runs[0], &question, |index| tie(0, index))?),
        false => None,
    };
    let report = loaded.completed(report_of(args, result, design, &test)?, &runs);
    let report = OneRunReport { self_test, input: Some(load::input(args, committed)), ..report };
    load::remember(args, committed, &loaded)?;
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
            Some(claimed_training::tested(sampler, schedule, &result, design.adjacency, test)?)
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
    started: web_time::Instant,
) -> CommandResult {
    let report = OneRunReport { elapsed_ms: started.elapsed().as_secs_f64() * 1e3, ..report };
    print_report(&report, &args.delivery(), args.plot.as_deref(), figure)?;
    Ok(args.claim.exit(report.verdict, !report.findings.is_empty()))
}

/// Prints a report, writes its page, and draws its figure.
pub(crate) fn print_report(
    report: &OneRunReport,
    delivery: &Delivery<'_>,
    plot: Option<&Path>,
    figure: Option<OneRunFigure>,
) -> Result<(), Failure> {
    let svg = figure.map(|figure| one_run_svg(&figure, report));
    let drawing = || svg.clone().ok_or_else(|| "it needs the scores of one run".to_owned());
    delivery.deliver(report, drawing)?;
    if let Some((path, svg)) = plot.zip(svg) {
        check_plot(path)?;
        write_text(path, &svg)?;
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
            CanaryError::Inferred { draw, problem } => {
                let problem = Failure::from((**problem).clone()).error;
                Failure::input(format!("{draw}: {problem}{OWN_COINS}"))
            }
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
