//! Why canaries cannot be optimised.

use dpscope_core::format::given;

/// Reasons why canaries cannot be optimised.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OptimizationError {
    /// A setting outside its domain.
    #[error("{name} is {}; it must be {domain}", given(*.value))]
    Domain {
        /// Name of the setting.
        name: &'static str,
        /// Its value.
        value: f64,
        /// Its domain.
        domain: &'static str,
    },
    /// Too few canaries.
    #[error("there are {canaries} canaries; an audit needs at least 5")]
    Canaries {
        /// Number of canaries.
        canaries: usize,
    },
    /// Canaries of another shape than the network's.
    #[error("the canaries have {values} values; the model and their labels need {expected}")]
    Features {
        /// Number of values.
        values: usize,
        /// Number of values of as many canaries as labels.
        expected: usize,
    },
    /// A label without a class.
    #[error("canary {canary} has label {label}, but the model has {classes} classes, from 0")]
    Label {
        /// Number of the canary, from 0.
        canary: usize,
        /// Its label.
        label: u32,
        /// Number of classes.
        classes: usize,
    },
    /// A value outside the range of its feature.
    #[error(
        "canary {canary}: feature {feature} is {}, outside the range {} … {} of the data",
        given(*.value), given(*.lower), given(*.upper)
    )]
    OutsideRange {
        /// Number of the canary, from 0.
        canary: usize,
        /// Number of the feature, from 0.
        feature: usize,
        /// The value.
        value: f64,
        /// Smallest value of the feature.
        lower: f64,
        /// Largest value of the feature.
        upper: f64,
    },
    /// Fewer records than a batch has.
    #[error(
        "there are {records} records besides the canaries, fewer than one batch of {batch_size}; use \
         smaller batches, fewer canaries or more data"
    )]
    TooFewRecords {
        /// Number of records.
        records: usize,
        /// Records per batch.
        batch_size: usize,
    },
    /// Fewer records than canaries and training data need.
    #[error(
        "the data have {records} records, but {count} canaries and the training data need {needed}; \
         use fewer canaries or records, or more data"
    )]
    TooFewExamples {
        /// Number of records.
        records: usize,
        /// Number of canaries.
        count: usize,
        /// Number of records needed.
        needed: usize,
    },
    /// A state of other settings, data or canaries.
    #[error("the saved state is of another optimisation: {what} differs")]
    OtherState {
        /// What differs.
        what: &'static str,
    },
}

impl OptimizationError {
    /// Fewest canaries of an audit.
    pub(super) const FEWEST_CANARIES: usize = 5;
}
