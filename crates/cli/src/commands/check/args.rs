//! Arguments of `check`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use dpscope_core::mechanism::SamplerKind;
use dpscope_core::training_check::{NoiseTarget, TrainingDescription};
use serde::de::{DeserializeOwned, Error, Unexpected};
use serde::{Deserialize, Deserializer};
use toml::Value;

use crate::args::{AdjacencyArg, count, open_unit, sampler_parser};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  dpscope check --dataset-size 60000 --batch-size 256 --epochs 20 \\\n    \
        --noise-multiplier 0.8 --loader shuffle --accountant poisson \\\n    \
        --claim 3 --delta 1e-5\n  dpscope check --example > training.toml\n\n\
        Exit codes: 0 claim not refuted (proves nothing), 2 bad input, 3 claim refuted."
)]
pub(crate) struct CheckArgs {
    /// TOML file that describes the training; options on the command line override it.
    #[arg(value_name = "FILE.toml")]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) training: TrainingArgs,
    /// Print an example file.
    #[arg(long, exclusive = true)]
    pub(crate) example: bool,
    /// Print one JSON document on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

/// A training run and its claim; omitted fields are unknown. A file has the same names, with
/// underscores.
#[derive(Debug, Clone, Default, Args, Deserialize)]
#[serde(default)]
pub(crate) struct TrainingArgs {
    /// Records in the training data.
    #[arg(long, value_name = "N", value_parser = count)]
    #[serde(deserialize_with = "whole")]
    pub(crate) dataset_size: Option<u64>,
    /// Batch size configured in the data loader.
    #[arg(long, value_name = "B", value_parser = count)]
    #[serde(deserialize_with = "whole")]
    pub(crate) batch_size: Option<u64>,
    /// Passes over the data.
    #[arg(long, value_name = "E", value_parser = count)]
    #[serde(deserialize_with = "whole")]
    pub(crate) epochs: Option<u64>,
    /// Noise standard deviation divided by the clip norm, as configured in the accountant.
    #[arg(long, value_name = "S")]
    pub(crate) noise_multiplier: Option<f64>,
    /// How the loader draws batches.
    #[arg(long, value_parser = sampler_parser())]
    #[serde(deserialize_with = "named")]
    pub(crate) loader: Option<SamplerKind>,
    /// Records in the shuffle buffer (partial-shuffle and sliding-buffer only).
    #[arg(long, value_name = "K", value_parser = count)]
    #[serde(deserialize_with = "whole")]
    pub(crate) buffer_examples: Option<u64>,
    /// Whether the loader drops an incomplete last batch.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
        default_missing_value = "true")]
    pub(crate) drop_last: Option<bool>,
    /// Claimed epsilon.
    #[arg(long, value_name = "EPS")]
    pub(crate) claim: Option<f64>,
    /// Claimed delta.
    #[arg(long, value_parser = open_unit)]
    pub(crate) delta: Option<f64>,
    /// Adjacency of the claim [default: add-remove].
    #[arg(long, value_enum)]
    #[serde(deserialize_with = "named")]
    pub(crate) claim_adjacency: Option<AdjacencyArg>,
    /// Sampler that the accountant assumes.
    #[arg(long, value_parser = sampler_parser())]
    #[serde(deserialize_with = "named")]
    pub(crate) accountant: Option<SamplerKind>,
    /// Sampling rate configured in the accountant.
    #[arg(long, value_name = "Q")]
    pub(crate) accounted_sampling_rate: Option<f64>,
    /// Total number of steps configured in the accountant.
    #[arg(long, value_name = "N", value_parser = count)]
    #[serde(deserialize_with = "whole")]
    pub(crate) accounted_steps: Option<u64>,
    /// Standard deviation of the noise in the code, per coordinate.
    #[arg(long, value_name = "STD", requires = "clip_norm")]
    pub(crate) noise_std: Option<f64>,
    /// Clip norm of one record's gradient, for --noise-std.
    #[arg(long, value_name = "C")]
    pub(crate) clip_norm: Option<f64>,
    /// What the noise is added to [default: sum].
    #[arg(long, value_enum)]
    #[serde(deserialize_with = "named")]
    pub(crate) noise_on: Option<NoiseOnArg>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum NoiseOnArg {
    /// The sum of a batch's clipped gradients.
    Sum,
    /// Their mean, the sum divided by the batch size.
    Mean,
}

/// A non-negative integer, which may be written as 6e4.
fn whole<'de, D: Deserializer<'de>>(value: D) -> Result<Option<u64>, D::Error> {
    const LARGEST: f64 = 9_007_199_254_740_992.0; // 2^53
    let value = Value::deserialize(value)?;
    let whole = match &value {
        Value::Integer(integer) => u64::try_from(*integer).ok(),
        Value::Float(float) if float.fract() == 0.0 && (0.0..=LARGEST).contains(float) => {
            Some(*float as u64)
        }
        _ => None,
    };
    let expected = &"a non-negative integer such as 60000";
    let unexpected = || D::Error::invalid_value(Unexpected::Other(&value.to_string()), expected);
    whole.map(Some).ok_or_else(unexpected)
}

/// One of the names of a type.
fn named<'de, T: DeserializeOwned, D: Deserializer<'de>>(value: D) -> Result<Option<T>, D::Error> {
    let value = Value::deserialize(value)?;
    if !value.is_str() {
        let unexpected = Unexpected::Other(&value.to_string());
        return Err(D::Error::invalid_type(unexpected, &"a name in quotes"));
    }
    let named = T::deserialize(value);
    named.map(Some).map_err(|error: toml::de::Error| D::Error::custom(error.message()))
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
    /// Fields set in `self` override those in `other`.
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
