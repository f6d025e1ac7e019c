//! What a network is: a list of layers, checked, with the places of its parameters.

mod error;
mod network;
mod shape;
mod spec;

pub use error::ModelError;
pub use network::Network;
pub use shape::Shape;
pub use spec::{LayerSpec, ModelSpec};

pub(crate) use network::PlacedLayer;
