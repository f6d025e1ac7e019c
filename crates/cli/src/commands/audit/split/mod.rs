//! `dpscope audit split`: a training with a random hold-out, and no canaries.

mod args;
mod nearest;

pub(crate) use args::{SplitArgs, SplitRuleArg};

use std::path::Path;

use dpscope_core::audit::drawn::{DrawnFinding, DrawnGuesses};
use dpscope_core::audit::split::{
    SplitCounts, SplitError, SplitGuesses, SplitScores, SplitSets, default_guesses,
};
use dpscope_report::number::grouped;

use crate::commands::audit::drawn::DrawnEvidence;
use crate::commands::audit::one_run::DirectionArg;
use crate::commands::audit::recorded::{array_of, flat};
use crate::failure::{CommandResult, Failure};

/// Most strata: each has tails of its own.
const MOST_STRATA: usize = 1_000;

pub(crate) fn run(args: &SplitArgs) -> CommandResult {
    let started = web_time::Instant::now();
    check_rule(args)?;
    let (guesses, findings) = match (&args.members, &args.non_members) {
        (Some(members), Some(non_members)) => scored(args, members, non_members)?,
        _ => (counted(args)?, Vec::new()),
    };
    let path = |path: &Option<std::path::PathBuf>| path.as_ref().map(|it| it.display().to_string());
    let input = args.members.is_some().then(|| {
        serde_json::json!({
            "members": path(&args.members),
            "non_members": path(&args.non_members),
            "synthetic": path(&args.synthetic),
            "seed": args.seed.to_string(),
        })
    });
    let guesses = match args.holdout_used {
        true => DrawnGuesses::UsedSplit(guesses),
        false => DrawnGuesses::Split(guesses),
    };
    args.test.deliver(guesses, DrawnEvidence::new(findings, input, started))
}

fn check_rule(args: &SplitArgs) -> Result<(), Failure> {
    let is_sets = args.rule == SplitRuleArg::Sets;
    Failure::first_of(&[
        (
            is_sets && args.guesses_in.or(args.guesses_out).is_some(),
            "--rule sets guesses sets; pass --guesses in place of --guesses-in and --guesses-out",
        ),
        (
            is_sets && args.member_strata.is_some(),
            "--rule sets matches rows of the whole split, so it has no bound for a split within strata; use \
             --rule cut",
        ),
        (
            args.rule == SplitRuleArg::Cut && args.guesses.is_some(),
            "--guesses is of --rule sets; pass --guesses-in and --guesses-out",
        ),
    ])
}

/// Guesses by counts.
fn counted(args: &SplitArgs) -> Result<SplitGuesses, Failure> {
    let [members, non_members] =
        [args.member_rows, args.non_member_rows].map(Option::unwrap_or_default);
    let missing = |option: &str| Failure::input(format!("{option} is missing; add it"));
    if args.rule == SplitRuleArg::Sets {
        let guesses = args.guesses.ok_or_else(|| missing("--guesses"))?;
        let correct = args.correct.ok_or_else(|| missing("--correct"))?;
        return Ok(SplitGuesses::Sets { members, non_members, guesses, correct });
    }
    let side = |guesses: Option<u64>, correct: Option<u64>, option: &str| match (guesses, correct) {
        (None | Some(0), None) => Ok((0, 0)),
        (Some(guesses), Some(correct)) => Ok((guesses, correct)),
        _ => Err(missing(option)),
    };
    let (guesses_in, correct_in) = side(args.guesses_in, args.correct_in, "--correct-in")?;
    let (guesses_out, correct_out) = side(args.guesses_out, args.correct_out, "--correct-out")?;
    if guesses_in == 0 && guesses_out == 0 {
        return Err(missing(
            "--guesses-in with --correct-in, or --guesses-out with --correct-out,",
        ));
    }
    let counts =
        SplitCounts { members, non_members, guesses_in, correct_in, guesses_out, correct_out };
    Ok(SplitGuesses::Cut { strata: vec![counts] })
}

