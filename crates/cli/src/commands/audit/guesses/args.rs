//! Arguments of `audit guesses`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum};
use dpscope_core::audit::drawn::DrawnValue;

use crate::args::{count, number, open_unit, positive};
use crate::commands::audit::drawn::DrawnTestArgs;

#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("drawn_values").args(["drawn", "records"]).required(true),
    after_help = "Examples:\n  dpscope audit guesses --drawn members.npy --priors rates.npy --guessed says.npy\n  \
        dpscope audit guesses --value label --records 1000 --probability 0.1 \\\n    \
        --guesses-in 60 --correct 41\n\n\
        Draws must be independent of each other, given everything public: a weighted draw of a fixed size \
        is not covered. Which records are guessed may depend on what training released."
)]
pub(crate) struct GuessesArgs {
    /// What was drawn for each record: whether it was trained on, or its label.
    #[arg(long, value_enum, default_value = "membership")]
    pub(crate) value: ValueArg,
    /// What was drawn: 1 or 0 for each record.
    #[arg(long, value_name = "FILE", requires = "guessed")]
    pub(crate) drawn: Option<PathBuf>,
    /// What the attack says: 1 or 0 for each record, and -1 where it abstains.
    #[arg(long, value_name = "FILE", requires = "drawn")]
    pub(crate) guessed: Option<PathBuf>,
    /// Known probability of a 1 for each record.
    #[arg(long, value_name = "FILE", requires = "drawn")]
    pub(crate) priors: Option<PathBuf>,
    /// Known probability of a 1, the same for all records.
    #[arg(long, value_name = "P", value_parser = open_unit, conflicts_with = "priors")]
    pub(crate) probability: Option<f64>,
    /// Factor by which the stated odds may be wrong, both ways, given all rows: an assumption, with which a
    /// bound decides no claim.
    #[arg(long, value_name = "FACTOR", value_parser = number, default_value = "1")]
    pub(crate) odds_factor: f64,
    /// State that each record was included by a draw of its own; else a number of members that suggests a draw
    /// of a fixed number is refused.
    #[arg(long, requires = "drawn")]
    pub(crate) independent_draws: bool,
    /// Number of records, in place of files.
    #[arg(long, value_name = "M", value_parser = positive, requires = "correct")]
    pub(crate) records: Option<u64>,
    /// Number of guesses that say 1; without --guesses-out, guesses were bound to say so.
    #[arg(long, value_name = "K", value_parser = count, requires = "records")]
    pub(crate) guesses_in: Option<u64>,
    /// Number of guesses that say 0; without --guesses-in, guesses were bound to say so.
    #[arg(long, value_name = "K", value_parser = count, requires = "records")]
    pub(crate) guesses_out: Option<u64>,
    /// Number of correct guesses.
    #[arg(long, value_name = "V", value_parser = count, requires = "records")]
    pub(crate) correct: Option<u64>,
    #[command(flatten)]
    pub(crate) test: DrawnTestArgs,
}

/// What was drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ValueArg {
    /// Whether the record was trained on: bounds epsilon for adding or removing a record.
    Membership,
    /// The label of the record, 1 or 0: bounds epsilon for replacing a record.
    Label,
}

impl From<ValueArg> for DrawnValue {
    fn from(value: ValueArg) -> Self {
        match value {
            ValueArg::Membership => DrawnValue::Membership,
            ValueArg::Label => DrawnValue::Label,
        }
    }
}
