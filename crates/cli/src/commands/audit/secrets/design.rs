//! How secrets are guessed.

use dpscope_core::audit::drawn::SecretGuesses;
use dpscope_core::audit::one_run::OneRunError;
use dpscope_report::number::grouped;
use dpscope_report::record::ScoreDirection;

use super::args::SecretsArgs;
use crate::commands::audit::one_run::DirectionArg;
use crate::failure::Failure;
use crate::secret_plan;

/// How secrets are guessed, by options or as planned.
pub(super) struct Design {
    /// Values of a secret; none if nothing says how many.
    pub(super) values: Option<u64>,
    pub(super) decoys: Option<u64>,
    pub(super) list_length: Option<u64>,
    pub(super) guesses: Option<u64>,
    pub(super) is_lower: bool,
    /// Records, δ, significance and commitment of a plan.
    pub(super) planned: Option<(u64, (f64, f64), String)>,
}

impl Design {
    pub(super) fn new(args: &SecretsArgs) -> Result<Self, Failure> {
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
    pub(super) fn values(&self) -> Result<(u64, bool), Failure> {
        match (self.values, self.decoys) {
            (Some(values), _) => Ok((values, false)),
            (None, Some(decoys)) => Ok((decoys + 1, true)),
            (None, None) => Err(Failure::input(
                "--values is missing: pass the number of values from which each secret was drawn, or --decoys",
            )),
        }
    }

    /// Refuses another number of records than that of the plan.
    pub(super) fn check_records(&self, records: usize) -> Result<(), Failure> {
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
    pub(super) fn of_ranks(
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
