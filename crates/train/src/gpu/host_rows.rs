//! Batches drawn on the host, for samplers that consume random words sequentially.

use dpscope_core::adjacency::World;
use dpscope_engine::{Control, GpuError, UnitRange};
use dpscope_shaders::train::EpochBatches;
use rayon::prelude::*;

use super::plan::GpuPlan;
use crate::trainer::DpSgd;
use crate::training::Training;

/// The batches of all models of a wave; empty if the device draws them.
#[derive(Debug)]
pub(super) struct HostRows<'a> {
    training: &'a Training,
    pool: &'a rayon::ThreadPool,
    plan: &'a GpuPlan,
    models: Vec<((World, u64), EpochBatches)>,
}

impl<'a> HostRows<'a> {
    pub(super) fn new(cpu: &'a DpSgd, plan: &'a GpuPlan, range: UnitRange) -> Self {
        let runs = if plan.select_rows().is_empty() { DpSgd::runs(range) } else { Vec::new() };
        let models = runs.into_iter().map(|run| (run, EpochBatches::default())).collect();
        HostRows { training: cpu.training(), pool: cpu.pool(), plan, models }
    }

    /// Draws the batches of an epoch, which is slow for Poisson sampling.
    pub(super) fn draw(&mut self, epoch: u32, control: &dyn Control) -> Result<(), GpuError> {
        let HostRows { training, pool, models, .. } = self;
        let draw = |((world, run), batches): &mut ((World, u64), EpochBatches)| {
            if !control.keep_going() {
                return Err(GpuError::Stopped);
            }
            let stream = 2 * *run + world.index() as u64;
            training.batches.draw(training.seed, stream, epoch, batches);
            Ok(())
        };
        pool.install(|| models.par_iter_mut().try_for_each(draw))
    }

    /// Size of the largest batch of a step.
    pub(super) fn max_batch(&self, step: u32) -> Option<usize> {
        self.models.iter().map(|(_, batches)| batches.members_at(step as usize).len()).max()
    }

    /// The contents of the buffer `rows` for a pass, for all models.
    pub(super) fn words(&self, step: u32, pass: u32) -> Option<Vec<u32>> {
        if self.models.is_empty() {
            return None;
        }
        let size = self.plan.words_per_model().rows;
        let mut words = vec![0; size * self.models.len()];
        self.pool.install(|| {
            let models = words.par_chunks_mut(size).zip(&self.models);
            models.for_each_init(Vec::new, |records, (out, ((world, _), batches))| {
                let batch = self.training.select_records(
                    *world,
                    batches.members_at(step as usize),
                    records,
                );
                out.copy_from_slice(&self.plan.host_rows(records, batch.mean, pass));
            });
        });
        Some(words)
    }
}
