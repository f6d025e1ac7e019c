//! A training whose canaries are its variables.

use super::augmentation::Augmentation;
use super::derivatives::Derivatives;
use super::optimizer::{State, UpdateRule};
use crate::gradient::{BatchRows, InstructionSet, SparseRow};
use crate::layers::Scalar;

/// Where a row of a batch comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Record {
    /// A record of the training data.
    Base(u32),
    /// A canary.
    Canary(u32),
}

/// A row of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Occurrence {
    /// Its record.
    pub record: Record,
    /// How the record is changed before it is used.
    pub augmentation: Option<Augmentation>,
}

/// Labelled records.
pub trait Records<N>: Sync {
    /// Appends the features of a record and returns its label.
    fn append(&self, record: u32, examples: &mut Vec<N>) -> u32;

    /// The features of a record without zeros, and its label, where records are stored in this way.
    fn sparse(&self, _record: u32) -> Option<(SparseRow<'_, N>, u32)> {
        None
    }
}

/// Adds the noise of a step to a sum of gradients.
pub type NoiseSource<N> = dyn Fn(usize, &mut [N]) + Sync;

/// A training whose every random choice is fixed.
#[derive(Clone, Copy)]
pub struct InnerTraining<'a, N> {
    /// The training data without canaries.
    pub base: &'a dyn Records<N>,
    /// Labels of the canaries.
    pub labels: &'a [u32],
    /// Weights of the canaries in the objective.
    pub weights: &'a [f64],
    /// Parameters before the first step.
    pub initial: &'a [N],
    /// The rows of each step.
    pub batches: &'a [Vec<Occurrence>],
    /// The learning rate of each step.
    pub learning_rates: &'a [f64],
    /// The optimiser.
    pub rule: &'a dyn UpdateRule<N>,
    /// Clipping norm of per-example gradients; `None` does not clip.
    pub clip_norm: Option<f64>,
    /// Noise, divided by the batch size like the sum of gradients.
    pub noise: Option<&'a NoiseSource<N>>,
    /// Called before each step; false cancels.
    pub keep_going: &'a (dyn Fn() -> bool + Sync),
}

impl<N> std::fmt::Debug for InnerTraining<'_, N> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InnerTraining").field("steps", &self.batches.len()).finish_non_exhaustive()
    }
}

/// Why a training has no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Interruption {
    /// The parameters or their losses are not finite.
    #[error("the training diverged; reduce the learning rate")]
    Diverged,
    /// It was cancelled.
    #[error("cancelled")]
    Cancelled,
}

/// A batch in memory.
#[derive(Debug)]
pub(super) struct LoadedBatch<'a, N> {
    examples: Vec<N>,
    sparse: Vec<SparseRow<'a, N>>,
    labels: Vec<u32>,
    sparse_labels: Vec<u32>,
    row: Vec<N>,
    /// The canary and augmentation of each row of a canary.
    pub(super) canaries: Vec<(usize, Option<Augmentation>)>,
}

impl<N> Default for LoadedBatch<'_, N> {
    fn default() -> Self {
        Self {
            examples: Vec::new(),
            sparse: Vec::new(),
            labels: Vec::new(),
            sparse_labels: Vec::new(),
            row: Vec::new(),
            canaries: Vec::new(),
        }
    }
}

impl<'a, N: Scalar> LoadedBatch<'a, N> {
    /// Loads the rows of a step: those of canaries, then dense ones, then sparse ones, each group in
    /// the order of the step.
    pub(super) fn load<D: Derivatives<Number = N> + ?Sized>(
        &mut self,
        training: &InnerTraining<'a, N>,
        derivatives: &D,
        step: usize,
        values: &[N],
    ) {
        let (shape, inputs) = (derivatives.network().input(), derivatives.network().inputs());
        let reads_sparse_rows = derivatives.reads_sparse_rows(training.clip_norm);
        self.examples.clear();
        self.sparse.clear();
        self.labels.clear();
        self.sparse_labels.clear();
        self.canaries.clear();
        let rows = &training.batches[step];
        let is_canary = |row: &&Occurrence| matches!(row.record, Record::Canary(_));
        let ordered =
            rows.iter().filter(is_canary).chain(rows.iter().filter(|row| !is_canary(row)));
        for row in ordered {
            let start = self.examples.len();
            let label = match row.record {
                Record::Base(record) => {
                    let is_sparse = reads_sparse_rows && row.augmentation.is_none();
                    if let Some((row, label)) =
                        is_sparse.then(|| training.base.sparse(record)).flatten()
                    {
                        self.sparse.push(row);
                        self.sparse_labels.push(label);
                        continue;
                    }
                    training.base.append(record, &mut self.examples)
                }
                Record::Canary(canary) => {
                    let canary = canary as usize;
                    self.examples.extend_from_slice(&values[canary * inputs..][..inputs]);
                    self.canaries.push((canary, row.augmentation));
                    training.labels[canary]
                }
            };
            self.labels.push(label);
            if let Some(augmentation) = row.augmentation {
                self.row.clear();
                self.row.extend_from_slice(&self.examples[start..]);
                augmentation.apply(shape, &self.row, &mut self.examples[start..]);
            }
        }
        self.labels.append(&mut self.sparse_labels);
    }

    pub(super) fn rows(&self) -> BatchRows<'_, N> {
        let Self { examples, sparse, labels, canaries, .. } = self;
        BatchRows { examples, sparse, labels, canaries: canaries.len() }
    }
}

impl<N: Scalar> InnerTraining<'_, N> {
    /// Computes the mean gradient of a step, noise included.
    pub(super) fn gradient<D: Derivatives<Number = N> + ?Sized>(
        &self,
        derivatives: &mut D,
        (step, theta): (usize, &[N]),
        rows: BatchRows<'_, N>,
        out: &mut [N],
        kept: Option<&mut Vec<N>>,
    ) {
        match kept {
            Some(kept) => derivatives.keeping_gradient(theta, rows, out, kept),
            None => derivatives.gradient(theta, rows, self.clip_norm, out),
        }
        if let Some(noise) = self.noise {
            noise(step, out);
        }
        let share = N::from_f64(1.0) / N::from_f64(rows.labels.len() as f64);
        InstructionSet::detect().for_each(out.iter_mut(), |value| *value = *value * share);
    }

    /// The state before the first step.
    pub(super) fn first_state(&self) -> State<N> {
        State::new(self.initial.to_vec(), self.rule.moments())
    }

    /// Trains a model; returns its parameters.
    ///
    /// # Errors
    /// Diverged or cancelled.
    pub fn train<D: Derivatives<Number = N> + ?Sized>(
        &self,
        derivatives: &mut D,
        canaries: &[N],
    ) -> Result<Vec<N>, Interruption> {
        let (mut state, mut batch) = (self.first_state(), LoadedBatch::default());
        let mut gradient = vec![N::from_f64(0.0); self.initial.len()];
        for step in 0..self.batches.len() {
            if !(self.keep_going)() {
                return Err(Interruption::Cancelled);
            }
            batch.load(self, derivatives, step, canaries);
            self.gradient(derivatives, (step, &state.theta), batch.rows(), &mut gradient, None);
            self.rule.step(step, self.learning_rates[step], &mut state, &gradient);
        }
        if state.theta.iter().all(|value| value.to_f64().is_finite()) {
            Ok(state.theta)
        } else {
            Err(Interruption::Diverged)
        }
    }
}
