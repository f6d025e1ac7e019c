//! Local batches of the clients of a wave.

use super::super::plan::GpuPlan;
use super::super::wave::PassRows;
use crate::federated::{FederatedTraining, LocalSteps, Participant, local_rate};

/// The current local batch of each model of a wave.
pub(super) struct LocalRows<'a> {
    training: &'a FederatedTraining,
    plan: &'a GpuPlan,
    models: Vec<LocalSteps<'a>>,
    batches: Vec<Vec<u32>>,
}

impl<'a> LocalRows<'a> {
    pub(super) fn new(
        training: &'a FederatedTraining,
        plan: &'a GpuPlan,
        participants: &[Participant],
    ) -> Self {
        let models = participants.iter().map(|&who| LocalSteps::new(training, who));
        let models: Vec<LocalSteps<'a>> = models.collect();
        LocalRows { training, plan, batches: vec![Vec::new(); models.len()], models }
    }

    /// Goes on to the next step; false if no model has one. The others have an empty batch.
    pub(super) fn next(&mut self) -> bool {
        let mut is_any = false;
        for (steps, batch) in self.models.iter_mut().zip(&mut self.batches) {
            is_any |= steps.next_records(batch);
        }
        is_any
    }

    /// The batch of a model.
    pub(super) fn batch(&self, model: usize) -> &[u32] {
        &self.batches[model]
    }
}

impl PassRows for LocalRows<'_> {
    fn max_batch(&self, _: u32) -> Option<usize> {
        self.batches.iter().map(Vec::len).max()
    }

    fn words(&self, _: u32, pass: u32) -> Option<Vec<u32>> {
        let words = self.batches.iter().flat_map(|batch| {
            let rate = if batch.is_empty() { 0.0 } else { local_rate(self.training, batch.len()) };
            self.plan.host_rows(batch, rate, pass)
        });
        Some(words.collect())
    }
}
