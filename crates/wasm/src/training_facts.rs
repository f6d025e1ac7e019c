//! What trainings in two worlds and with many canaries share.

use dpscope_report::record::page::TrainingOverview;
use dpscope_train::data::{Examples, LoadSummary};
use dpscope_train::{Network, TrainError};

use crate::failure::{Failure, FailureKind};

/// Gradient entries of one run: about a minute of a worker.
const MOST_ENTRIES: u64 = 1 << 38;

/// Largest model, in parameters: a worker holds a few copies of it.
const MOST_PARAMETERS: usize = 1 << 22;

/// Refuses trainings that a page cannot wait for, by the gradients of one of them.
pub(crate) fn check_size(network: &Network, gradients: u64) -> Result<(), Failure> {
    let parameters = network.parameters();
    if parameters > MOST_PARAMETERS || gradients.saturating_mul(parameters as u64) > MOST_ENTRIES {
        let message = "so large a training takes too long in a browser; use a smaller model, fewer \
                       records or epochs, or the program, which has no such limit";
        return Err(Failure::of(FailureKind::Limit, message));
    }
    Ok(())
}

/// What a training on `records` records is made of.
pub(crate) fn overview_of(
    examples: &Examples,
    records: u64,
    network: &Network,
    learning_rate: f64,
) -> TrainingOverview {
    let summary = examples.load_summary();
    TrainingOverview {
        data: examples.name().to_owned(),
        records,
        held_out: examples.held_out().map_or(0, |held_out| held_out.len() as u64),
        features: examples.shape().len() as u64,
        classes: examples.classes() as u64,
        parameters: network.parameters() as u64,
        learning_rate,
        notes: summary.map(LoadSummary::sentences).unwrap_or_default(),
    }
}

impl From<TrainError> for Failure {
    fn from(error: TrainError) -> Self {
        Failure::rejected(&error)
    }
}
