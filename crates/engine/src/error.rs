//! Errors of plans, artefacts and runs.

use dpscope_core::accounting::AccountingError;
use dpscope_core::audit::AuditError;
use dpscope_core::audit::histogram::HistogramError;
use dpscope_core::format::given;
use dpscope_core::mechanism::MechanismError;
use dpscope_shaders::{FloatMode, KernelError};

/// An invalid plan.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// Observations count both worlds together.
    #[error(
        "observations is {observations}; it counts both worlds together and must be even, from 2 \
         to 2^53"
    )]
    Observations {
        /// The value.
        observations: u64,
    },
    /// Too few observations to halve each world.
    #[error(
        "observations is {observations}, one in each world, and the rule split halves each world; \
         use at least 4"
    )]
    SplitObservations {
        /// The value.
        observations: u64,
    },
    /// δ of an audit.
    #[error(
        "delta is {}; it must lie strictly between 0 and 1, e.g. 1e-5{}", given(*.delta),
        if *.delta == 0.0 { ": Gaussian noise has no finite epsilon at delta 0" } else { "" }
    )]
    Delta {
        /// The value.
        delta: f64,
    },
    /// Significance of an audit.
    #[error(
        "significance is {}; it must lie strictly between 0 and 1, e.g. 0.05",
        given(*.significance)
    )]
    Significance {
        /// The value.
        significance: f64,
    },
    /// Cuts of the simultaneous rule.
    #[error("cuts is {cuts}; it must be 1 to 64")]
    Cuts {
        /// The value.
        cuts: u32,
    },
    /// A seed that does not fit a JSON number.
    #[error("seed is {seed}; it must be below 2^53")]
    Seed {
        /// The value.
        seed: u64,
    },
    /// A rule that simulations do not support.
    #[error("simulations do not support the threshold rule `fixed`; use simultaneous or split")]
    Rule,
    /// A shard that does not exist.
    #[error("shard {index}/{count} does not exist; write i/N with 1 <= i <= N <= {max}")]
    Shard {
        /// Index of the shard, from 1.
        index: u64,
        /// Number of shards.
        count: u64,
        /// Largest N for this plan.
        max: u64,
    },
    /// Parameters of the mechanism.
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
}

/// An artefact that cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ArtefactError {
    /// Trained models and simulated counts are mixed, or the training differs.
    #[error(
        "{}",
        if *.is_training {
            "it was written for a different model, data set or options; pass the ones that the run \
             was started with"
        } else {
            "it counts a simulated mechanism, not trained models; name another file"
        }
    )]
    TrainingMismatch {
        /// Whether the plan is that of a training.
        is_training: bool,
    },
    /// Not a JSON document of the schema.
    #[error("it is not a dpscope artefact ({reason})")]
    Malformed {
        /// Message of the parser.
        reason: String,
    },
    /// Another schema version.
    #[error(
        "its schema is `{found}`, but this version reads `{expected}`; use the version that wrote it"
    )]
    Schema {
        /// In the file.
        found: String,
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
        "it contains observations {found} of each world, but this run counts {expected}; name another \
         file, or run the matching shard"
    )]
    RangeMismatch {
        /// In the file.
        found: String,
        /// Here.
        expected: String,
    },
    /// Two artefacts contain the same observations.
    #[error(
        "observations {overlap} of each world are in more than one file; merge each shard once"
    )]
    Overlap {
        /// The repeated range.
        overlap: String,
    },
    /// Counts of unassigned observations.
    #[error("observations {found} of each world were not assigned, or have been released")]
    NotAssigned {
        /// The counted ranges.
        found: String,
    },
    /// Observations are missing.
    #[error("observations {gap} of each world are missing; add the shard that contains them")]
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
    /// The plan is invalid.
    #[error(transparent)]
    Plan(#[from] PlanError),
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
    /// The backend lost or duplicated observations.
    #[error("{backend} counted {counted} observations instead of {expected}")]
    Miscounted {
        /// The backend.
        backend: String,
        /// Histogram total.
        counted: u64,
        /// Observations requested.
        expected: u64,
    },
    /// [`Control::keep_going`](crate::Control::keep_going) returned `false`.
    #[error("stopped")]
    Stopped,
    /// The caller could not save the state.
    #[error(transparent)]
    Control(Box<dyn std::error::Error + Send + Sync>),
}
