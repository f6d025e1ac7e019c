//! Outputs by epoch and step, without failed runs and without a drift that both worlds share.

use crate::adjacency::World;
use crate::recorded::independence::RecordedRuns;
use crate::recorded::noiseless::NoiselessCells;

/// Standard errors from which on a deviation of a step or an epoch is a drift: 7e-6 each.
const DRIFT: f64 = 4.5;

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

/// Mean and squared standard error.
#[derive(Clone, Copy)]
struct Mean {
    value: f64,
    squared_error: f64,
}

impl Mean {
    fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        let n = values.clone().count() as f64;
        let value = values.clone().sum::<f64>() / n;
        let squares: f64 = values.map(|v| (v - value) * (v - value)).sum();
        Mean { value, squared_error: squares / (n * (n - 1.0)) }
    }
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

    /// Subtracts what both worlds add to single steps, and to single epochs.
    ///
    /// With ρ the share of the contrast in D′, (mean of D′ − ρ · mean of D)/(1 − ρ) is b wherever the
    /// target is. What deviates from the median of all steps, or of all epochs, is subtracted.
    pub(crate) fn without_drift(mut self, zero_out_share: f64) -> Self {
        let weights = [-zero_out_share, 1.0].map(|weight| weight / (1.0 - zero_out_share));
        let joined = |[d, d_prime]: [Mean; 2]| Mean {
            value: weights[0] * d.value + weights[1] * d_prime.value,
            squared_error: weights[0] * weights[0] * d.squared_error
                + weights[1] * weights[1] * d_prime.squared_error,
        };
        let by_step: Vec<Mean> = (0..self.steps)
            .map(|step| {
                joined(World::BOTH.map(|world| Mean::of(self.at(world, 0..self.epochs, step))))
            })
            .collect();
        let drift = deviations(&by_step);
        self.subtract(|_, step| drift[step]);
        let by_epoch: Vec<Mean> = (0..self.epochs)
            .map(|epoch| {
                joined(World::BOTH.map(|world| {
                    let runs = self.world(world).chunks_exact(self.epochs * self.steps);
                    let all = epoch * self.steps..(epoch + 1) * self.steps;
                    let cells = all.filter(|cell| !self.left_out[*cell]);
                    let count = cells.clone().count() as f64;
                    let of_run =
                        |run: &[f64]| cells.clone().map(|cell| run[cell]).sum::<f64>() / count;
                    Mean::of(runs.map(of_run))
                }))
            })
            .collect();
        let drift = deviations(&by_epoch);
        self.subtract(|epoch, _| drift[epoch]);
        self
    }

    fn subtract(&mut self, drift: impl Fn(usize, usize) -> f64) {
        let steps = self.steps;
        let drifts: Vec<f64> =
            (0..self.epochs * steps).map(|cell| drift(cell / steps, cell % steps)).collect();
        if drifts.iter().any(|drift| *drift != 0.0) {
            for run in self.worlds.iter_mut().flat_map(|world| world.chunks_exact_mut(drifts.len()))
            {
                run.iter_mut().zip(&drifts).for_each(|(output, drift)| *output -= drift);
            }
        }
    }
}

/// How far each mean is from the median of all, where that is no chance. The mean of no outputs is NaN.
fn deviations(means: &[Mean]) -> Vec<f64> {
    let mut sorted: Vec<f64> = means.iter().map(|mean| mean.value).collect();
    sorted.retain(|value| !value.is_nan());
    if sorted.is_empty() {
        return vec![0.0; means.len()];
    }
    sorted.sort_unstable_by(f64::total_cmp);
    let median = 0.5 * (sorted[(sorted.len() - 1) / 2] + sorted[sorted.len() / 2]);
    let of_mean = |mean: &Mean| {
        let deviation = mean.value - median;
        let is_drift = deviation * deviation > DRIFT * DRIFT * mean.squared_error;
        if is_drift { deviation } else { 0.0 }
    };
    means.iter().map(of_mean).collect()
}