/// Guesses by scores, and what the scores show.
fn scored(
    args: &SplitArgs,
    members: &Path,
    non_members: &Path,
) -> Result<(SplitGuesses, Vec<DrawnFinding>), Failure> {
    let [mut of_members, mut of_others] = match &args.synthetic {
        Some(synthetic) => nearest::scores([members, non_members], synthetic)?,
        None => [per_row(members, "members")?, per_row(non_members, "non_members")?],
    };
    if args.direction == DirectionArg::Lower {
        of_members.iter_mut().chain(&mut of_others).for_each(|score| *score = -*score);
    }
    let scores = SplitScores::new(&of_members, &of_others)?;
    let guesses = match args.rule {
        SplitRuleArg::Sets => {
            let [rows, others] = [of_members.len(), of_others.len()].map(|rows| rows as u64);
            let sets = SplitSets::new(rows, others)?;
            let wanted = args.guesses.unwrap_or_else(|| default_guesses(sets.sets()));
            let (guesses, correct) = scores.sets(wanted, args.seed)?;
            SplitGuesses::Sets { members: rows, non_members: others, guesses, correct }
        }
        SplitRuleArg::Cut => {
            let strata = strata_of(args, [&of_members, &of_others])?;
            let named = strata.iter().map(|[members, others]| named(args, members, others));
            SplitGuesses::Cut { strata: named.collect::<Result<_, _>>()? }
        }
    };
    Ok((guesses, scores.findings()))
}

/// The rows of one stratum, named by their scores.
fn named(args: &SplitArgs, members: &[f64], others: &[f64]) -> Result<SplitCounts, Failure> {
    let wanted = |guesses: Option<u64>, side: usize| {
        guesses.unwrap_or_else(|| default_guesses(side as u64).min(side as u64))
    };
    let guesses = [wanted(args.guesses_in, members.len()), wanted(args.guesses_out, others.len())];
    Ok(SplitScores::new(members, others)?.named(guesses))
}

/// Scores by stratum; strata with rows of one side alone say nothing and are left out.
fn strata_of(
    args: &SplitArgs,
    [members, others]: [&[f64]; 2],
) -> Result<Vec<[Vec<f64>; 2]>, Failure> {
    let (Some(of_members), Some(of_others)) = (&args.member_strata, &args.non_member_strata) else {
        return Ok(vec![[members.to_vec(), others.to_vec()]]);
    };
    let mut strata: Vec<(f64, [Vec<f64>; 2])> = Vec::new();
    for (side, (path, scores)) in
        [(of_members, members), (of_others, others)].into_iter().enumerate()
    {
        let numbers = per_row(path, "strata")?;
        if numbers.len() != scores.len() {
            return Err(Failure::input(format!(
                "has {} strata for {} rows; give every row its stratum",
                grouped(numbers.len() as u64),
                grouped(scores.len() as u64)
            ))
            .about(path));
        }
        for (number, &score) in numbers.iter().zip(scores) {
            let place = match strata.iter().position(|(known, _)| known == number) {
                Some(place) => place,
                None if strata.len() == MOST_STRATA => {
                    return Err(Failure::input(format!(
                        "has more than {} strata; merge small ones",
                        grouped(MOST_STRATA as u64)
                    ))
                    .about(path));
                }
                None => {
                    strata.push((*number, [Vec::new(), Vec::new()]));
                    strata.len() - 1
                }
            };
            strata[place].1[side].push(score);
        }
    }
    strata.sort_by(|a, b| a.0.total_cmp(&b.0));
    let has_both = |sides: &[Vec<f64>; 2]| sides.iter().all(|side| !side.is_empty());
    let both: Vec<_> = strata.into_iter().map(|(_, sides)| sides).filter(has_both).collect();
    match both.is_empty() {
        true => Err(Failure::input(
            "no stratum has both members and non-members: compare the numbers in both files of strata",
        )),
        false => Ok(both),
    }
}

/// One number per row; scores may be infinite, such as the loss of a label with probability 0.
fn per_row(path: &Path, name: &str) -> Result<Vec<f64>, Failure> {
    let expected = "one number per row, or rows with --synthetic";
    let numbers = flat(array_of(path, name, false)?, expected);
    let numbers = numbers.map_err(|failure| failure.about(path))?;
    match numbers.iter().position(|number| number.is_nan()) {
        Some(index) => Err(Failure::input(format!(
            "value {index} is not a number; every row needs one, finite or infinite"
        ))
        .about(path)),
        None => Ok(numbers),
    }
}

impl From<SplitError> for Failure {
    fn from(error: SplitError) -> Self {
        Failure::input(error)
    }
}
