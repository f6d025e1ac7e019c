//! The data set of a page that trains.

use dpscope_core::foreign_text::ForeignText;
use dpscope_formats::Limits;
use dpscope_report::record::page::TrainingOverview;
use dpscope_train::data::{
    DataError, Examples, LoadOptions, LoadSummary, Source, SyntheticData, load,
};
use dpscope_train::{BuiltInModel, Network, TrainError};
use wasm_bindgen::prelude::wasm_bindgen;

use crate::failure::{Failure, FailureKind};

/// A data set that was dropped on the page, and canaries that it has optimised.
#[wasm_bindgen]
#[derive(Debug, Default)]
pub struct DataFiles {
    data: Option<(String, Vec<u8>)>,
    labels: Option<(String, Vec<u8>)>,
    #[cfg(feature = "training_canaries")]
    pub(crate) canaries: Option<(Vec<f32>, Vec<u32>)>,
}

#[wasm_bindgen]
impl DataFiles {
    /// A data set in one file.
    #[wasm_bindgen(constructor)]
    #[must_use]
    pub fn new(name: String, bytes: Vec<u8>) -> DataFiles {
        DataFiles { data: Some((name, bytes)), ..DataFiles::default() }
    }

    /// Without a data set.
    #[must_use]
    pub fn none() -> DataFiles {
        DataFiles::default()
    }

    /// With canaries: their features, one after the other, and classes.
    #[cfg(feature = "training_canaries")]
    pub fn set_canaries(&mut self, values: Vec<f32>, labels: Vec<u32>) {
        self.canaries = Some((values, labels));
    }

    /// With a file of labels.
    pub fn set_labels(&mut self, name: String, bytes: Vec<u8>) {
        self.labels = Some((name, bytes));
    }
}

#[cfg(feature = "training_canaries")]
impl DataFiles {
    /// Whether there is a data set.
    pub(crate) fn has_data(&self) -> bool {
        self.data.is_some()
    }
}

/// The files of the page, or synthetic data of a name.
///
/// # Errors
/// Files that are no data set with so many records; a name of a file that is missing.
pub(crate) fn examples(
    name: &str,
    records: usize,
    files: Option<&DataFiles>,
) -> Result<Examples, Failure> {
    let held_out = BuiltInModel::HELD_OUT;
    let selection = Selection { records: Some(records), ..Selection::default() };
    read_examples(name, (records, held_out), selection, files)
}

/// Which records of the files are used.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Selection<'a> {
    /// Their number, or all, unless clients are read.
    pub(crate) records: Option<usize>,
    /// The column of clients.
    pub(crate) client_column: Option<&'a str>,
}

/// Reads examples, with other numbers of records and held-out records of synthetic data and a selection
/// of the files.
pub(crate) fn read_examples(
    name: &str,
    (synthetic_records, held_out): (usize, usize),
    Selection { records, client_column }: Selection<'_>,
    files: Option<&DataFiles>,
) -> Result<Examples, Failure> {
    let of_files = files.and_then(|files| Some((files.data.as_ref()?, files.labels.as_ref())));
    let Some((data, labels)) = of_files else {
        let synthetic: SyntheticData = name.parse().map_err(|_| {
            let message =
                format!("the models are trained on {}; add that file", ForeignText::new(name));
            Failure { field: Some("data"), ..Failure::of(FailureKind::File, &message) }
        })?;
        return synthetic.generate(synthetic_records, held_out).map_err(|error| of_data(&error));
    };
    fn source((name, bytes): &(String, Vec<u8>)) -> Source<'_> {
        Source { name, bytes }
    }
    let options = LoadOptions {
        records,
        client_column,
        limits: Limits::for_page(),
        ..LoadOptions::default()
    };
    load(source(data), labels.map(source), &options).map_err(|error| of_data(&error))
}

fn of_data(error: &DataError) -> Failure {
    let message = match error {
        DataError::Format { name, source } => format!("{name}: {}", source.in_page()),
        error => error.to_string(),
    };
    Failure { field: Some("data"), ..Failure::of(FailureKind::File, &message) }
}

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
        return Err(Failure { field: Some("steps"), ..Failure::of(FailureKind::Limit, message) });
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
        let field = match &error {
            TrainError::Mechanism(error) => return error.clone().into(),
            TrainError::Domain { name, .. } => Some(*name),
            TrainError::TooFewRecords { .. }
            | TrainError::TooFewBaseRecords { .. }
            | TrainError::TooFewCanaryRecords { .. } => Some("steps"),
            TrainError::NothingToTrain { .. } | TrainError::OneRunThreatModel { .. } => {
                Some("threat_model")
            }
            TrainError::UsesPerEpoch { .. } => Some("uses_per_epoch"),
            TrainError::DatasetSize { .. } => Some("dataset_size"),
            TrainError::TooFewClientRecords { .. } => Some("clients"),
            TrainError::TooManyUpdates { .. } => Some("rounds"),
            TrainError::NoUpdates { .. } => Some("attack"),
            TrainError::ShapeMismatch { .. } | TrainError::DataMismatch { .. } => Some("data"),
            TrainError::CanaryCount { .. } | TrainError::RepeatedCanary { .. } => Some("canaries"),
            TrainError::OneClass { .. } => Some("canary_kind"),
            TrainError::TooManyScores { .. } => Some("repeats"),
            _ => None,
        };
        Failure { field, ..Failure::rejected(&error) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_and_broken_files_are_named() {
        let missing = examples("mine.csv", 10, None).unwrap_err();
        assert_eq!((missing.kind, missing.field), (FailureKind::File, Some("data")));
        assert!(missing.message.contains("mine.csv"), "{}", missing.message);
        for bytes in [&b""[..], b"PK", b"<html>", b"0,1\n0,2\n"] {
            let files = DataFiles::new("x.csv".to_owned(), bytes.to_vec());
            let broken = examples("x.csv", 10, Some(&files)).unwrap_err();
            assert_eq!((broken.kind, broken.field), (FailureKind::File, Some("data")));
        }
    }
}
