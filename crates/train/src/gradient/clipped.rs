//! Sums of clipped per-example gradients over a batch.

use super::workspace::Workspace;
use crate::layers::loss;
use crate::model::Network;

/// Examples, row by row, and their labels.
///
/// Functions panic if the slices have other lengths than documented.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a> {
    /// Features, `inputs()` per row.
    pub examples: &'a [f32],
    /// Labels, one per row.
    pub labels: &'a [u32],
}

impl Rows<'_> {
    /// Splits the rows into parts of at most `rows` rows.
    fn parts(&self, inputs: usize, rows: usize) -> impl Iterator<Item = Rows<'_>> {
        let examples = self.examples[..self.labels.len() * inputs].chunks(rows * inputs);
        examples.zip(self.labels.chunks(rows)).map(|(examples, labels)| Rows { examples, labels })
    }
}

impl Network {
    /// The sum of clipped per-example gradients, Σ_i g_i · min(1, C ÷ ‖g_i‖), with g_i the gradient
    /// of the loss of row i with respect to all parameters.
    ///
    /// | argument | meaning | shape |
    /// |---|---|---|
    /// | `theta` | parameters | `parameters()` |
    /// | `rows` | batch, possibly empty | `inputs()` features per row |
    /// | `clip_norm` | clipping norm C | above 0 |
    /// | `work` | scratch memory; reallocated if it belongs to another network | – |
    /// | `out` | receives the sum | `parameters()` |
    /// | `norms` | receives ‖g_i‖ before clipping | one per row |
    ///
    /// # Guarantee
    /// The sum equals that of per-example f64 gradients
    /// (`crates/train/tests/clipped_sums.rs::sums_equal_those_of_single_examples`), and no row
    /// contributes more than C (`crates/train/tests/clipped_sums.rs::clipping_is_never_exceeded`).
    /// If a gradient or its norm is not finite, or a label is invalid, the sum is NaN
    /// (`crates/train/tests/clipped_sums.rs::non_finite_gradients_are_never_dropped`).
    ///
    /// # Numerics
    /// f32, with norms accumulated in f64. Norms below 1e-12 lose digits because squares underflow.
    /// Sums differ in their last bits between instruction sets, because fused multiply-add is used
    /// if available.
    ///
    /// # Reference
    /// Goodfellow, "Efficient per-example gradient computations" (2015), arXiv:1510.01799, for
    /// linear layers; Rochette, Manoel and Tramel, "Efficient per-example gradient computations in
    /// convolutional neural networks" (2019), arXiv:1912.06015, for instantiated gradients; Bu, Mao
    /// and Xu, "Scalable and efficient training of large convolutional neural networks with
    /// differential privacy" (2022), arXiv:2205.10683, for the Gram identity and the choice between
    /// the two.
    pub fn clipped_sum(
        &self,
        theta: &[f32],
        rows: Rows<'_>,
        clip_norm: f32,
        work: &mut Workspace,
        out: &mut [f32],
        norms: &mut Vec<f32>,
    ) {
        self.prepare(theta, rows, work);
        out.fill(0.0);
        norms.clear();
        for part in rows.parts(self.inputs(), work.group) {
            work.forward(theta, part.examples);
            work.backward(theta, part.examples, part.labels);
            work.clip(clip_norm, part.labels.len(), norms);
            work.accumulate(part.examples, out);
        }
    }

    /// Number of rows whose largest logit is at their label; ties and NaN count as incorrect.
    #[must_use]
    pub fn correct(&self, theta: &[f32], rows: Rows<'_>, work: &mut Workspace) -> usize {
        self.prepare(theta, rows, work);
        let mut correct = 0;
        for part in rows.parts(self.inputs(), work.group) {
            work.forward(theta, part.examples);
            let logits = work.logits(part.labels.len()).chunks_exact(self.classes());
            let is_correct = |(logits, label): &(&[f32], &u32)| {
                let label = **label as usize;
                let others = logits.iter().enumerate().filter(|(class, _)| *class != label);
                let Some(at_label) = logits.get(label) else { return false };
                others.map(|(_, other)| other).all(|other| at_label > other)
            };
            correct += logits.zip(part.labels).filter(is_correct).count();
        }
        correct
    }

    /// Appends the loss of each row, in nats, to `losses`.
    ///
    /// # Numerics
    /// f64 from logits in f32.
    pub fn losses(
        &self,
        theta: &[f32],
        rows: Rows<'_>,
        work: &mut Workspace,
        losses: &mut Vec<f64>,
    ) {
        self.prepare(theta, rows, work);
        for part in rows.parts(self.inputs(), work.group) {
            work.forward(theta, part.examples);
            let logits = work.logits(part.labels.len()).chunks_exact(self.classes());
            let wide = |logits: &[f32]| logits.iter().map(|&z| f64::from(z)).collect::<Vec<f64>>();
            let of_row = |(logits, label): (&[f32], &u32)| loss(&wide(logits), *label as usize);
            losses.extend(logits.zip(part.labels).map(of_row));
        }
    }

    fn prepare(&self, theta: &[f32], rows: Rows<'_>, work: &mut Workspace) {
        if work.network != *self {
            *work = Workspace::new(self, rows.labels.len());
        }
        work.prepare(theta);
    }
}
