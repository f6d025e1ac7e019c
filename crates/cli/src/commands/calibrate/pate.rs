//! `dpscope calibrate pate`: the most iterations for a target ε and δ.

use clap::Args;
use dpscope_core::accounting::Kind;
use dpscope_core::accounting::pate::VoteAccounting;
use dpscope_core::format::given;
use dpscope_report::number::plain;
use dpscope_report::record::{PateReport, VotesTarget};
use dpscope_report::text::pate_text;

use crate::args::{IterationArgs, VoteArgs, epsilon};
use crate::failure::{CommandResult, Exit, Failure};
use crate::output::{print_json, print_text};

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  \
        dpscope calibrate pate --epsilon 1 --teachers 5 --gamma 1e-3\n\n\
        The number does not depend on votes: fix it before the training. A training that stops when \
        its data-dependent epsilon reaches a limit reveals when it stopped.")]
pub(crate) struct PateCalibrateArgs {
    /// Target epsilon; not exceeded.
    #[arg(long, value_name = "EPS", value_parser = epsilon)]
    epsilon: f64,
    #[command(flatten)]
    vote: VoteArgs,
    #[command(flatten)]
    iteration: IterationArgs,
}

pub(crate) fn run(args: &PateCalibrateArgs) -> CommandResult {
    let VoteArgs { orders, delta, json, .. } = args.vote;
    let vote = args.vote.vote()?;
    let group = args.iteration.votes();
    let most = |accounting| vote.most_votes(group, args.epsilon, delta, accounting);
    let votes = most(VoteAccounting::Composition).map_err(name_options)?;
    if votes == 0 {
        let one = vote.composed_epsilon(group, delta)?;
        return Err(Failure::input(format!(
            "a single iteration of {group} votes has ε ≥ {}, above --epsilon {}; reduce --gamma, \
             --batch-size or --student-steps, or increase --epsilon",
            plain(one.lower, Kind::Lower, 4),
            given(args.epsilon)
        )));
    }
    let by_moments = most(VoteAccounting::Moments { orders })?;
    let value = vote.votes_epsilon(votes, delta, orders)?;
    let target = VotesTarget {
        epsilon: args.epsilon,
        votes_per_iteration: group,
        iterations: votes / group,
        iterations_by_moments: by_moments / group,
    };
    let report = PateReport { target: Some(target), ..args.vote.report(&vote, value) };
    if json {
        print_json(&report)?;
    } else {
        print_text(&pate_text(&report))?;
    }
    Ok(Exit::Done)
}

/// Names the options of the votes of an iteration.
fn name_options(error: dpscope_core::accounting::AccountingError) -> Failure {
    use dpscope_core::accounting::AccountingError::Argument;
    match error {
        Argument { name: "group", value, allowed } => Failure::input(format!(
            "--batch-size times --student-steps is {}; it must be {allowed}",
            given(value)
        )),
        error => error.into(),
    }
}
