//! The noisy vote of teachers.

use clap::Args;
use dpscope_core::accounting::pate::{NoisyVote, VoteNoise, VotesEpsilon};
use dpscope_report::record::PateReport;

use super::values::{delta, positive};
use crate::failure::Failure;

#[derive(Debug, Args)]
pub(crate) struct VoteArgs {
    /// Teachers, trained on disjoint parts of the data.
    #[arg(long, value_name = "K")]
    pub(crate) teachers: u32,
    /// Inverse scale of the Laplace noise (lambda of PATE-GAN).
    #[arg(long, value_name = "GAMMA")]
    pub(crate) gamma: f64,
    /// Where the noise is added.
    #[arg(long, value_enum, default_value = "both-counts")]
    pub(crate) noise: VoteNoise,
    /// Largest order of the published moments.
    #[arg(long, value_name = "L", default_value = "100")]
    pub(crate) orders: u32,
    /// Delta at which epsilon is bounded.
    #[arg(long, default_value = "1e-5", value_parser = delta)]
    pub(crate) delta: f64,
    /// Print one JSON document on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

impl VoteArgs {
    pub(crate) fn vote(&self) -> Result<NoisyVote, Failure> {
        if self.delta == 0.0 {
            return Err(Failure::input(
                "--delta 0: the epsilon of several votes is the sum of theirs; pass a delta above 0",
            ));
        }
        Ok(NoisyVote::new(self.teachers, self.gamma, self.noise)?)
    }

    /// The document about votes whatever their counts.
    pub(crate) fn report(&self, vote: &NoisyVote, value: VotesEpsilon) -> PateReport {
        PateReport {
            schema: "dpscope.pate/1",
            version: env!("CARGO_PKG_VERSION"),
            teachers: self.teachers,
            gamma: self.gamma,
            noise: self.noise,
            vote_epsilon: vote.epsilon(),
            unanimous: vote.unanimous(),
            delta: self.delta,
            value,
            orders: self.orders,
            counted: None,
            labels: None,
            target: None,
        }
    }
}

/// The votes of an iteration.
#[derive(Debug, Args)]
pub(crate) struct IterationArgs {
    /// Labels per step of the student.
    #[arg(long, value_name = "B", default_value = "64", value_parser = positive)]
    batch_size: u64,
    /// Steps of the student per iteration.
    #[arg(long, value_name = "N", default_value = "5", value_parser = positive)]
    student_steps: u64,
}

impl IterationArgs {
    /// Votes per iteration; beyond any limit of the accountant if they are no `u64`.
    pub(crate) fn votes(&self) -> u64 {
        self.batch_size.saturating_mul(self.student_steps)
    }
}
