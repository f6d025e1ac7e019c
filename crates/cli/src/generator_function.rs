//! A function of the caller that releases rows, in place of a command that a shell starts.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// One run of a generator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeneratorRun {
    /// Table of real rows, csv.
    pub data: PathBuf,
    /// Its columns.
    pub columns: Vec<GeneratorColumn>,
    /// Seed of the run.
    pub seed: u64,
    /// Number of rows that it must release.
    pub rows: u64,
    /// Where it must write them, as csv.
    pub out: PathBuf,
}

/// A column of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeneratorColumn {
    /// Its name.
    pub name: String,
    /// `number`, `integer` or `category`.
    pub kind: &'static str,
}

/// Why a run released no rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GeneratorError {
    /// The run failed, which is an output too.
    Failed {
        /// In one line.
        reason: String,
        /// What is saved beside the rows.
        log: String,
    },
    /// The caller stopped it.
    Stopped,
}

type Release = dyn Fn(&GeneratorRun) -> Result<(), GeneratorError> + Send + Sync;

/// A generator in the process of the caller.
#[derive(Clone)]
pub struct GeneratorFunction(Arc<Release>);

impl GeneratorFunction {
    /// Executes each run by this function, one at a time.
    pub fn new(
        release: impl Fn(&GeneratorRun) -> Result<(), GeneratorError> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(release))
    }

    pub(crate) fn release(&self, run: &GeneratorRun) -> Result<(), GeneratorError> {
        (self.0)(run)
    }
}

impl fmt::Debug for GeneratorFunction {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("GeneratorFunction")
    }
}
