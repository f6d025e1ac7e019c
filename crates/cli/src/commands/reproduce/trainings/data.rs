//! The numbers of published trainings, as their sources state them.

use dpscope_core::accounting::{EpochLength, RunLength, Schedule};
use dpscope_core::mechanism::SamplerKind;
use dpscope_report::record::PublishedSource;
use serde::Deserialize;

use crate::failure::{Exit, Failure};

const TRAININGS: &str = include_str!("../../../../data/published/trainings.toml");

/// An entry of `trainings.toml`; `SOURCE.md` beside it explains the fields.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PublishedTraining {
    pub(super) name: String,
    source: String,
    url: String,
    place: String,
    noise_multiplier: f64,
    pub(super) dataset_size: Option<u64>,
    pub(super) batch_size: Option<u64>,
    steps_per_epoch: Option<u64>,
    epochs: Option<f64>,
    total_steps: Option<u64>,
    pub(super) delta: f64,
    /// As printed.
    pub(super) claimed_epsilon: String,
    pub(super) accountant: String,
    pub(super) ran: Option<SamplerKind>,
    pub(super) ran_note: Option<String>,
    pub(super) remark: Option<String>,
    #[serde(default)]
    pub(super) unverified: Vec<String>,
}

#[derive(Deserialize)]
struct Trainings {
    training: Vec<PublishedTraining>,
}

fn unreadable(why: impl std::fmt::Display) -> Failure {
    Failure::with(Exit::Internal, format!("the published trainings cannot be read: {why}"))
}

/// All of them.
pub(super) fn trainings() -> Result<Vec<PublishedTraining>, Failure> {
    let read: Trainings = toml::from_str(TRAININGS).map_err(unreadable)?;
    Ok(read.training)
}

impl PublishedTraining {
    pub(super) fn schedule(&self) -> Result<Schedule, Failure> {
        let epoch = match (self.dataset_size, self.batch_size, self.steps_per_epoch) {
            (Some(dataset_size), Some(batch_size), None) => {
                EpochLength::Records { dataset_size, batch_size }
            }
            (None, None, Some(steps)) => EpochLength::Steps(steps),
            _ => return Err(unreadable(format!("{}: the length of an epoch", self.name))),
        };
        let run = match (self.epochs, self.total_steps) {
            (Some(epochs), None) => RunLength::Epochs(epochs),
            (None, Some(steps)) => RunLength::Steps(steps),
            _ => return Err(unreadable(format!("{}: the length of the run", self.name))),
        };
        Ok(Schedule::new(self.noise_multiplier, epoch, run)?)
    }

    pub(super) fn claimed(&self) -> Result<f64, Failure> {
        self.claimed_epsilon.parse().map_err(unreadable)
    }

    pub(super) fn source(&self) -> PublishedSource {
        PublishedSource {
            title: self.source.clone(),
            url: self.url.clone(),
            place: self.place.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_training_is_complete() {
        let all = trainings().unwrap();
        assert!(all.len() >= 12);
        for training in &all {
            assert!(training.schedule().is_ok() && training.claimed().unwrap() > 0.0);
            assert!(training.url.starts_with("https://"), "{}", training.name);
            assert_eq!(training.ran.is_some(), training.ran_note.is_some(), "{}", training.name);
            for field in &training.unverified {
                assert!(["dataset_size", "batch_size"].contains(&field.as_str()), "{field}");
            }
        }
    }
}
