//! Canaries of one training run, without its files: bounds from guesses, simulated runs and noisy sums.

mod guesses;
mod planned;
mod ranked;
mod simulated;

pub use guesses::guesses_bound;
pub use planned::one_shot_size;
pub use ranked::{one_run_null, one_run_simulated};
pub use simulated::NoisySums;

#[cfg(test)]
pub(crate) use {
    guesses::from_guesses, planned::tests::example, ranked::tests::examples as ranked_examples,
    simulated::tests::examples,
};
