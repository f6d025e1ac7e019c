//! Errors of plans, artefacts and runs.

use dpscope_core::accounting::AccountingError;
use dpscope_core::audit::AuditError;
use dpscope_core::audit::histogram::HistogramError;
use dpscope_core::format::given;
use dpscope_core::mechanism::MechanismError;
use dpscope_shaders::KernelError;

/// A plan that cannot be run.
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
         give at least 4"
    )]
    SplitObservations {
        /// The value.
        observations: u64,
    },
    /// δ of an audit.
    #[error("delta is {}; it must lie strictly between 0 and 1, e.g. 1e-5", given(*.delta))]
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
    /// A seed that a JSON number or a URL could not carry.
    #[error("seed is {seed}; it must be below 2^53")]
    Seed {
        /// The value.
        seed: u64,
    },
    /// A rule that simulations do not have.
    #[error("the threshold rule `fixed` is not one of a simulation; use simultaneous or split")]
    Rule,
    /// A shard that does not exist.
    #[error("shard {index}/{count} does not exist; write i/N with 1 <= i <= N <= {most}")]
    Shard {
        /// Which, counted from 1.
        index: u64,
        /// Of how many.
        count: u64,
        /// Largest N for this plan.
        most: u64,
    },
    /// Parameters of the mechanism.
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
}

/// An artefact that cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ArtefactError {
    /// Counts of trained models, which are gone on with by the same training alone.
    #[error(
        "{}",
        if *.is_training {
            "it counts trained models, and the model, data or options given here are others; give \
             those that it was begun with"
        } else {
            "it counts a simulated mechanism, and trained models are to be counted here"
        }
    )]
    ForeignTraining {
        /// Whether the plan is that of a training.
        is_training: bool,
    },
    /// Not a JSON document of the schema.
    #[error("it is not a dpscope artefact ({reason})")]
    Malformed {
        /// What the parser met.
        reason: String,
    },
    /// Another schema version.
    #[error(
        "its schema is `{found}`, and this version reads `{expected}`; use the version that wrote it"
    )]
    Schema {
        /// In the file.
        found: String,
        /// Here.
        expected: &'static str,
    },
    /// Larger than any artefact.
    #[error("it has {bytes} bytes; an artefact has at most {most}")]
    TooLarge {
        /// Its size.
        bytes: usize,
        /// The limit.
        most: usize,
    },
    /// The content does not match its checksum.
    #[error(
        "its checksum does not match: the file is damaged or was edited; copy it again, or repeat \
         that run"
    )]
    Checksum,
    /// Content that no run can have written.
    #[error("it contradicts itself: {what}; repeat that run")]
    Inconsistent {
        /// The contradiction.
        what: &'static str,
    },
    /// From another plan.
    #[error(
        "it belongs to another plan ({differences}); run with the same parameters, or name another \
         file"
    )]
    ForeignPlan {
        /// Which parameters differ.
        differences: String,
    },
    /// One part of a merge is of another plan than the first.
    #[error(
        "it belongs to another plan than the first file ({differences}); merge shards of one plan"
    )]
    ForeignPart {
        /// Which parameters differ.
        differences: String,
    },
    /// Written by another version, whose draws or scores may differ.
    #[error(
        "it was written by version {found}, and counts of version {expected} cannot be added to \
         it; use one version for all parts of a run"
    )]
    ForeignVersion {
        /// In the file.
        found: String,
        /// Here.
        expected: String,
    },
    /// From another shard of the plan.
    #[error(
        "it holds observations {found} of each world, and this run counts {expected}; name another \
         file, or run the shard that it belongs to"
    )]
    ForeignRange {
        /// In the file.
        found: String,
        /// Here.
        expected: String,
    },
    /// Two artefacts hold the same observations.
    #[error(
        "observations {overlap} of each world are in more than one file; merge each shard once"
    )]
    Overlap {
        /// The doubled range.
        overlap: String,
    },
    /// Counts of observations that nobody was to count.
    #[error("observations {found} of each world were not dealt, or were given back since")]
    NotDealt {
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
    /// A run in another float mode than that of the counts it would be added to.
    #[error("it was counted in float mode {found}, but this run computes in {here}")]
    ForeignMode {
        /// In the file.
        found: String,
        /// Here.
        here: String,
    },
    /// Nothing to merge.
    #[error("there is nothing to merge")]
    Nothing,
}

/// A run that could not be finished.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The plan was refused.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// An artefact was refused.
    #[error(transparent)]
    Artefact(#[from] ArtefactError),
    /// The kernel refused the law.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// An argument of an accountant was refused.
    #[error(transparent)]
    Accounting(#[from] AccountingError),
    /// Counts were refused.
    #[error(transparent)]
    Audit(#[from] AuditError),
    /// Histograms were refused.
    #[error(transparent)]
    Histogram(#[from] HistogramError),
    /// The backend could not start.
    #[error("the {backend} backend cannot start: {reason}")]
    Backend {
        /// Which.
        backend: &'static str,
        /// Why.
        reason: String,
    },
    /// The backend lost or invented observations.
    #[error("{backend} counted {counted} observations where {expected} were asked for")]
    Miscounted {
        /// Which.
        backend: String,
        /// Histogram total.
        counted: u64,
        /// Observations asked for.
        expected: u64,
    },
    /// [`Control::keep_going`](crate::Control::keep_going) said no.
    #[error("stopped")]
    Stopped,
    /// The caller could not save the state.
    #[error(transparent)]
    Control(Box<dyn std::error::Error + Send + Sync>),
}
