//! Noisy sums of canary directions: one-shot audits of the Gaussian mechanism.
//!
//! A run draws a number of canaries, adds their unit directions and Gaussian noise, and measures the
//! cosine between the sum and each direction. [`NoisySumRuns`] computes runs as a workload, with the
//! bounds of each; [`CosineDraws`] draws the cosines alone, in a time that does not depend on the
//! dimension; [`CoordinateDraws`] draws every coordinate.

mod audit;
mod declared;
mod draws;
mod evidence;
mod full;
mod number;
mod plan;
mod published_rule;
mod workload;

pub use declared::declared_number;
pub use draws::CosineDraws;
pub use evidence::{NoisySumEvidence, NoisySumRun};
pub use full::CoordinateDraws;
pub use number::canary_number;
pub use plan::{CosineMethod, NoisySumPlan};
pub use published_rule::PublishedRule;
pub use workload::{NoisySumError, NoisySumRuns};

/// The stream of a run for one of four uses.
const fn stream(run: u64, used: u64) -> u64 {
    4 * run + used
}

const NUMBER: u64 = 0;
const SCALARS: u64 = 1;
const SCORES: u64 = 2;
const NOISE: u64 = 3;
