//! `dpscope audit secrets`: a training whose records hold secrets that were drawn at random.

mod args;
mod candidates;
mod design;

pub(crate) use args::SecretsArgs;

use std::path::Path;

use dpscope_recorded::hex;
use sha2::{Digest, Sha256};

use dpscope_core::audit::drawn::{DrawnGuesses, SecretGuesses};

use crate::canary_plan;
use crate::commands::audit::drawn::DrawnEvidence;
use crate::commands::audit::recorded::{array_of, flat};
use crate::failure::{CommandResult, Exit, Failure};
use design::Design;

pub(crate) fn run(args: &SecretsArgs) -> CommandResult {
    let started = web_time::Instant::now();
    let design = Design::new(args)?;
    let (guesses, findings) = match (&args.ranks, &args.candidates) {
        (Some(ranks), _) => (ranked(&design, ranks)?, Vec::new()),
        (None, Some(file)) => candidates::guesses(&design, file)?,
        (None, None) => (counted(args, &design)?, Vec::new()),
    };
    let files = args.ranks.as_ref().or(args.candidates.as_ref());
    let input = files.map(|path| serde_json::json!({ "file": path.display().to_string() }));
    if let Some(folder) = &args.plan {
        remember(folder, &guesses)?;
    }
    let (level, commitment) = match design.planned {
        Some((_, level, commitment)) => (Some(level), Some(commitment)),
        None => (None, None),
    };
    let evidence = DrawnEvidence { findings, input, level, commitment, started };
    args.test.deliver(DrawnGuesses::Secrets(guesses), evidence)
}

/// Refuses other results than those that were audited before with a plan, and remembers the first.
fn remember(folder: &Path, guesses: &SecretGuesses) -> Result<(), Failure> {
    let text = serde_json::to_vec(guesses).map_err(|error| Failure::with(Exit::Internal, error))?;
    let digest = hex(&Sha256::digest(&text));
    match canary_plan::audited(folder)?.first() {
        Some(known) if *known != digest => Err(Failure::input(
            "other scores of this plan were audited before; the better of two attacks has no bound: commit a new \
             plan for another attack",
        )
        .about(folder)),
        _ => canary_plan::remember(folder, &[digest]),
    }
}

fn counted(args: &SecretsArgs, design: &Design) -> Result<SecretGuesses, Failure> {
    let (values, decoys) = design.values()?;
    let records = args.records.unwrap_or_default();
    Ok(SecretGuesses::Lists {
        records,
        values,
        decoys,
        list_length: args.list_length.unwrap_or(1),
        guesses: args.guesses.unwrap_or(records),
        correct: args.correct.unwrap_or_default(),
    })
}

fn ranked(design: &Design, path: &Path) -> Result<SecretGuesses, Failure> {
    if design.guesses.is_some() {
        return Err(Failure::input(
            "the plan guesses some secrets by the margins of their candidates; pass --candidates",
        ));
    }
    let (values, decoys) = design.values()?;
    let numbers = flat(array_of(path, "ranks", false)?, "one rank per record");
    let numbers = numbers.map_err(|failure| failure.about(path))?;
    let whole = |(index, &number): (usize, &f64)| {
        let is_rank = number.fract() == 0.0 && number >= 1.0 && number <= values as f64;
        is_rank.then_some(number as u64).ok_or_else(|| {
            Failure::input(format!(
                "value {index} is {number}; a rank is an integer from 1, the best, to {values}"
            ))
            .about(path)
        })
    };
    let ranks = numbers.iter().enumerate().map(whole).collect::<Result<Vec<u64>, _>>()?;
    design.check_records(ranks.len()).map_err(|failure| failure.about(path))?;
    design.of_ranks(&ranks, (values, decoys)).map_err(Failure::input)
}
