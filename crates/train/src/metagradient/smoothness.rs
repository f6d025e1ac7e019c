//! Whether metagradients mean something: smooth layers, and metasmoothness.

use crate::layers::{Elementwise, Layer, Scalar};
use crate::model::Network;

/// A layer whose derivative jumps.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "layer {layer} ({kind}): its derivative jumps, so metagradients do not predict how the \
     objective changes; use {instead}"
)]
pub struct RoughLayer {
    /// Number of the layer, from 1.
    pub layer: usize,
    /// Kind of the layer.
    pub kind: &'static str,
    /// What to use instead.
    pub instead: &'static str,
}

/// The first layer whose derivative jumps: ReLU or maximum pooling.
#[must_use]
pub fn rough_layer(network: &Network) -> Option<RoughLayer> {
    network.layers().iter().enumerate().find_map(|(index, placed)| {
        let layer = index + 1;
        match placed.layer {
            Layer::Elementwise(Elementwise::Relu(_)) => {
                Some(RoughLayer { layer, kind: "relu", instead: "gelu, softplus or tanh" })
            }
            Layer::MaxPool(_) => {
                Some(RoughLayer { layer, kind: "max-pool", instead: "average-pool" })
            }
            _ => None,
        }
    })
}

/// Empirical metasmoothness in [−1, 1]: how consistently parameters move when all canaries are
/// moved along a direction twice.
///
/// S = Σ_j |Δ_j|/‖Δ‖₁ · sgn(θ_h − θ_0)_j · sgn(θ_2h − θ_h)_j with Δ = θ_2h − θ_0, for the parameters
/// of trainings whose canaries were moved by 0, h and 2h. Below 0.8 metagradients mislead.
///
/// # Reference
/// Engstrom et al., "Optimizing ML training with metagradient descent" (2025), arXiv:2503.13751.
#[must_use]
pub fn metasmoothness<N: Scalar>([at_0, at_h, at_2h]: [&[N]; 3]) -> f64 {
    let (mut agreement, mut total) = (0.0, 0.0);
    for ((first, second), third) in at_0.iter().zip(at_h).zip(at_2h) {
        let [first, second, third] = [first, second, third].map(|value| value.to_f64());
        let size = (third - first).abs();
        total += size;
        let product = (second - first) * (third - second);
        agreement += if product == 0.0 { 0.0 } else { size * product.signum() };
    }
    if total == 0.0 { 1.0 } else { agreement / total }
}
