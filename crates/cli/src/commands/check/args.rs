//! Arguments of `check`.

use std::any::TypeId;
use std::path::PathBuf;

use clap::{Arg, Args};
use dpscope_core::training_check::TrainingDescription;

use crate::args::{PrivacyStatementArgs, count, open_unit};

#[derive(Debug, Args)]
#[command(
    mut_args(accept_exponents),
    mut_arg("delta", |arg| arg.value_parser(open_unit)),
    after_help = "Examples:\n  dpscope check --dataset-size 60000 --batch-size 256 --epochs 20 \\\n    \
        --noise-multiplier 0.8 --loader shuffle --accountant poisson \\\n    \
        --claim 3 --delta 1e-5\n  dpscope check --example > training.toml\n\n\
        Exit codes: 0 claim holds for the training as described, 2 bad input, 3 claim refuted, \
        6 inconclusive."
)]
pub(crate) struct CheckArgs {
    /// TOML file that describes the training; options on the command line override it.
    #[arg(value_name = "FILE.toml")]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) training: TrainingDescription,
    /// Print an example file.
    #[arg(long, exclusive = true)]
    pub(crate) example: bool,
    #[command(flatten)]
    pub(crate) privacy_statement: PrivacyStatementArgs,
    /// Print one JSON document on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Integers may be written as 6e4.
fn accept_exponents(arg: Arg) -> Arg {
    let is_integer = arg.get_value_parser().type_id() == TypeId::of::<u64>();
    if is_integer { arg.value_parser(count) } else { arg }
}
