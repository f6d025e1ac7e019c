//! Canaries of a known null distribution.

mod simulated;

pub use simulated::NoisySums;

#[cfg(test)]
pub(crate) use simulated::tests::examples;
