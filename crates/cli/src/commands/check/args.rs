//! Arguments of `check`.

use std::any::TypeId;
use std::path::PathBuf;

use clap::{Arg, Args};
use dpscope_core::training_check::{NamedLoader, TrainingDescription};

use super::loader::LoaderParser;
use crate::args::{PageArgs, PrivacyStatementArgs, count, epsilon, open_unit};

#[derive(Debug, Args)]
#[command(
    mut_args(accept_exponents),
    mut_arg("claim", |arg| arg.value_parser(epsilon)),
    mut_arg("delta", |arg| arg.value_parser(open_unit)),
    after_help = "Examples:\n  dpscope check --dataset-size 60000 --batch-size 256 --epochs 20 \\\n    \
        --noise-multiplier 0.8 --loader shuffle --accountant poisson \\\n    \
        --claim 3 --delta 1e-5\n  dpscope check --example > training.toml\n  \
        dpscope check --list-loaders\n\n\
        --import reads the record of an accountant: a DpEvent tree of dp_accounting as JSON (objects\n\
        with `type`, the name of the class, and its fields), a history of Opacus (a list of\n\
        [noise_multiplier, sample_rate, steps], or the state_dict of the accountant), or privacy\n\
        settings of Flower (TOML or JSON). Without --loader, its phases are accounted for together;\n\
        with --loader, they are compared with it.\n\n\
        Exit codes: 0 claim holds for the training as described, 2 bad input, 3 claim refuted, \
        6 inconclusive."
)]
pub(crate) struct CheckArgs {
    /// TOML file that describes the training; options on the command line override it.
    #[arg(value_name = "FILE.toml")]
    pub(crate) file: Option<PathBuf>,
    /// How the loader forms batches: one of the names below, or a library's loader as in your code,
    /// such as "DataLoader(shuffle=True)"; `--list-loaders` explains them.
    #[arg(long, value_name = "LOADER", value_parser = LoaderParser)]
    pub(crate) loader: Option<NamedLoader>,
    #[command(flatten)]
    pub(crate) training: TrainingDescription,
    /// Record of another accountant: events, a history or settings, recognised by its content.
    #[arg(long, value_name = "FILE", conflicts_with = "file")]
    pub(crate) import: Option<PathBuf>,
    /// Print an example file.
    #[arg(long, exclusive = true)]
    pub(crate) example: bool,
    /// Print the loaders of libraries that `--loader` knows, with their traps and sources.
    #[arg(long, conflicts_with_all = ["file", "import", "example"])]
    pub(crate) list_loaders: bool,
    #[command(flatten)]
    pub(crate) privacy_statement: PrivacyStatementArgs,
    #[command(flatten)]
    pub(crate) page: PageArgs,
    /// Print one JSON document on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Integers may be written as 6e4.
fn accept_exponents(arg: Arg) -> Arg {
    let is_integer = arg.get_value_parser().type_id() == TypeId::of::<u64>();
    if is_integer { arg.value_parser(count) } else { arg }
}
