//! `dpscope plan split`: how large a hold-out has to be.

use clap::Args;
use dpscope_core::audit::drawn::DrawnDesign;

use super::drawn::{ExpectedArgs, print, sizes};
use crate::args::{count, positive};
use crate::commands::audit::split::SplitRuleArg;
use crate::failure::{CommandResult, Failure};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  dpscope plan split --member-rows 8000 --non-member-rows 2000\n  \
        dpscope plan split --member-rows 800 --non-member-rows 200 --epsilon 2 --mu 1"
)]
pub(crate) struct SplitPlanArgs {
    /// Number of rows that will be trained on.
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) member_rows: u64,
    /// Number of rows that will be held out.
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) non_member_rows: u64,
    /// How rows are guessed.
    #[arg(long, value_enum, default_value = "cut")]
    pub(crate) rule: SplitRuleArg,
    /// Rows named as members, 0 for none [default: √(10 · members), rounded up].
    #[arg(long, value_name = "K", value_parser = count, conflicts_with = "guesses")]
    pub(crate) guesses_in: Option<u64>,
    /// Rows named as non-members, 0 for none [default: √(10 · non-members), rounded up].
    #[arg(long, value_name = "K", value_parser = count, conflicts_with = "guesses")]
    pub(crate) guesses_out: Option<u64>,
    /// Guessed sets of --rule sets [default: √(10 · sets), rounded up].
    #[arg(long, value_name = "K", value_parser = positive)]
    pub(crate) guesses: Option<u64>,
    #[command(flatten)]
    pub(crate) expected: ExpectedArgs,
}

pub(crate) fn run(args: &SplitPlanArgs) -> CommandResult {
    let (members, non_members) = (args.member_rows, args.non_member_rows);
    let named = args.guesses_in.or(args.guesses_out);
    let design = match args.rule {
        SplitRuleArg::Cut if args.guesses.is_some() => {
            return Err(Failure::input(
                "--guesses is of --rule sets; pass --guesses-in and --guesses-out",
            ));
        }
        SplitRuleArg::Sets if named.is_some() => {
            return Err(Failure::input("--rule sets guesses sets; pass --guesses"));
        }
        SplitRuleArg::Cut => {
            let (guesses_in, guesses_out) = (args.guesses_in, args.guesses_out);
            DrawnDesign::Split { members, non_members, guesses_in, guesses_out }
        }
        SplitRuleArg::Sets => DrawnDesign::Sets { members, non_members, guesses: args.guesses },
    };
    print(&args.expected, sizes(&args.expected, design)?)
}
