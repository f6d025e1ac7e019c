//! Rows that the host draws: of samplers that take words one after the other.

use dpscope_core::adjacency::World;
use dpscope_engine::ObservationRange;
use dpscope_shaders::train::EpochBatches;
use rayon::prelude::*;

use super::loaded::Loaded;
use super::plan::GpuPlan;
use crate::trainer::DpSgd;
use crate::training::Training;

/// The batches of all models of a wave; none where the device draws them.
#[derive(Debug)]
pub(super) struct HostRows<'a> {
    training: &'a Training,
    plan: &'a GpuPlan,
    models: Vec<((World, u64), EpochBatches)>,
}

impl<'a> HostRows<'a> {
    pub(super) fn new(training: &'a Training, range: ObservationRange, loaded: &'a Loaded) -> Self {
        let plan = &loaded.plan;
        let runs = if plan.choose().is_empty() { DpSgd::runs(range) } else { Vec::new() };
        let models = runs.into_iter().map(|run| (run, EpochBatches::default())).collect();
        HostRows { training, plan, models }
    }

    /// Draws an epoch.
    pub(super) fn draw(&mut self, epoch: u32) {
        let training = self.training;
        self.models.par_iter_mut().for_each(|((world, run), batches)| {
            let stream = 2 * *run + world.index() as u64;
            training.batches.draw(training.seed, stream, epoch, batches);
        });
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
        let mut kept = Vec::new();
        let mut words = Vec::new();
        for ((world, _), batches) in &self.models {
            let batch = self.training.keep(*world, batches.members_at(step as usize), &mut kept);
            words.extend(self.plan.host_rows(&kept, batch.mean, pass));
        }
        Some(words)
    }
}
