//! Details of one training: curves, a check of its description, the exact pair, one epoch, its scores, and
//! its privacy statement.

mod audited;
mod check;
mod curves;
mod epoch;
mod pair;
mod scores;
mod statement;

pub use audited::audit_conclusion;
pub use check::check;
pub use curves::curve;
pub use epoch::epoch;
pub use pair::{pair, pair_estimate};
pub use scores::scores;
pub use statement::{check_statement, training_statement};

#[cfg(test)]
pub(crate) use {
    check::tests::example, pair::drawn as drawn_pair, pair::estimated as estimated_pair,
    statement::tests::example as example_of_statement,
};
