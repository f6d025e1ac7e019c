//! The data set of a page.

use dpscope_core::format::excerpt;
use dpscope_train::BuiltInModel;
use dpscope_train::data::{DataError, Examples, LoadOptions, Source, SyntheticData, load};
use wasm_bindgen::prelude::wasm_bindgen;

use crate::failure::{Failure, FailureKind};
use crate::file::{limits, with_remedy};

/// A data set that was dropped on the page.
#[wasm_bindgen]
#[derive(Debug)]
pub struct DataFiles {
    data: (String, Vec<u8>),
    labels: Option<(String, Vec<u8>)>,
}

#[wasm_bindgen]
impl DataFiles {
    /// Of one file.
    #[wasm_bindgen(constructor)]
    #[must_use]
    pub fn new(name: String, bytes: Vec<u8>) -> DataFiles {
        DataFiles { data: (name, bytes), labels: None }
    }

    /// With a file of labels.
    pub fn set_labels(&mut self, name: String, bytes: Vec<u8>) {
        self.labels = Some((name, bytes));
    }
}

/// The files of the page, or synthetic data of a name.
///
/// # Errors
/// Files that are no data set with so many records; a name of a file that is missing.
pub(super) fn examples(
    name: &str,
    records: usize,
    files: Option<&DataFiles>,
) -> Result<Examples, Failure> {
    let Some(DataFiles { data, labels }) = files else {
        let synthetic: SyntheticData = name.parse().map_err(|_| {
            let message = format!("the models are trained on {}; add that file", excerpt(name, 64));
            Failure { field: Some("data"), ..Failure::of(FailureKind::File, &message) }
        })?;
        return synthetic
            .generate(records, BuiltInModel::HELD_OUT)
            .map_err(|error| of_data(&error));
    };
    fn source((name, bytes): &(String, Vec<u8>)) -> Source<'_> {
        Source { name, bytes }
    }
    let options =
        LoadOptions { records: Some(records), limits: limits(), ..LoadOptions::default() };
    load(source(data), labels.as_ref().map(source), &options).map_err(|error| of_data(&error))
}

fn of_data(error: &DataError) -> Failure {
    let message = match error {
        DataError::Format { name, source } => format!("{name}: {}", with_remedy(source)),
        error => error.to_string(),
    };
    Failure { field: Some("data"), ..Failure::of(FailureKind::File, &message) }
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
