//! Definition of a network: a checked list of layers and the layout of their parameters.

mod error;
mod limits;
mod network;
mod shape;
mod spec;

pub use error::ModelError;
pub use network::Network;
pub use shape::Shape;
pub use spec::{LayerSpec, ModelSpec};

pub(crate) use network::PlacedLayer;
