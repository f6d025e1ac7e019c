//! Sums of clipped gradients over a batch.

use super::workspace::Workspace;
use crate::model::Network;

/// Rows of a data set: examples one after the other, and the class of each.
///
/// Slices of other lengths than stated are a mistake of the caller, which panics.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a> {
    /// Values, `inputs()` a row.
    pub examples: &'a [f32],
    /// Classes, one a row.
    pub labels: &'a [u32],
}

impl Rows<'_> {
    /// Parts of at most `rows` rows.
    fn parts(&self, inputs: usize, rows: usize) -> impl Iterator<Item = Rows<'_>> {
        let examples = self.examples[..self.labels.len() * inputs].chunks(rows * inputs);
        examples.zip(self.labels.chunks(rows)).map(|(examples, labels)| Rows { examples, labels })
    }
}

impl Network {
    /// Σ_i g_i · min(1, C ÷ ‖g_i‖) over the rows i, with g_i the gradient of a row's loss by all
    /// parameters.
    ///
    /// | argument | meaning | shape |
    /// |---|---|---|
    /// | `theta` | parameters | `parameters()` |
    /// | `rows` | the batch, which may be empty | `inputs()` values a row |
    /// | `clip_norm` | C | above 0 |
    /// | `work` | scratch memory; made anew where it is another network's | – |
    /// | `out` | the sum, overwritten | `parameters()` |
    /// | `norms` | ‖g_i‖ before clipping, overwritten | one a row |
    ///
    /// # Guarantee
    /// The sum is that of gradients of single rows in f64
    /// (`crates/train/tests/clipped_sums.rs::sums_are_those_of_single_examples`), and no row adds more
    /// than C (`crates/train/tests/clipped_sums.rs::clipping_is_never_exceeded`). Where a gradient is
    /// not finite, or too long for its norm to be, or a label is no class, the sum is NaN
    /// (`crates/train/tests/clipped_sums.rs::what_is_not_finite_is_never_dropped`).
    ///
    /// # Numerics
    /// f32, with norms added in f64; norms below 1e-12 lose digits, as squares then leave f32. Sums
    /// differ in their last bits between instruction sets, as products and sums are fused where that
    /// is one instruction.
    ///
    /// # Reference
    /// Goodfellow, "Efficient per-example gradient computations" (2015), arXiv:1510.01799, for linear
    /// layers; Rochette, Manoel and Tramel, "Efficient per-example gradient computations in
    /// convolutional neural networks" (2019), arXiv:1912.06015, for instantiated gradients; Bu, Mao and
    /// Xu, "Scalable and efficient training of large convolutional neural networks with differential
    /// privacy" (2022), arXiv:2205.10683, for the Gram identity and the choice between the two.
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

    /// How many rows have their largest logit at their label; ties and NaN count as wrong.
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
                let Some(own) = logits.get(label) else { return false };
                others.map(|(_, other)| other).all(|other| own > other)
            };
            correct += logits.zip(part.labels).filter(is_correct).count();
        }
        correct
    }

    fn prepare(&self, theta: &[f32], rows: Rows<'_>, work: &mut Workspace) {
        if work.network != *self {
            *work = Workspace::new(self, rows.labels.len());
        }
        work.prepare(theta);
    }
}
