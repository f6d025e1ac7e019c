//! Outputs by epoch and step, without failed runs and without a drift that both worlds share.

mod drift;

use crate::adjacency::World;
use crate::recorded::independence::RecordedRuns;
use crate::recorded::noiseless::NoiselessCells;

/// Outputs of finite runs of both worlds.
#[derive(Debug, Clone)]
pub(crate) struct Cells {
    /// Runs × epochs × steps of D and of D′.
    worlds: [Vec<f64>; 2],
    pub(crate) epochs: usize,
    pub(crate) steps: usize,
    /// Epochs × steps that are left out.
    left_out: Vec<bool>,
}

impl Cells {
    /// The outputs of all finite runs, without the cells that have no noise; none without two runs of each
    /// world.
    pub(crate) fn new(
        target: RecordedRuns<'_>,
        zero_out: RecordedRuns<'_>,
        noiseless: &NoiselessCells,
    ) -> Option<Self> {
        let (epochs, steps) = (target.epochs, target.steps());
        let worlds = [target, zero_out].map(|runs| runs.finite_runs().flatten().copied().collect());
        let has_runs = |world: &Vec<f64>| world.len() >= 2 * epochs * steps;
        let left_out = (0..epochs * steps).map(|cell| noiseless.contains(cell)).collect();
        worlds.iter().all(has_runs).then_some(Cells { worlds, epochs, steps, left_out })
    }

    /// Whether an epoch and step, in C order, is left out.
    pub(crate) fn is_left_out(&self, cell: usize) -> bool {
        self.left_out[cell]
    }

    fn world(&self, world: World) -> &[f64] {
        match world {
            World::Target => &self.worlds[0],
            World::ZeroOut => &self.worlds[1],
        }
    }

    /// Outputs of a world in some epochs at a step.
    pub(crate) fn at(
        &self,
        world: World,
        epochs: std::ops::Range<usize>,
        step: usize,
    ) -> impl Iterator<Item = f64> + Clone + '_ {
        let runs = self.world(world).chunks_exact(self.epochs * self.steps);
        runs.flat_map(move |run| self.of_run(run, epochs.clone(), step))
    }

    /// Outputs of each run of a world at a step.
    pub(crate) fn by_run(
        &self,
        world: World,
        step: usize,
    ) -> impl Iterator<Item = impl Iterator<Item = f64> + '_> + '_ {
        let runs = self.world(world).chunks_exact(self.epochs * self.steps);
        runs.map(move |run| self.of_run(run, 0..self.epochs, step))
    }

    fn of_run<'a>(
        &'a self,
        run: &'a [f64],
        epochs: std::ops::Range<usize>,
        step: usize,
    ) -> impl Iterator<Item = f64> + Clone + 'a {
        let cells = epochs.map(move |epoch| epoch * self.steps + step);
        cells.filter(|cell| !self.left_out[*cell]).map(move |cell| run[cell])
    }

    /// The outputs of a world as runs.
    pub(crate) fn runs(&self, world: World) -> RecordedRuns<'_> {
        RecordedRuns::of_shape(self.world(world), [self.epochs, self.steps])
    }
}
