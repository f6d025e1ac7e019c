//! Gradients: the reference for one example, and sums of clipped ones for a batch in f32.

pub(crate) mod elementary;
mod reference;
