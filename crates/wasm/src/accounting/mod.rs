//! Accounting that few pages need: batches that are uniform subsets, and correlated noise.

mod matrix;
mod subsets;

pub use matrix::matrix;
pub use subsets::{calibrate_subsets, subset_bound, subset_columns};

#[cfg(test)]
pub(crate) use matrix::tests::example;
