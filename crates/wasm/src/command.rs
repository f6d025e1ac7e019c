//! Commands of the program on files in memory.

use dpscope::{Call, ErrorCode, ErrorReport};
use js_sys::Uint8Array;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::failure::{Failure, FailureKind};

/// The words of a command, and the files that it reads.
///
/// `names` are the paths of the files as the words have them. A folder is passed as its files: `plan` stands
/// for `plan/plan.json`, `plan/seed.secret` and so on.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Command {
    words: Vec<String>,
    files: Vec<(String, Vec<u8>)>,
}

#[wasm_bindgen]
impl Command {
    /// The command with the content of each file.
    #[wasm_bindgen(constructor)]
    #[must_use]
    pub fn new(words: Vec<String>, names: Vec<String>, contents: Vec<Uint8Array>) -> Command {
        let contents = contents.iter().map(Uint8Array::to_vec);
        Command { words, files: names.into_iter().zip(contents).collect() }
    }
}

impl Command {
    /// The command as the program takes it.
    pub(crate) fn call(self) -> Call {
        Call {
            arguments: self.words.into_iter().map(Into::into).collect(),
            files: self.files.into_iter().map(|(name, bytes)| (name.into(), bytes)).collect(),
            ..Call::default()
        }
    }

    /// What a command trains.
    ///
    /// # Errors
    /// What the program prints where it fails: an option outside its domain, a file that is no data set.
    #[cfg(any(feature = "training", feature = "training_canaries"))]
    pub(crate) fn prepare<M: 'static>(self) -> Result<M, Failure> {
        Ok(self.call().workload()?)
    }
}

impl From<ErrorReport> for Failure {
    fn from(error: ErrorReport) -> Self {
        let kind = match (error.code, error.file) {
            (ErrorCode::Input | ErrorCode::Artefact, Some(_)) => FailureKind::File,
            (ErrorCode::Input | ErrorCode::Artefact, None) => FailureKind::Input,
            (ErrorCode::Device, _) => FailureKind::Device,
            (ErrorCode::Interrupted, _) => FailureKind::Stopped,
            (ErrorCode::Internal, _) => FailureKind::Internal,
        };
        Failure::of(kind, &error.message)
    }
}

#[cfg(test)]
impl Command {
    /// The command of a line, with the text of each file, on the device of a page.
    pub(crate) fn of(line: &str, files: &[(&str, &str)]) -> Command {
        let line = format!("{line} --device cpu --threads 1");
        let files = files.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec()));
        Command {
            words: line.split_whitespace().map(str::to_owned).collect(),
            files: files.collect(),
        }
    }
}
