//! `dpscope audit guesses`: memberships or labels that were drawn with known odds.

mod args;

pub(crate) use args::GuessesArgs;
use args::ValueArg;

use std::path::Path;

use dpscope_core::audit::drawn::{DrawnGuesses, OddsGuesses};
use dpscope_core::audit::one_run::{FixedSize, OddsClass};
use dpscope_report::number::grouped;

use crate::commands::audit::drawn::DrawnEvidence;
use crate::commands::audit::recorded::{array_of, flat};
use crate::failure::{CommandResult, Failure};

pub(crate) fn run(args: &GuessesArgs) -> CommandResult {
    let started = web_time::Instant::now();
    let guesses = match (&args.drawn, &args.guessed) {
        (Some(drawn), Some(guessed)) => read(args, drawn, guessed)?,
        _ => counted(args)?,
    };
    if guesses.guesses() == 0 {
        return Err(Failure::input("every guess abstains; guess at least one record"));
    }
    let input = args.drawn.as_ref().map(|drawn| {
        serde_json::json!({
            "drawn": drawn.display().to_string(),
            "guessed": args.guessed.as_ref().map(|path| path.display().to_string()),
            "priors": args.priors.as_ref().map(|path| path.display().to_string()),
        })
    });
    args.test.deliver(DrawnGuesses::Odds(guesses), DrawnEvidence::new(Vec::new(), input, started))
}

fn missing_priors() -> Failure {
    Failure::input(
        "--probability is missing: pass the known probability of a 1, or --priors with one for each record",
    )
}

fn counted(args: &GuessesArgs) -> Result<OddsGuesses, Failure> {
    let class = OddsClass {
        inclusion: args.probability.ok_or_else(missing_priors)?,
        canaries: args.records.unwrap_or_default(),
        guesses_in: args.guesses_in.unwrap_or_default(),
        guesses_out: args.guesses_out.unwrap_or_default(),
    };
    if class.guesses_in == 0 && class.guesses_out == 0 {
        return Err(Failure::input(
            "--guesses-in and --guesses-out are missing; pass how many guesses say 1, or 0",
        ));
    }
    Ok(OddsGuesses {
        value: args.value.into(),
        classes: vec![class],
        correct: args.correct.unwrap_or_default(),
        one_sided: args.guesses_in.is_none() || args.guesses_out.is_none(),
        odds_factor: args.odds_factor,
    })
}

fn read(args: &GuessesArgs, drawn: &Path, guessed: &Path) -> Result<OddsGuesses, Failure> {
    let truth = numbers(drawn, "drawn", &[1.0, 0.0])?;
    let said = numbers(guessed, "guessed", &[1.0, 0.0, -1.0])?;
    let priors = match (&args.priors, args.probability) {
        (Some(path), _) => probabilities(path)?,
        (None, Some(probability)) => vec![probability; truth.len()],
        (None, None) => return Err(missing_priors()),
    };
    for (path, length) in [(Some(guessed), said.len()), (args.priors.as_deref(), priors.len())] {
        if let Some(path) = path.filter(|_| length != truth.len()) {
            return Err(Failure::input(format!(
                "has {} values for {} records; give every record one",
                grouped(length as u64),
                grouped(truth.len() as u64)
            ))
            .about(path));
        }
    }
    if let Some(deviation) = OddsGuesses::mismatch(&priors, &truth) {
        return Err(Failure::input(format!(
            "does not fit the stated probabilities: the ones are {deviation:.1} standard deviations from what \
             these lead to; check that probabilities are those of a 1, for these records in this order"
        ))
        .about(drawn));
    }
    if args.value == ValueArg::Membership && !args.independent_draws {
        check_number(&priors, &truth).map_err(|failure| failure.about(drawn))?;
    }
    OddsGuesses::of_records(args.value.into(), &priors, &truth, &said, args.odds_factor)
        .map_err(Failure::input)
}

/// Refuses a number of members that suggests a draw of a fixed number, whose memberships depend on each other.
fn check_number(priors: &[f64], truth: &[f64]) -> Result<(), Failure> {
    let (records, included) = (truth.len() as u64, truth.iter().sum::<f64>() as u64);
    let mean = priors.iter().sum::<f64>() / records.max(1) as f64;
    if records > 1 && FixedSize::is_suspected(records, included, mean) {
        return Err(Failure::input(format!(
            "has {} members, as many as are expected, which suggests a draw of a fixed number: for such a draw, \
             use audit split; if each record had a draw of its own, pass --independent-draws",
            grouped(included)
        )));
    }
    Ok(())
}

/// One of the allowed values for each record.
fn numbers(path: &Path, name: &str, allowed: &[f64]) -> Result<Vec<f64>, Failure> {
    let numbers = flat(array_of(path, name, false)?, "one value per record");
    let numbers = numbers.map_err(|failure| failure.about(path))?;
    match numbers.iter().position(|number| !allowed.contains(number)) {
        Some(index) => Err(Failure::input(format!(
            "value {index} is {}; expected {}",
            numbers[index],
            if allowed.len() > 2 { "1, 0, or -1 to abstain" } else { "1 or 0" }
        ))
        .about(path)),
        None => Ok(numbers),
    }
}

fn probabilities(path: &Path) -> Result<Vec<f64>, Failure> {
    let numbers = flat(array_of(path, "priors", false)?, "one probability per record");
    let numbers = numbers.map_err(|failure| failure.about(path))?;
    match numbers.iter().position(|&number| !(number > 0.0 && number < 1.0)) {
        Some(index) => Err(Failure::input(format!(
            "value {index} is {}; a probability lies strictly between 0 and 1: leave out records whose value \
             was not drawn",
            numbers[index]
        ))
        .about(path)),
        None => Ok(numbers),
    }
}
