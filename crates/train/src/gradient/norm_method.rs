//! How the norm of a convolution's gradient is computed.

use crate::layers::{Convolution, Weighted};

/// Cost of storing and reloading a per-example gradient entry, in multiply-adds: measured as 40
/// within the second-level cache, 100 beyond.
const STORE_COST: u64 = 48;

/// Method for the per-example gradient norm of a convolution.
///
/// With U the windows of an input (one per column) and Δ the gradient with respect to the outputs,
/// the weight gradient is ΔUᵀ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NormMethod {
    /// Computes and stores per-example gradients for 16 examples at a time, until their clipping
    /// factors are known.
    Instantiated,
    /// Ghost norm: ‖ΔUᵀ‖² = Σ_pq (UᵀU ∘ ΔᵀΔ)_pq over pairs of windows p, q; the sum of gradients is
    /// computed afterwards from scaled Δ. Cheaper for few windows and many parameters.
    Gram,
}

impl NormMethod {
    /// The cheaper method. Both need the products of the gradient itself.
    pub(super) fn of(layer: &Convolution) -> Self {
        let windows = layer.output.positions() as u64;
        let pairs = windows * (windows + 4) / 2;
        let gram = pairs.saturating_mul((layer.taps() + layer.output.channels) as u64);
        let stored = layer.weights() as u64 * STORE_COST;
        if gram < stored { NormMethod::Gram } else { NormMethod::Instantiated }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Shape;

    #[test]
    fn the_cheaper_method_is_used() {
        let route = |channels, side| {
            let input = Shape { channels, height: side, width: side };
            NormMethod::of(&Convolution::new(input, channels, 3, 1, 1))
        };
        assert_eq!(route(6, 14), NormMethod::Instantiated);
        assert_eq!(route(64, 16), NormMethod::Instantiated);
        assert_eq!(route(128, 8), NormMethod::Gram);
        assert_eq!(route(512, 4), NormMethod::Gram);
    }
}
