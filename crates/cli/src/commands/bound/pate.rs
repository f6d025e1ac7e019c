//! `dpscope bound pate`: ε of noisy votes of teachers.

use std::path::{Path, PathBuf};

use clap::Args;
use dpscope_report::record::PateReport;
use dpscope_report::text::pate_text;

use crate::args::{IterationArgs, VoteArgs, positive};
use crate::commands::audit::recorded::with_dataset;
use crate::failure::{CommandResult, Exit, Failure};
use crate::output::{print_json, print_text};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
        dpscope bound pate --teachers 5 --gamma 1e-3 --iterations 32\n  \
        dpscope bound pate --teachers 12 --gamma 0.05 --votes 300 --delta 1e-6\n\n\
        Each vote releases the majority of the teachers' votes after Laplace noise of scale 1/gamma. \
        The bound holds whatever the votes are, so it can be computed before the training.")]
pub(crate) struct PateBoundArgs {
    #[command(flatten)]
    vote: VoteArgs,
    #[command(flatten)]
    number: NumberArgs,
    #[command(flatten)]
    iteration: IterationArgs,
}

/// How many votes are released.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct NumberArgs {
    /// Number of votes.
    #[arg(long, value_name = "N", value_parser = positive)]
    votes: Option<u64>,
    /// Iterations of PATE-GAN, of --batch-size times --student-steps votes each.
    #[arg(long, value_name = "N", value_parser = positive)]
    iterations: Option<u64>,
    /// File with the votes for 1 of each vote; adds the bounds of these votes, which depend on
    /// private data.
    #[arg(long, value_name = "FILE")]
    vote_counts: Option<PathBuf>,
}

pub(crate) fn run(args: &PateBoundArgs) -> CommandResult {
    let VoteArgs { orders, delta, json, .. } = args.vote;
    let vote = args.vote.vote()?;
    let counts = args.number.vote_counts.as_deref().map(|path| read(path, vote.teachers()));
    let counts = counts.transpose()?;
    let NumberArgs { votes, iterations, .. } = args.number;
    let votes = match (&counts, votes, iterations) {
        (Some(counts), ..) => counts.len() as u64,
        (None, Some(votes), _) => votes,
        (None, None, iterations) => iterations.unwrap_or(1).saturating_mul(args.iteration.votes()),
    };
    let counted = counts.map(|counts| vote.counted_votes_epsilon(&counts, delta, orders));
    let value = vote.votes_epsilon(votes, delta, orders)?;
    let report = PateReport { counted: counted.transpose()?, ..args.vote.report(&vote, value) };
    if json {
        print_json(&report)?;
    } else {
        print_text(&pate_text(&report))?;
    }
    Ok(Exit::Done)
}

/// The votes for 1 of each vote, from an array or the column `votes`.
fn read(path: &Path, teachers: u32) -> Result<Vec<u32>, Failure> {
    let about = |error| Failure::from(error).about(path);
    let counts = with_dataset(path, |dataset| {
        let has_column = dataset.names().contains(&"votes");
        let is_column = dataset.names().len() <= 1;
        let array = if has_column { dataset.array("votes") } else { dataset.into_only() };
        let array = array.map_err(about)?;
        let is_long = |&&length: &&usize| length > 1;
        if !has_column && (!is_column || array.shape().iter().filter(is_long).count() > 1) {
            let problem =
                "has no column `votes` and more than one other; name the column of the votes";
            return Err(Failure::input(problem).about(path));
        }
        Ok(array.into_data())
    })?;
    let problem = match counts
        .iter()
        .position(|count| count.fract() != 0.0 || !(0.0..=f64::from(teachers)).contains(count))
    {
        Some(row) => format!(
            "has {} in row {}; expected the number of teachers that vote 1, from 0 to {teachers} \
             (--teachers)",
            counts[row],
            row + 1
        ),
        None if counts.is_empty() => "has no votes; expected one row per vote".to_owned(),
        None => return Ok(counts.into_iter().map(|count| count as u32).collect()),
    };
    Err(Failure::input(problem).about(path))
}
