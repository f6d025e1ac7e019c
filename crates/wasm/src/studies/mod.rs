//! Details of one training: curves, a check of its description, the exact pair, one epoch, its scores, its
//! privacy statement, and simulated runs with canaries.

mod audited;
mod check;
mod curves;
mod epoch;
mod pair;
mod ranked;
mod scores;
mod statement;

pub use audited::audit_conclusion;
pub use check::check;
pub use curves::curve;
pub use epoch::epoch;
pub use pair::{pair, pair_estimate};
pub use ranked::{one_run_null, one_run_simulated};
pub use scores::scores;
pub use statement::{check_statement, training_statement};

#[cfg(test)]
pub(crate) use {
    check::tests::example, pair::drawn as drawn_pair, pair::estimated as estimated_pair,
    ranked::tests::examples as ranked_examples, statement::tests::example as example_of_statement,
};
