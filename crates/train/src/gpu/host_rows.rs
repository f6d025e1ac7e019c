//! Rows that the host draws: of samplers that take words one after the other.

use dpscope_core::adjacency::World;
use dpscope_engine::backend::gpu::Failure;
use dpscope_engine::{Control, ObservationRange};
use dpscope_shaders::train::EpochBatches;
use rayon::prelude::*;

use super::plan::GpuPlan;
use crate::trainer::DpSgd;
use crate::training::Training;

/// The batches of all models of a wave; none where the device draws them.
#[derive(Debug)]
pub(super) struct HostRows<'a> {
    training: &'a Training,
    pool: &'a rayon::ThreadPool,
    plan: &'a GpuPlan,
    models: Vec<((World, u64), EpochBatches)>,
}

impl<'a> HostRows<'a> {
    pub(super) fn new(cpu: &'a DpSgd, plan: &'a GpuPlan, range: ObservationRange) -> Self {
        let runs = if plan.choose().is_empty() { DpSgd::runs(range) } else { Vec::new() };
        let models = runs.into_iter().map(|run| (run, EpochBatches::default())).collect();
        HostRows { training: cpu.training(), pool: cpu.pool(), plan, models }
    }

    /// Draws an epoch, which takes the CPU long where batches are Poisson's.
    pub(super) fn draw(&mut self, epoch: u32, control: &dyn Control) -> Result<(), Failure> {
        let HostRows { training, pool, models, .. } = self;
        let draw = |((world, run), batches): &mut ((World, u64), EpochBatches)| {
            if !control.keep_going() {
                return Err(Failure::Stopped);
            }
            let stream = 2 * *run + world.index() as u64;
            training.batches.draw(training.seed, stream, epoch, batches);
            Ok(())
        };
        pool.install(|| models.par_iter_mut().try_for_each(draw))
    }

    /// The most records of a batch whose own gradients count.
    pub(super) fn most_kept(&self, step: u32) -> Option<usize> {
        self.models.iter().map(|(_, batches)| batches.members_at(step as usize).len()).max()
    }

    /// What all models have of `rows` in a pass.
    pub(super) fn words(&self, step: u32, pass: u32) -> Option<Vec<u32>> {
        if self.models.is_empty() {
            return None;
        }
        let size = self.plan.words_per_model().rows;
        let mut words = vec![0; size * self.models.len()];
        self.pool.install(|| {
            let models = words.par_chunks_mut(size).zip(&self.models);
            models.for_each_init(Vec::new, |kept, (out, ((world, _), batches))| {
                let batch = self.training.keep(*world, batches.members_at(step as usize), kept);
                out.copy_from_slice(&self.plan.host_rows(kept, batch.mean, pass));
            });
        });
        Some(words)
    }
}
