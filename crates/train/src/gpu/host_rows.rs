//! Batches drawn on the host, for samplers that consume random words sequentially.

use dpscope_engine::{Control, GpuError, UnitRange};
use dpscope_shaders::train::EpochBatches;
use rayon::prelude::*;

use super::plan::GpuPlan;
use super::wave::PassRows;
use crate::threads::Threads;

/// The batches of a training.
pub(super) trait HostBatches: Sync {
    /// Draws the batches of an epoch from the stream of a model.
    fn draw(&self, stream: u64, epoch: u32, drawn: &mut EpochBatches);

    /// Replaces `records` by those of a batch whose own gradients enter the sum; returns the
    /// coefficient of C·ĝ.
    fn select(&self, stream: u64, members: &[u32], records: &mut Vec<u32>) -> f64;
}

/// The batches of all models of a wave; empty if the device draws them.
pub(super) struct HostRows<'a> {
    training: &'a dyn HostBatches,
    threads: &'a Threads,
    plan: &'a GpuPlan,
    /// Stream and batches of each model.
    models: Vec<(u64, EpochBatches)>,
}

impl<'a> HostRows<'a> {
    pub(super) fn new(
        training: &'a dyn HostBatches,
        threads: &'a Threads,
        plan: &'a GpuPlan,
        range: UnitRange,
    ) -> Self {
        let streams = if plan.select_rows().is_empty() { plan.streams(range) } else { Vec::new() };
        let models = streams.into_iter().map(|stream| (stream, EpochBatches::default())).collect();
        HostRows { training, threads, plan, models }
    }

    /// Draws the batches of an epoch, which is slow for Poisson sampling.
    pub(super) fn draw(&mut self, epoch: u32, control: &dyn Control) -> Result<(), GpuError> {
        let HostRows { training, threads, models, .. } = self;
        let draw = |(stream, batches): &mut (u64, EpochBatches)| {
            if !control.keep_going() {
                return Err(GpuError::Stopped);
            }
            training.draw(*stream, epoch, batches);
            Ok(())
        };
        threads.install(|| models.par_iter_mut().try_for_each(draw))
    }
}

impl PassRows for HostRows<'_> {
    fn max_batch(&self, step: u32) -> Option<usize> {
        self.models.iter().map(|(_, batches)| batches.members_at(step as usize).len()).max()
    }

    fn words(&self, step: u32, pass: u32) -> Option<Vec<u32>> {
        if self.models.is_empty() {
            return None;
        }
        let size = self.plan.words_per_model().rows;
        let mut words = vec![0; size * self.models.len()];
        self.threads.install(|| {
            let models = words.par_chunks_mut(size).zip(&self.models);
            models.for_each_init(Vec::new, |records, (out, (stream, batches))| {
                let members = batches.members_at(step as usize);
                let coefficient = self.training.select(*stream, members, records);
                out.copy_from_slice(&self.plan.host_rows(records, coefficient, pass));
            });
        });
        Some(words)
    }
}
