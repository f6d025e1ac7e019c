//! `dpscope audit one-run`: guesses on the canaries of one training run.

mod args;
mod canary_file;
mod load;

pub(crate) use args::{CanariesArg, DirectionArg, OneRunArgs, canaries};
pub(crate) use canary_file::CanaryFile;

use std::path::Path;

use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::one_run::{
    CanaryGame, CanaryScores, GuessEvidence, Guesses, KnownSides, OneRunQuestion, OneRunResult,
};
use dpscope_report::figure::{OneRunFigure, SVG_MARK, one_run_svg};
use dpscope_report::record::{ClaimTest, OneRunReport};
use dpscope_report::text::{one_run_brief_text, one_run_text};

use dpscope_report::words::{CanaryGameKind, CoinsStatus, GuessRuleKind, OneRunDesign};

use crate::failure::{CommandResult, Failure};
use crate::files::{check_replaces, write_text};
use crate::output::{claim_test, print_json, print_text};
use load::{Loaded, check_enough};

pub(crate) fn run(args: &OneRunArgs) -> CommandResult {
    let started = std::time::Instant::now();
    if let Some(plot) = &args.plot {
        check_plot(plot)?;
    }
    match args.correct {
        Some(correct) => {
            let (result, design) = counted(args, correct)?;
            let test = test_of(args, result.bounds()[0].delta, &args.deltas(), design.adjacency)?;
            let report = OneRunReport::new(result, design, &test)?;
            finish(args, report, None, started)
        }
        None => scored(args, started),
    }
}

/// The result of counts alone.
fn counted(args: &OneRunArgs, correct: u64) -> Result<(OneRunResult, OneRunDesign), Failure> {
    let Some(CanariesArg::Number(canaries)) = args.canaries else {
        return Err(Failure::input("--correct needs the number of canaries: pass --canaries M"));
    };
    check_enough(canaries)?;
    let sides = match (args.guesses_in, args.guesses_out) {
        (None, None) | (Some(_), Some(_)) => KnownSides::Both,
        _ => KnownSides::One,
    };
    let one_sided = args.guesses_in.unwrap_or(0) + args.guesses_out.unwrap_or(0);
    let Some(guesses) = args.guesses.or((one_sided > 0).then_some(one_sided)) else {
        return Err(Failure::input("--correct needs the number of guesses: pass --guesses K"));
    };
    let game = CanaryGame::coins(canaries).map_err(|error| Failure::input(option_of(&error)))?;
    let counts = Guesses::new(game, guesses, correct);
    let counts = counts.map_err(|error| Failure::input(option_of(&error)))?.with_sides(sides);
    let significance = args.level.significance().unwrap_or(0.05);
    let evidence = GuessEvidence::fixed(counts);
    let result = OneRunResult::new(evidence, &args.deltas(), significance)?;
    let game = if args.pairs { CanaryGameKind::Sets } else { CanaryGameKind::Coins };
    Ok((
        result,
        OneRunDesign {
            game,
            canaries,
            set_size: 2,
            adjacency: adjacency(args, game)?,
            rule: match sides {
                KnownSides::One => GuessRuleKind::OneSide,
                KnownSides::Both => GuessRuleKind::Fixed,
            },
            coins: CoinsStatus::Unseen,
        },
    ))
}

/// The name of the option in front of a message that starts with the argument.
fn option_of(error: &impl std::fmt::Display) -> String {
    format!("--{error}")
}

/// What the canaries certify.
fn adjacency(args: &OneRunArgs, game: CanaryGameKind) -> Result<Adjacency, Failure> {
    let of_game = match game {
        CanaryGameKind::Coins => return Ok(args.adjacency.unwrap_or(Adjacency::AddRemove)),
        CanaryGameKind::Sets | CanaryGameKind::MatchedPairs => Adjacency::Replace,
    };
    match args.adjacency {
        Some(other) if other != of_game => Err(Failure::input(
            "--adjacency is not replace, but one canary of each pair or set is included: that \
             replaces a record; leave --adjacency out",
        )),
        _ => Ok(of_game),
    }
}

