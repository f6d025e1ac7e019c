//! Compared quantities in words.

use crate::record::ComparedQuantity;

/// The name of a quantity.
#[must_use]
pub const fn quantity_name(quantity: ComparedQuantity) -> &'static str {
    match quantity {
        ComparedQuantity::Poisson => "Poisson accounting",
        ComparedQuantity::TruncatedPoisson => "truncated Poisson",
        ComparedQuantity::FixedSize => "fixed-size",
        ComparedQuantity::RandomAllocation => "random allocation",
        ComparedQuantity::BallsInBins => "balls-in-bins",
        ComparedQuantity::ShuffleLower => "shuffle",
        ComparedQuantity::ShuffleMaxSlice => "shuffle, max-slice",
        ComparedQuantity::ShuffleSum => "shuffle, sum",
        ComparedQuantity::PairLower => "pair, limit",
        ComparedQuantity::PairEstimate => "pair, estimate",
        ComparedQuantity::Deterministic => "deterministic",
        ComparedQuantity::Audit => "audit",
    }
}
