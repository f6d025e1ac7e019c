//! Errors of artefacts, devices and runs.

use dpscope_core::accounting::AccountingError;
use dpscope_core::audit::AuditError;
use dpscope_core::audit::histogram::HistogramError;
use dpscope_core::foreign_text::ForeignText;
use dpscope_shaders::{FloatMode, KernelError};

/// A shard that does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("shard {index}/{count} does not exist; write i/N with 1 <= i <= N <= {max}")]
pub struct ShardError {
    /// Index of the shard, from 1.
    pub index: u64,
    /// Number of shards.
    pub count: u64,
    /// Largest N for this plan.
    pub max: u64,
}

/// Errors of a GPU.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GpuError {
    /// The device or its driver failed; a retry may succeed.
    #[error("{0}")]
    Device(String),
    /// The device does not support this work; a retry fails again.
    #[error("{0}")]
    Unfit(String),
    /// Cancelled by the caller.
    #[error("stopped")]
    Stopped,
}

/// An artefact that cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ArtefactError {
    /// Evidence of another computation than the one that would be added to it.
    #[error("{what}")]
    WorkloadMismatch {
        /// The difference, and what to do.
        what: &'static str,
    },
    /// Not a JSON document of the schema.
    #[error("it is not a dpscope artefact ({reason})")]
    Malformed {
        /// Message of the parser.
        reason: ForeignText,
    },
    /// Another schema version.
    #[error(
        "its schema is `{found}`, but this version reads `{expected}`; use the version that wrote it"
    )]
    Schema {
        /// In the file.
        found: ForeignText,
        /// Here.
        expected: &'static str,
    },
    /// Larger than any artefact.
    #[error("it has {bytes} bytes; an artefact has at most {max}")]
    TooLarge {
        /// Its size.
        bytes: usize,
        /// The limit.
        max: usize,
    },
    /// The content does not match its checksum.
    #[error(
        "its checksum does not match: the file is damaged or was edited; copy it again, or repeat \
         the run"
    )]
    Checksum,
    /// Content that no run can write.
    #[error("it is inconsistent: {what}; repeat the run")]
    Inconsistent {
        /// The inconsistency.
        what: &'static str,
    },
    /// An artefact of another plan.
    #[error(
        "it belongs to another plan ({differences}); run with the same parameters, or name another \
         file"
    )]
    PlanMismatch {
        /// Which parameters differ.
        differences: String,
    },
    /// A part of a merge whose plan differs from the first.
    #[error(
        "it belongs to another plan than the first file ({differences}); merge shards of one plan"
    )]
    PartMismatch {
        /// Which parameters differ.
        differences: String,
    },
    /// Written by another version, whose samples or scores may differ.
    #[error(
        "it was written by version {found}, and counts of version {expected} cannot be added to \
         it; use one version for all parts of a run"
    )]
    VersionMismatch {
        /// In the file.
        found: String,
        /// Here.
        expected: String,
    },
    /// An artefact of another shard of the plan.
    #[error(
        "it contains {found}, but this run counts {expected}; name another file, or run the \
         matching shard"
    )]
    RangeMismatch {
        /// In the file.
        found: String,
        /// Here.
        expected: String,
    },
    /// Two artefacts contain the same units.
    #[error("{overlap} are in more than one file; merge each shard once")]
    Overlap {
        /// The repeated range.
        overlap: String,
    },
    /// Evidence of unassigned units.
    #[error("{found} were not assigned, or have been released")]
    NotAssigned {
        /// The counted ranges.
        found: String,
    },
    /// Units are missing.
    #[error("{gap} are missing; add the shard that contains them")]
    Gap {
        /// The missing range.
        gap: String,
    },
    /// Different float modes.
    #[error("the files were computed in different float modes ({modes})")]
    MixedModes {
        /// The modes.
        modes: String,
    },
    /// A run in another float mode than the counts that it resumes.
    #[error("it was counted in float mode {found}, but this run computes in {here}")]
    FloatModeMismatch {
        /// In the file.
        found: String,
        /// Here.
        here: FloatMode,
    },
    /// Nothing to merge.
    #[error("there is nothing to merge")]
    Nothing,
}

/// A run that failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The shard does not exist.
    #[error(transparent)]
    Shard(#[from] ShardError),
    /// An artefact is invalid.
    #[error(transparent)]
    Artefact(#[from] ArtefactError),
    /// The kernel does not support the distribution.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// An invalid argument of an accountant.
    #[error(transparent)]
    Accounting(#[from] AccountingError),
    /// Counts are invalid.
    #[error(transparent)]
    Audit(#[from] AuditError),
    /// Histograms are invalid.
    #[error(transparent)]
    Histogram(#[from] HistogramError),
    /// The backend could not start.
    #[error("the {backend} backend cannot start: {reason}")]
    Backend {
        /// The backend.
        backend: &'static str,
        /// The reason.
        reason: String,
    },
    /// A device lost or duplicated units.
    #[error("{device} did not count exactly {expected}")]
    Miscounted {
        /// The device.
        device: String,
        /// The units requested.
        expected: String,
    },
    /// [`Control::keep_going`](crate::Control::keep_going) returned `false`.
    #[error("stopped")]
    Stopped,
    /// The caller could not save the state.
    #[error(transparent)]
    Control(Box<dyn std::error::Error + Send + Sync>),
}

impl From<GpuError> for EngineError {
    fn from(error: GpuError) -> Self {
        match error {
            GpuError::Stopped => EngineError::Stopped,
            GpuError::Device(reason) | GpuError::Unfit(reason) => {
                EngineError::Backend { backend: "gpu", reason }
            }
        }
    }
}
