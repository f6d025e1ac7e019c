//! Canaries of one training run, without its files: bounds from guesses, simulated noisy sums.

mod guesses;
mod planned;
mod simulated;

pub use guesses::guesses_bound;
pub use planned::one_shot_size;
pub use simulated::NoisySums;

#[cfg(test)]
pub(crate) use {guesses::from_guesses, planned::tests::example, simulated::tests::examples};
