//! Arguments of `dpscope check`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use dpscope_core::mechanism::SamplerKind;
use dpscope_core::training_check::{NoiseTarget, TrainingDescription};

use crate::args::{AdjacencyArg, count, open_unit, sampler_parser};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  dpscope check --dataset-size 60000 --batch-size 256 --epochs 20 \\\n    \
        --noise-multiplier 0.8 --loader shuffle --accountant poisson \\\n    \
        --claim 3 --delta 1e-5\n  dpscope check --example > training.toml\n\n\
        Exit codes: 0 not refuted, which proves nothing; 2 bad input; 3 claim refuted."
)]
pub(crate) struct CheckArgs {
    /// A description of the training in TOML; options given beside it count more.
    #[arg(value_name = "FILE.toml")]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) training: TrainingArgs,
    /// Print a file to start from.
    #[arg(long, exclusive = true)]
    pub(crate) example: bool,
    /// Print one JSON document on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

/// A training run and its claim, as far as told. A file has the same names, with underscores.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct TrainingArgs {
    /// Records in the training data.
    #[arg(long, value_name = "N", value_parser = count)]
    pub(crate) dataset_size: Option<u64>,
    /// Records a batch, as the loader is told.
    #[arg(long, value_name = "B", value_parser = count)]
    pub(crate) batch_size: Option<u64>,
    /// Passes over the data.
    #[arg(long, value_name = "E", value_parser = count)]
    pub(crate) epochs: Option<u64>,
    /// Noise standard deviation divided by the clip norm, as the accountant is told.
    #[arg(long, value_name = "S")]
    pub(crate) noise_multiplier: Option<f64>,
    /// How the loader draws batches.
    #[arg(long, value_parser = sampler_parser())]
    pub(crate) loader: Option<SamplerKind>,
    /// Records in the buffer of partial-shuffle and sliding-buffer.
    #[arg(long, value_name = "K", value_parser = count)]
    pub(crate) buffer_examples: Option<u64>,
    /// The loader leaves out the last batch of an epoch if it is smaller.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
        default_missing_value = "true")]
    pub(crate) drop_last: Option<bool>,
    /// The epsilon that is claimed.
    #[arg(long, value_name = "EPS")]
    pub(crate) claim: Option<f64>,
    /// The delta that is claimed with it.
    #[arg(long, value_parser = open_unit)]
    pub(crate) delta: Option<f64>,
    /// Adjacency of the claim; add-remove if not told.
    #[arg(long, value_enum)]
    pub(crate) claim_adjacency: Option<AdjacencyArg>,
    /// The sampler that the accountant assumes.
    #[arg(long, value_parser = sampler_parser())]
    pub(crate) accountant: Option<SamplerKind>,
    /// The sampling rate that the accountant was told.
    #[arg(long, value_name = "Q")]
    pub(crate) accounted_sampling_rate: Option<f64>,
    /// The number of steps that the accountant was told, of all epochs together.
    #[arg(long, value_name = "N", value_parser = count)]
    pub(crate) accounted_steps: Option<u64>,
    /// Standard deviation of the noise in the code, per coordinate.
    #[arg(long, value_name = "STD", requires = "clip_norm")]
    pub(crate) noise_std: Option<f64>,
    /// Clip norm of one record's gradient, for --noise-std.
    #[arg(long, value_name = "C")]
    pub(crate) clip_norm: Option<f64>,
    /// What that noise is added to; sum if not told.
    #[arg(long, value_enum)]
    pub(crate) noise_on: Option<NoiseOnArg>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum NoiseOnArg {
    /// The sum of a batch's clipped gradients.
    Sum,
    /// Their mean, the sum divided by the batch size.
    Mean,
}

impl From<NoiseOnArg> for NoiseTarget {
    fn from(target: NoiseOnArg) -> Self {
        match target {
            NoiseOnArg::Sum => NoiseTarget::Sum,
            NoiseOnArg::Mean => NoiseTarget::Mean,
        }
    }
}

impl TrainingArgs {
    /// What is told here, else what is told there.
    pub(crate) fn or(self, other: TrainingArgs) -> TrainingArgs {
        TrainingArgs {
            dataset_size: self.dataset_size.or(other.dataset_size),
            batch_size: self.batch_size.or(other.batch_size),
            epochs: self.epochs.or(other.epochs),
            noise_multiplier: self.noise_multiplier.or(other.noise_multiplier),
            loader: self.loader.or(other.loader),
            buffer_examples: self.buffer_examples.or(other.buffer_examples),
            drop_last: self.drop_last.or(other.drop_last),
            claim: self.claim.or(other.claim),
            delta: self.delta.or(other.delta),
            claim_adjacency: self.claim_adjacency.or(other.claim_adjacency),
            accountant: self.accountant.or(other.accountant),
            accounted_sampling_rate: self.accounted_sampling_rate.or(other.accounted_sampling_rate),
            accounted_steps: self.accounted_steps.or(other.accounted_steps),
            noise_std: self.noise_std.or(other.noise_std),
            clip_norm: self.clip_norm.or(other.clip_norm),
            noise_on: self.noise_on.or(other.noise_on),
        }
    }

    pub(crate) fn description(&self) -> TrainingDescription {
        TrainingDescription {
            dataset_size: self.dataset_size,
            batch_size: self.batch_size,
            epochs: self.epochs,
            noise_multiplier: self.noise_multiplier,
            loader: self.loader,
            buffer_examples: self.buffer_examples,
            drop_last: self.drop_last,
            claim: self.claim,
            delta: self.delta,
            claim_adjacency: self.claim_adjacency.map(Into::into),
            accountant: self.accountant,
            accounted_sampling_rate: self.accounted_sampling_rate,
            accounted_steps: self.accounted_steps,
            noise_std: self.noise_std,
            clip_norm: self.clip_norm,
            noise_on: self.noise_on.map(Into::into),
        }
    }
}
