//! Derivatives in f32, many rows at a time.

use super::derivatives::{BatchRows, Derivatives};
use crate::gradient::SecondOrderWorkspace;
use crate::model::Network;

/// Derivatives in f32 and vector instructions. Rows are summed in groups of a fixed size, in
/// order, by the thread that calls: the bits do not depend on the number of threads.
///
/// Clipped gradients are processed row by row, which is up to 80 times as slow.
///
/// # Guarantee
/// Values equal those of [`ReferenceDerivatives`](super::ReferenceDerivatives) within the rounding
/// of f32 (`crates/train/tests/lane_derivatives.rs::lanes_equal_the_reference`).
#[derive(Debug)]
pub struct LaneDerivatives {
    workspace: SecondOrderWorkspace,
}

impl LaneDerivatives {
    /// Derivatives of a network.
    #[must_use]
    pub fn new(network: &Network) -> Self {
        Self { workspace: SecondOrderWorkspace::new(network) }
    }

    /// The gradient of a row, the factor by which it is clipped, and its squared norm.
    fn clipped(
        &mut self,
        theta: &[f32],
        row: (&[f32], &[u32]),
        clip_norm: f64,
    ) -> (Vec<f32>, f64, f64) {
        let mut gradient = vec![0.0; theta.len()];
        self.workspace.gradient(theta, row, &[], &mut gradient, &mut []);
        let square: f64 = gradient.iter().map(|&value| f64::from(value) * f64::from(value)).sum();
        (gradient, (clip_norm / square.sqrt()).min(1.0), square)
    }

    fn rows<'a>(
        &self,
        batch: BatchRows<'a, f32>,
    ) -> impl Iterator<Item = (&'a [f32], &'a [u32])> + use<'a> {
        batch.examples.chunks_exact(self.network().inputs()).zip(batch.labels.chunks(1))
    }
}

impl Derivatives for LaneDerivatives {
    type Number = f32;

    fn network(&self) -> &Network {
        self.workspace.network()
    }

    fn gradient(
        &mut self,
        theta: &[f32],
        batch: BatchRows<'_, f32>,
        clip_norm: Option<f64>,
        out: &mut [f32],
    ) {
        let Some(clip_norm) = clip_norm else {
            let rows = (batch.examples, batch.labels);
            self.workspace.gradient(theta, rows, &[], out, &mut []);
            return;
        };
        out.fill(0.0);
        for row in self.rows(batch) {
            let (gradient, factor, _) = self.clipped(theta, row, clip_norm);
            out.iter_mut().zip(gradient).for_each(|(out, value)| *out += factor as f32 * value);
        }
    }

    fn product(
        &mut self,
        theta: &[f32],
        w: &[f32],
        batch: BatchRows<'_, f32>,
        clip_norm: Option<f64>,
        out: &mut [f32],
        cross: &mut [f32],
    ) {
        let Some(clip_norm) = clip_norm else {
            let rows = (batch.examples, batch.labels);
            self.workspace.product((theta, w), rows, out, cross);
            return;
        };
        let (inputs, mut product) = (self.network().inputs(), vec![0.0; theta.len()]);
        out.fill(0.0);
        for (at, row) in self.rows(batch).enumerate() {
            let (gradient, factor, square) = self.clipped(theta, row, clip_norm);
            let pairs = || w.iter().zip(&gradient);
            let along: f64 = pairs().map(|(&w, &g)| f64::from(w) * f64::from(g)).sum();
            let share = if factor < 1.0 { (along / square) as f32 } else { 0.0 };
            let direction: Vec<f32> =
                pairs().map(|(w, g)| factor as f32 * (w - share * g)).collect();
            let cross = match cross.get_mut(at * inputs..(at + 1) * inputs) {
                Some(cross) if at < batch.canaries => cross,
                _ => &mut [],
            };
            self.workspace.product((theta, &direction), row, &mut product, cross);
            out.iter_mut().zip(&product).for_each(|(out, value)| *out += value);
        }
    }

    fn objective(
        &mut self,
        theta: &[f32],
        batch: BatchRows<'_, f32>,
        weights: &[f64],
        out: &mut [f32],
        direct: &mut [f32],
    ) -> f32 {
        let rows = (batch.examples, batch.labels);
        self.workspace.gradient(theta, rows, weights, out, direct) as f32
    }
}
