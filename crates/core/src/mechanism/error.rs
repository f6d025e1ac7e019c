//! Errors of the mechanism's parameters and of the outputs that it scores.

use super::{SamplerKind, ThreatModel, UnknownSampler, UnknownThreatModel};
use crate::format::given;

/// What is wrong with a parameter: the end of a sentence that begins with its name.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ParameterProblem {
    /// Outside its domain.
    #[error("= {} lies outside {domain}; pass {meaning}", given(*.value))]
    Outside {
        /// Its value.
        value: f64,
        /// Its domain.
        domain: String,
        /// What it is.
        meaning: &'static str,
    },
    /// Missing.
    #[error("is missing and {needed_by} needs it; pass {meaning}")]
    Missing {
        /// The sampler, or the use, that needs it.
        needed_by: String,
        /// What it is.
        meaning: &'static str,
    },
    /// Without effect for this sampler.
    #[error("= {value} has no meaning for sampler {sampler}; leave it out, or use {instead}")]
    Unused {
        /// Its value.
        value: u64,
        /// The sampler.
        sampler: SamplerKind,
        /// A sampler that has it.
        instead: SamplerKind,
    },
}

/// A parameter outside its domain, a combination that is not defined, or outputs that cannot be
/// scored.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MechanismError {
    /// A parameter outside its domain, missing, or without effect.
    #[error("{name} {problem}")]
    Parameter {
        /// Its name, as a field.
        name: &'static str,
        /// What is wrong with it.
        problem: ParameterProblem,
    },
    /// A sampler without a valid audit under this threat model.
    #[error(
        "sampler {sampler} is not defined with threat model {threat_model}; use {}",
        sampler.default_threat_model()
    )]
    UndefinedPair {
        /// The sampler.
        sampler: SamplerKind,
        /// The threat model.
        threat_model: ThreatModel,
    },
    /// A name that is no sampler.
    #[error(transparent)]
    UnknownSampler(#[from] UnknownSampler),
    /// A name that is no threat model.
    #[error(transparent)]
    UnknownThreatModel(#[from] UnknownThreatModel),
    /// Prefix scores for a sampler that does not draw the target's slot anew among the first
    /// batches.
    #[error(
        "prefix scores are not defined for sampler {sampler}; use shuffle, partial-shuffle or \
         sliding-buffer"
    )]
    PrefixSampler {
        /// The sampler.
        sampler: SamplerKind,
    },
    /// Weights that do not match the entries.
    #[error(
        "weights has {actual} values where the distribution has {expected} entries; pass one per entry"
    )]
    WeightCount {
        /// Its value.
        actual: usize,
        /// Entries of an epoch.
        expected: usize,
    },
    /// A run with too few or too many outputs.
    #[error("outputs has {actual} values where epochs × steps are {expected}; pass one run")]
    OutputCount {
        /// Its value.
        actual: usize,
        /// Outputs of one observation.
        expected: u64,
    },
    /// An output that is not finite: the run counts against the attacker.
    #[error(
        "the output of step {} of epoch {} is {}, which is not finite; count the run as failed",
        .step + 1, .epoch + 1, given(*.value)
    )]
    NonFiniteOutput {
        /// Epoch, from 0.
        epoch: usize,
        /// Step in the epoch, from 0.
        step: usize,
        /// Its value.
        value: f64,
    },
    /// Finite outputs so large that the score overflows.
    #[error(
        "score = {}: the outputs are too large to score; check their unit (clip norm)",
        given(*.value)
    )]
    NonFiniteScore {
        /// The score.
        value: f64,
    },
}

/// What each parameter is, for errors.
fn meaning(name: &str) -> &'static str {
    match name {
        "noise_multiplier" => "the noise standard deviation divided by the clip norm",
        "steps_per_epoch" => "the number of batches in one pass over the data",
        "epochs" => "the number of passes over the data",
        "batch_size" => "the number of records per batch",
        "buffer_examples" => "a number of records, at most those of an epoch",
        "uses_per_epoch" => "the number of batches of an epoch that contain a record",
        "dataset_size" => "the number of records",
        "max_batch_size" => {
            "the maximum batch size, from the mean batch size to the number of records"
        }
        "target_slot" => "a slot, counted from 0",
        "prefix" => "a number of batches",
        _ => "a positive finite number",
    }
}

impl MechanismError {
    /// The message, with a parameter at its start as `name` calls it.
    pub fn in_terms_of(&self, name: impl Fn(&'static str) -> String) -> String {
        match self {
            MechanismError::Parameter { name: field, problem } => {
                format!("{} {problem}", name(field))
            }
            error => error.to_string(),
        }
    }

    /// The name of the parameter, as a field, if one is at fault.
    #[must_use]
    pub fn parameter(&self) -> Option<&'static str> {
        match self {
            MechanismError::Parameter { name, .. } => Some(name),
            MechanismError::UndefinedPair { .. } | MechanismError::UnknownThreatModel(_) => {
                Some("threat_model")
            }
            MechanismError::UnknownSampler(_) | MechanismError::PrefixSampler { .. } => {
                Some("sampler")
            }
            _ => None,
        }
    }

    /// A parameter outside its domain.
    pub(crate) fn outside(name: &'static str, value: f64, domain: &str) -> Self {
        let (domain, meaning) = (domain.to_owned(), meaning(name));
        let problem = ParameterProblem::Outside { value, domain, meaning };
        MechanismError::Parameter { name, problem }
    }

    /// A missing parameter.
    pub(crate) fn missing(name: &'static str, needed_by: impl ToString) -> Self {
        let (needed_by, meaning) = (needed_by.to_string(), meaning(name));
        let problem = ParameterProblem::Missing { needed_by, meaning };
        MechanismError::Parameter { name, problem }
    }

    /// A parameter without effect for this sampler.
    pub(crate) fn unused(name: &'static str, value: u64, sampler: SamplerKind) -> Self {
        let has_it =
            |kind: &SamplerKind| kind.parameter().is_some_and(|known| known.name() == name);
        let instead = SamplerKind::ALL.into_iter().find(has_it);
        let instead = instead.unwrap_or(match name {
            "dataset_size" => SamplerKind::Poisson,
            _ => SamplerKind::Deterministic,
        });
        MechanismError::Parameter {
            name,
            problem: ParameterProblem::Unused { value, sampler, instead },
        }
    }
}
