//! Errors in lists of drawn batches.

use std::fmt;

use crate::format::given;

/// Lists that are no batches of several epochs.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum DrawnBatchesError {
    /// A data set with fewer than two records, or with more than are counted.
    DatasetSize {
        /// Number of records.
        value: u64,
        /// The most that are counted.
        most: u32,
    },
    /// Fewer than two epochs.
    Epochs {
        /// Number of epochs.
        value: usize,
    },
    /// An epoch without batches.
    EmptyEpoch {
        /// Its number, counted from 1.
        epoch: usize,
    },
    /// No batch contains a record.
    NoRecords,
    /// Another number of batches than the epochs have together.
    Batches {
        /// Number of batch sizes.
        sizes: usize,
        /// Sum of the batches per epoch.
        stated: u64,
    },
    /// Another number of records than the batches have together.
    Records {
        /// Number of record numbers.
        records: usize,
        /// Sum of the batch sizes.
        stated: u64,
    },
    /// A record number that the data set does not have.
    Record {
        /// The number.
        value: u32,
        /// Epoch, counted from 1.
        epoch: usize,
        /// Batch of the epoch, counted from 1.
        batch: usize,
        /// Number of records.
        dataset_size: u32,
    },
    /// A sampling rate outside (0, 1).
    Rate {
        /// The rate.
        value: f64,
    },
}

impl fmt::Display for DrawnBatchesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            DrawnBatchesError::DatasetSize { value, most } => {
                write!(f, "dataset_size is {value}; it must be 2 to {most}")
            }
            DrawnBatchesError::Epochs { value } => {
                write!(f, "epochs is {value}; draw at least 2 epochs, since they are compared")
            }
            DrawnBatchesError::EmptyEpoch { epoch } => write!(
                f,
                "epoch {epoch} has no batches; the loader must start again in each epoch: pass a \
                 function that makes it"
            ),
            DrawnBatchesError::NoRecords => {
                write!(f, "no batch contains a record; check the data set and the sampling rate")
            }
            DrawnBatchesError::Batches { sizes, stated } => write!(
                f,
                "batch_sizes has {sizes} numbers, but batches_per_epoch states {stated} batches"
            ),
            DrawnBatchesError::Records { records, stated } => {
                write!(f, "records has {records} numbers, but batch_sizes states {stated} records")
            }
            DrawnBatchesError::Record { value, epoch, batch, dataset_size } => write!(
                f,
                "batch {batch} of epoch {epoch} contains record {value}; records of this data set \
                 have the numbers 0 to {}",
                dataset_size - 1
            ),
            DrawnBatchesError::Rate { value } => {
                write!(f, "rate is {}; it must be above 0 and below 1", given(value))
            }
        }
    }
}

impl std::error::Error for DrawnBatchesError {}