/// The claim, at its own δ if that is one of the audited.
fn test_of(
    args: &OneRunArgs,
    first: f64,
    all: &[f64],
    certified: Adjacency,
) -> Result<ClaimTest, Failure> {
    let claimed = args.claim.claim_delta.filter(|claimed| all.contains(claimed));
    let test = claim_test(&args.claim, claimed.unwrap_or(first))?;
    let is_replace = test.claim.is_some_and(|claim| claim.adjacency == Adjacency::Replace);
    if is_replace && certified == Adjacency::AddRemove {
        return Err(Failure::input(
            "--claim-adjacency is replace, but canaries that are absent say nothing about a \
             replacement; if another record took their place, pass --adjacency replace",
        ));
    }
    Ok(test)
}

fn scored(args: &OneRunArgs, started: std::time::Instant) -> CommandResult {
    let loaded = Loaded::read(args)?;
    let canaries = match &loaded.sets {
        Some(sets) => CanaryScores::sets(&loaded.scores, &loaded.coins, sets),
        None if loaded.is_exactly_half() => {
            CanaryScores::matched(&loaded.scores, &loaded.coins, loaded.seed())
        }
        None => CanaryScores::coins(&loaded.scores, &loaded.coins),
    }?;
    let question = OneRunQuestion {
        deltas: &loaded.deltas,
        significance: loaded.significance,
        rule: loaded.rule,
        is_committed: loaded.is_committed,
    };
    let features: Vec<_> =
        loaded.features.iter().map(|(feature, values)| (*feature, &values[..])).collect();
    let tie = |index: u64| loaded.tie(index);
    let result = canaries.audit(&question, &features, tie)?.with_findings(loaded.findings.clone());
    let game = match () {
        () if canaries.is_matching() => CanaryGameKind::MatchedPairs,
        () if canaries.is_sets() => CanaryGameKind::Sets,
        () => CanaryGameKind::Coins,
    };
    let design = OneRunDesign {
        game,
        canaries: result.game().canaries(),
        set_size: result.game().set_size(),
        adjacency: match loaded.adjacency {
            Some(planned) => planned,
            None => adjacency(args, game)?,
        },
        rule: loaded.rule_kind(),
        coins: match loaded.is_committed {
            true => CoinsStatus::Committed,
            false => CoinsStatus::NotCommitted,
        },
    };
    let test = test_of(args, loaded.deltas[0], &loaded.deltas, design.adjacency)?;
    let figure = args.plot.is_some().then(|| {
        OneRunFigure::new(&canaries, &canaries.ranking(tie), &result, &loaded.scores, &loaded.coins)
    });
    let auc = canaries.auc();
    let report = OneRunReport::new(result, design, &test)?;
    let report = OneRunReport { auc, input: Some(loaded.input), ..report };
    finish(args, report, figure, started)
}

fn finish(
    args: &OneRunArgs,
    report: OneRunReport,
    figure: Option<OneRunFigure>,
    started: std::time::Instant,
) -> CommandResult {
    let report = OneRunReport { elapsed_ms: started.elapsed().as_secs_f64() * 1e3, ..report };
    if args.show.json {
        print_json(&report)?;
    } else if args.brief {
        print_text(&one_run_brief_text(&report))?;
    } else {
        print_text(&one_run_text(&report))?;
    }
    if let (Some(path), Some(figure)) = (&args.plot, figure) {
        check_plot(path)?;
        write_text(path, &one_run_svg(&figure, &report))?;
    }
    Ok(args.claim.exit(report.verdict, !report.findings.is_empty()))
}

fn check_plot(path: &Path) -> Result<(), Failure> {
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
            _ => Failure::input(error),
        }
    }
}
