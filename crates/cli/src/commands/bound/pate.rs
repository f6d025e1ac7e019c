//! `dpscope bound pate`: ε of noisy votes of teachers.

use std::path::{Path, PathBuf};

use clap::Args;
use dpscope_core::accounting::pate::NoisyVote;
use dpscope_core::audit::generator::LabelChannel;
use dpscope_formats::Array;
use dpscope_report::record::{PateReport, VoteLabels};
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
    /// File with the number of teachers that voted for 1 in each vote; adds bounds for these votes, which
    /// depend on private data. With columns `votes` and `label`, also tests whether labels have the
    /// stated noise.
    #[arg(long, value_name = "FILE")]
    vote_counts: Option<PathBuf>,
}

pub(crate) fn run(args: &PateBoundArgs) -> CommandResult {
    let VoteArgs { orders, delta, json, .. } = args.vote;
    let vote = args.vote.vote()?;
    let counts = args.number.vote_counts.as_deref().map(|path| read(path, vote.teachers()));
    let record = counts.transpose()?;
    let counts = record.as_ref().map(|record| &record.counts);
    let NumberArgs { votes, iterations, .. } = args.number;
    let votes = match (counts, votes, iterations) {
        (Some(counts), ..) => counts.len() as u64,
        (None, Some(votes), _) => votes,
        (None, None, iterations) => iterations.unwrap_or(1).saturating_mul(args.iteration.votes()),
    };
    let counted = counts.map(|counts| vote.counted_votes_epsilon(counts, delta, orders));
    let labels = record.as_ref().map_or(Ok(None), |record| record.labels(&vote))?;
    let value = vote.votes_epsilon(votes, delta, orders)?;
    let report =
        PateReport { counted: counted.transpose()?, labels, ..args.vote.report(&vote, value) };
    if json {
        print_json(&report)?;
    } else {
        print_text(&pate_text(&report))?;
    }
    Ok(Exit::Done)
}

/// Chance that labels with the stated noise are reported.
const LABELS_SIGNIFICANCE: f64 = 1e-3;

/// What was recorded of votes.
struct VoteRecord {
    /// Votes for 1.
    counts: Vec<u32>,
    /// Whether the released label was 1.
    labels: Option<Vec<bool>>,
}

impl VoteRecord {
    fn labels(&self, vote: &NoisyVote) -> Result<Option<VoteLabels>, Failure> {
        let Some(labels) = &self.labels else { return Ok(None) };
        let mut votes = vec![[0_u64; 2]; vote.teachers() as usize + 1];
        for (count, label) in self.counts.iter().zip(labels) {
            let [all, ones] = &mut votes[*count as usize];
            *all += 1;
            *ones += u64::from(*label);
        }
        let [all, ones] = [0, 1].map(|at| votes.iter().map(|pair| pair[at]).collect::<Vec<u64>>());
        let channel = LabelChannel::of(vote, &all, &ones)?;
        let p_value = channel.p_value();
        Ok(Some(VoteLabels {
            more_ones: channel.more_ones,
            more_majorities: channel.more_majorities,
            p_value,
            significance: LABELS_SIGNIFICANCE,
            is_fault: p_value <= LABELS_SIGNIFICANCE,
        }))
    }
}

/// Votes from an array or the column `votes`, and labels from the column `label`.
fn read(path: &Path, teachers: u32) -> Result<VoteRecord, Failure> {
    let about = |error| Failure::from(error).about(path);
    let (counts, labels) = with_dataset(path, |dataset| {
        let has_column = dataset.names().contains(&"votes");
        let has_labels = has_column && dataset.names().contains(&"label");
        let labels = has_labels.then(|| dataset.array("label").map_err(about)).transpose()?;
        let is_column = dataset.names().len() <= 1;
        let array = if has_column { dataset.array("votes") } else { dataset.into_only() };
        let array = array.map_err(about)?;
        let is_long = |&&length: &&usize| length > 1;
        if !has_column && (!is_column || array.shape().iter().filter(is_long).count() > 1) {
            let problem =
                "has no column `votes` and more than one other; name the column of the votes";
            return Err(Failure::input(problem).about(path));
        }
        Ok((array.into_data(), labels.map(Array::into_data)))
    })?;
    let is_count =
        |count: &f64| count.fract() == 0.0 && (0.0..=f64::from(teachers)).contains(count);
    let is_label = |label: &f64| *label == 0.0 || *label == 1.0;
    let labels = labels.unwrap_or_default();
    let problem = match counts.iter().position(|count| !is_count(count)) {
        Some(row) => format!(
            "has {} in row {}; expected the number of teachers that vote 1, from 0 to {teachers} \
             (--teachers)",
            counts[row],
            row + 1
        ),
        None if counts.is_empty() => "has no votes; expected one row per vote".to_owned(),
        None if !labels.is_empty() && labels.len() != counts.len() => {
            format!("has {} labels for {} votes; expected one each", labels.len(), counts.len())
        }
        None => match labels.iter().position(|label| !is_label(label)) {
            Some(row) => {
                format!("has the label {} in row {}; expected 0 or 1", labels[row], row + 1)
            }
            None => {
                let counts = counts.into_iter().map(|count| count as u32).collect();
                let labels = labels.into_iter().map(|label| label > 0.5).collect::<Vec<bool>>();
                return Ok(VoteRecord { counts, labels: Some(labels).filter(|l| !l.is_empty()) });
            }
        },
    };
    Err(Failure::input(problem).about(path))
}
