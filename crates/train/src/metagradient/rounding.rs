//! How far derivatives in f32 may be from those in f64.

use crate::layers::Layer;
use crate::model::Network;

/// Half the spacing of f32 at 1.
const UNIT_ROUNDOFF: f64 = 1.0 / 16_777_216.0;

/// Operations of an activation or of the loss of a row, as terms of a sum: polynomials of tanh, e^x
/// and ln, with errors of a few units in the last place.
const FUNCTION_TERMS: f64 = 64.0;

/// How much a layer may magnify a relative error, and how much several errors may agree in sign.
const CONDITION: f64 = 32.0;

/// Bound on the error of a sum of gradients in f32 or of its derivative, relative to its norm.
///
/// tol = 32·u·√(Σ_l 4·(n_l + 64) + 4·64 + R·P), with u = 2⁻²⁴.
///
/// A sum of n terms of random signs is rounded n times, each time by at most u times a partial sum
/// that grows like a random walk, so that the relative variance of its error is at most n·u². A
/// derivative of second order passes through the sums of n_l terms of each layer four times: forward
/// and backward, as value and as tangent; each pass is followed by a function of at most 64
/// operations. Last are the sums over R rows with at most P positions each. Errors of different sums
/// are independent, so that variances add up. The factor 32 is a margin, not derived: layers that
/// magnify errors, and terms of equal sign. Dimensionless.
///
/// # Guarantee
/// Kernels are within it, and kernels with a relative error of 1e-4 are not
/// (`crates/train/tests/simulated/derivatives.rs::simulated_derivatives_equal_those_of_f64`,
/// `crates/train/tests/simulated/derivatives.rs::wrong_derivatives_are_rejected`).
#[must_use]
pub fn rounding(network: &Network, rows: usize) -> f64 {
    let mut operations = 4.0 * FUNCTION_TERMS;
    let mut positions = 1;
    for placed in network.layers() {
        let (input, output) = (placed.input, placed.output);
        let count = match &placed.layer {
            Layer::Convolution(layer) => {
                layer.kernel * layer.kernel * input.channels.max(output.channels)
            }
            Layer::Linear(_) => input.len().max(output.len()),
            Layer::GroupNorm(_) => input.len(),
            _ => 0,
        };
        operations += 4.0 * (count as f64 + FUNCTION_TERMS);
        positions = positions.max(output.positions());
    }
    CONDITION * UNIT_ROUNDOFF * (operations + (rows * positions) as f64).sqrt()
}
