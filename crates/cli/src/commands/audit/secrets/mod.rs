//! `dpscope audit secrets`: a training whose records hold secrets that were drawn at random.

mod args;
mod candidates;

pub(crate) use args::SecretsArgs;

use std::path::Path;

use dpscope_core::audit::drawn::{DrawnFinding, DrawnGuesses, SecretGuesses};
use dpscope_core::audit::one_run::OneRunError;
use dpscope_report::number::grouped;
use dpscope_report::record::ScoreDirection;

use crate::commands::audit::drawn::DrawnEvidence;
use crate::commands::audit::one_run::DirectionArg;
use crate::commands::audit::recorded::{array_of, flat};
use crate::failure::{CommandResult, Failure};
use crate::secret_plan;

/// How secrets are guessed, by options or as planned.
struct Design {
    /// Values of a secret; none if nothing says how many.
    values: Option<u64>,
    decoys: Option<u64>,
    list_length: Option<u64>,
    guesses: Option<u64>,
    is_lower: bool,
    /// Records, δ, significance and commitment of a plan.
    planned: Option<(u64, (f64, f64), String)>,
}

impl Design {
    fn new(args: &SecretsArgs) -> Result<Self, Failure> {
        let Some(folder) = &args.plan else {
            return Ok(Self {
                values: args.values,
                decoys: args.decoys,
                list_length: args.list_length,
                guesses: args.guesses,
                is_lower: args.direction == DirectionArg::Lower,
                planned: None,
            });
        };
        let (plan, commitment) = secret_plan::open(folder)?;
        Ok(Self {
            // with decoys, the candidates are fewer
            values: Some(plan.values).filter(|_| plan.decoys.is_none()),
            decoys: plan.decoys,
            list_length: plan.list_length,
            guesses: plan.guesses,
            is_lower: plan.direction == ScoreDirection::Lower,
            planned: Some((plan.records, (plan.delta, plan.significance), commitment)),
        })
    }

    /// Values of a secret, and whether they are the true one and decoys.
    fn values(&self) -> Result<(u64, bool), Failure> {
        match (self.values, self.decoys) {
            (Some(values), _) => Ok((values, false)),
            (None, Some(decoys)) => Ok((decoys + 1, true)),
            (None, None) => Err(Failure::input(
                "--values is missing: pass the number of values from which each secret was drawn, or --decoys",
            )),
        }
    }

    /// Refuses another number of records than that of the plan.
    fn check_records(&self, records: usize) -> Result<(), Failure> {
        match self.planned {
            Some((planned, ..)) if planned != records as u64 => Err(Failure::input(format!(
                "has {} records, and the plan {}; score every planned record",
                grouped(records as u64),
                grouped(planned)
            ))),
            _ => Ok(()),
        }
    }

    /// Ranks at all lengths, or lists of one length.
    fn of_ranks(
        &self,
        ranks: &[u64],
        (values, decoys): (u64, bool),
    ) -> Result<SecretGuesses, OneRunError> {
        let records = ranks.len() as u64;
        match self.list_length {
            None => SecretGuesses::of_ranks(values, decoys, ranks),
            Some(list_length) => Ok(SecretGuesses::Lists {
                records,
                values,
                decoys,
                list_length,
                guesses: records,
                correct: ranks.iter().filter(|&&rank| rank <= list_length).count() as u64,
            }),
        }
    }
}

pub(crate) fn run(args: &SecretsArgs) -> CommandResult {
    let started = web_time::Instant::now();
    let design = Design::new(args)?;
    let (guesses, findings) = match (&args.ranks, &args.candidates) {
        (Some(ranks), _) => ranked(&design, ranks)?,
        (None, Some(file)) => candidates::guesses(&design, file)?,
        (None, None) => (counted(args, &design)?, Vec::new()),
    };
    let files = args.ranks.as_ref().or(args.candidates.as_ref());
    let input = files.map(|path| serde_json::json!({ "file": path.display().to_string() }));
    let (level, commitment) = match design.planned {
        Some((_, level, commitment)) => (Some(level), Some(commitment)),
        None => (None, None),
    };
    let evidence = DrawnEvidence { findings, input, level, commitment, started };
    args.test.deliver(DrawnGuesses::Secrets(guesses), evidence)
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

fn ranked(design: &Design, path: &Path) -> Result<(SecretGuesses, Vec<DrawnFinding>), Failure> {
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
    let guesses = design.of_ranks(&ranks, (values, decoys)).map_err(Failure::input)?;
    let reversed = DrawnFinding::reversed_ranks(values, &ranks);
    Ok((guesses, reversed.into_iter().collect()))
}
