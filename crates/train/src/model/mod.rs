//! What a network is.

mod shape;

pub use shape::Shape;
