//! Derivatives in f32, many rows at a time.

use super::derivatives::Derivatives;
use crate::gradient::{BatchRows, Rows, SecondOrderWorkspace, Workspace};
use crate::model::Network;

/// Derivatives in f32 and vector instructions. Rows are summed in groups of a fixed size, in
/// order, by the thread that calls: the bits do not depend on the number of threads.
///
/// Clipped gradients are those of [`Network::clipped_sum`], by which models are trained.
///
/// # Guarantee
/// Values equal those of [`ReferenceDerivatives`](super::ReferenceDerivatives) within the rounding
/// of f32 (`crates/train/tests/lane_derivatives.rs::lanes_equal_the_reference`).
#[derive(Debug)]
pub struct LaneDerivatives {
    workspace: SecondOrderWorkspace,
    /// Scratch memory for clipped gradients.
    clipped: Option<Workspace>,
    norms: Vec<f32>,
}

impl LaneDerivatives {
    /// Derivatives of a network.
    #[must_use]
    pub fn new(network: &Network) -> Self {
        Self { workspace: SecondOrderWorkspace::new(network), clipped: None, norms: Vec::new() }
    }
}

impl Derivatives for LaneDerivatives {
    type Number = f32;

    fn network(&self) -> &Network {
        self.workspace.network()
    }

    fn order_by_input(&mut self, by_input: bool) -> Option<[usize; 2]> {
        self.workspace.order_by_input(by_input)
    }

    fn reads_sparse_rows(&self, clip_norm: Option<f64>) -> bool {
        clip_norm.is_none() && self.workspace.reads_sparse_rows()
    }

    fn gradient(
        &mut self,
        theta: &[f32],
        batch: BatchRows<'_, f32>,
        clip_norm: Option<f64>,
        out: &mut [f32],
    ) {
        let Some(clip_norm) = clip_norm else {
            self.workspace.gradient(theta, batch, &[], (out, &mut []), None);
            return;
        };
        let network = self.workspace.network();
        let work = self.clipped.get_or_insert_with(|| Workspace::new(network, usize::MAX));
        let rows = Rows { examples: batch.examples, labels: batch.labels };
        self.norms.clear();
        network.clipped_sum(theta, rows, clip_norm as f32, work, out, &mut self.norms);
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
        let clip_norm = clip_norm.map(|norm| norm as f32);
        self.workspace.product((theta, w), batch, clip_norm, &[], (out, cross));
    }

    fn kept_per_row(&self) -> usize {
        self.workspace.kept_per_row().iter().sum()
    }

    fn keeping_gradient(
        &mut self,
        theta: &[f32],
        batch: BatchRows<'_, f32>,
        out: &mut [f32],
        kept: &mut Vec<f32>,
    ) {
        self.workspace.gradient(theta, batch, &[], (out, &mut []), Some(kept));
    }

    fn product_of_kept(
        &mut self,
        (theta, w): (&[f32], &[f32]),
        batch: BatchRows<'_, f32>,
        kept: &[f32],
        out: &mut [f32],
        cross: &mut [f32],
    ) {
        self.workspace.product((theta, w), batch, None, kept, (out, cross));
    }

    fn objective(
        &mut self,
        theta: &[f32],
        batch: BatchRows<'_, f32>,
        weights: &[f64],
        out: &mut [f32],
        direct: &mut [f32],
    ) -> f32 {
        self.workspace.gradient(theta, batch, weights, (out, direct), None) as f32
    }
}
