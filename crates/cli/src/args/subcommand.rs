//! Commands that have arguments of their own or a subcommand.

use clap::{ArgMatches, Args, Command, Error, FromArgMatches, Subcommand};

/// A subcommand, or the arguments of the command itself.
///
/// By hand: the derive of clap has no optional group of arguments that contains other groups.
#[derive(Debug)]
pub(crate) enum SubcommandOr<S, A> {
    Subcommand(S),
    Arguments(A),
}

impl<S: Subcommand, A: Args> FromArgMatches for SubcommandOr<S, A> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        if matches.subcommand_name().is_some() {
            S::from_arg_matches(matches).map(SubcommandOr::Subcommand)
        } else {
            A::from_arg_matches(matches).map(SubcommandOr::Arguments)
        }
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl<S: Subcommand, A: Args> Args for SubcommandOr<S, A> {
    fn augment_args(command: Command) -> Command {
        S::augment_subcommands(A::augment_args(command))
            .subcommand_required(false)
            .arg_required_else_help(false)
            .args_conflicts_with_subcommands(true)
            .subcommand_negates_reqs(true)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}
