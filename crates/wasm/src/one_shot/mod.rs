//! Canaries of a known null distribution.

mod planned;
mod simulated;

pub use planned::one_shot_size;
pub use simulated::NoisySums;

#[cfg(test)]
pub(crate) use {planned::tests::example, simulated::tests::examples};
