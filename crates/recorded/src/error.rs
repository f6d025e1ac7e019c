//! What is wrong with a file, or with what several of them state.

use dpscope_core::audit::claim::ClaimError;
use dpscope_core::audit::one_run::CanaryError;
use dpscope_core::audit::one_shot::OneShotError;
use dpscope_core::foreign_text::ForeignText;
use dpscope_formats::FormatError;
use thiserror::Error;

/// A file that is refused.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("{}: {problem}", ForeignText::new(.file))]
pub struct FileError {
    /// Its name.
    pub file: String,
    /// Why.
    pub problem: FileProblem,
}

/// Why a file is refused.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum FileProblem {
    /// Its format, or its size.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// What it contains.
    #[error("{0}")]
    Content(String),
    /// It is not what was committed.
    #[error("{0}")]
    Changed(String),
}

/// Why there is no audit.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum RecordedError {
    /// A file is refused.
    #[error(transparent)]
    File(#[from] FileError),
    /// The scores have no bound.
    #[error(transparent)]
    Canaries(#[from] CanaryError),
    /// The scores of canaries of a known null distribution have no bound.
    #[error(transparent)]
    OneShot(#[from] OneShotError),
    /// The claim cannot be compared.
    #[error(transparent)]
    Claim(#[from] ClaimError),
    /// There are neither coins nor a plan.
    #[error("the coins are missing: add them, or a plan if they were committed")]
    CoinsMissing,
    /// Projections with a direction that has the smaller scores included.
    #[error(
        "smaller scores are stated to indicate an included canary, but scores of projections are larger \
         for it; state that higher ones do"
    )]
    LowerProjections,
    /// More files of scores than runs.
    #[error(
        "there are {files} files of scores, but {planned} planned runs, whose number is fixed \
         before the first one; remove files, or commit a plan of as many runs"
    )]
    Runs {
        /// Files of scores.
        files: usize,
        /// Runs of the plan; 1 without one.
        planned: usize,
    },
    /// Records to compare with, but no canaries.
    #[error("the training records are compared with canaries, and their file is missing: add it")]
    CanariesMissing,
}
