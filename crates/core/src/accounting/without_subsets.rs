//! Accountants of batches that are uniform subsets, without the feature `subsets`: they know no value.

use super::{Accountant, AccountingResult, Query};
use crate::adjacency::Adjacency;

/// Batches of fixed size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FixedSize {
    /// What neighbours differ in.
    pub adjacency: Adjacency,
}

impl FixedSize {
    /// Neighbours of which one has a record with zero gradient.
    pub const ZERO_OUT: FixedSize = FixedSize { adjacency: Adjacency::ZeroOut };
}

impl Accountant for FixedSize {
    fn account(&self, query: &Query) -> AccountingResult {
        Err(query.refused())
    }
}

/// Poisson batches of limited size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TruncatedPoisson {
    /// What neighbours differ in.
    pub adjacency: Adjacency,
    /// The records with the target.
    pub dataset_size: u64,
    /// The most records of a batch.
    pub max_batch_size: u64,
}

impl TruncatedPoisson {
    /// Neighbours of which one has a record with zero gradient.
    #[must_use]
    pub const fn zero_out(dataset_size: u64, max_batch_size: u64) -> Self {
        TruncatedPoisson { adjacency: Adjacency::ZeroOut, dataset_size, max_batch_size }
    }
}

impl Accountant for TruncatedPoisson {
    fn account(&self, query: &Query) -> AccountingResult {
        Err(query.refused())
    }
}

/// Each record in k of the batches of each epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RandomAllocation;

impl Accountant for RandomAllocation {
    fn account(&self, query: &Query) -> AccountingResult {
        Err(query.refused())
    }
}
