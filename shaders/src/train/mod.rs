//! What training draws for each run: the order of its records.

mod order;

pub use order::Order;
