//! Epochs and steps whose outputs have no noise.

use crate::adjacency::World;
use crate::mechanism::OutputScorer;

/// Fewer outputs decide nothing.
pub(super) const LEAST_OUTPUTS: usize = 10;

/// Deviation from the noiseless value, relative to max(1, |value|), that rounding may cause.
const ROUNDING: f64 = 1e-6;

/// For each epoch and step, whether the outputs of D and of D′ have no noise there.
///
/// Every finite output of such a cell is one of its two noiseless values, the mean of the target's batch or
/// that of the other batches, and so are at least ten of the cell, of its step in all epochs, of its epoch or
/// of the world.
///
/// # Guarantee
/// If each output has independent noise N(0, σ²), n ≥ 10 outputs are all noiseless values with probability at
/// most (1.6·10⁻⁶·m/σ)ⁿ, for noiseless values of at most m ≥ 1 clip norms
/// (`unit::noise_is_never_mistaken_for_none`, `unit::noise_in_one_run_is_noise`).
#[derive(Debug, Clone, Default)]
pub(crate) struct NoiselessCells {
    /// Epochs × steps of D and of D′.
    worlds: [Vec<bool>; 2],
    steps: usize,
}

impl NoiselessCells {
    /// The cells of runs of D and of D′, each epochs × steps outputs.
    pub(crate) fn of<'a>(
        scorer: &OutputScorer,
        runs: [impl Iterator<Item = &'a [f64]>; 2],
        [epochs, steps]: [usize; 2],
    ) -> Self {
        let mut worlds = World::BOTH.into_iter().zip(runs);
        let of_world = |(world, runs)| in_world(scorer, world, runs, [epochs, steps]);
        let worlds = [(); 2].map(|()| worlds.next().map(of_world).unwrap_or_default());
        NoiselessCells { worlds, steps }
    }

    /// The cells of a world, epochs × steps.
    pub(crate) fn world(&self, world: World) -> &[bool] {
        &self.worlds[world.index()]
    }

    /// Whether no output of a world has noise.
    pub(crate) fn is_whole(&self, world: World) -> bool {
        self.world(world).iter().all(|is_noiseless| *is_noiseless)
    }

    /// Whether a cell of some world has no noise.
    pub(crate) fn contains(&self, cell: usize) -> bool {
        self.worlds.iter().any(|world| world.get(cell) == Some(&true))
    }

    /// The only world with such cells; none if both have some.
    pub(crate) fn only_world(&self) -> Option<World> {
        let has_some = |world: &World| self.world(*world).contains(&true);
        let mut worlds = World::BOTH.into_iter().filter(has_some);
        worlds.next().filter(|_| worlds.next().is_none())
    }

    /// The steps with such a cell, in order.
    pub(crate) fn steps(&self) -> Vec<usize> {
        let cells = 0..self.worlds[0].len();
        let has_some =
            |step: &usize| cells.clone().skip(*step).step_by(self.steps).any(|c| self.contains(c));
        (0..self.steps).filter(has_some).collect()
    }

    /// First and last epoch with such a cell; none if the steps of every epoch are alike.
    pub(crate) fn epochs(&self) -> Option<[u32; 2]> {
        let epochs = self.worlds[0].len() / self.steps;
        let of_epoch = |epoch: usize| {
            (0..self.steps).map(|step| self.contains(epoch * self.steps + step)).collect::<Vec<_>>()
        };
        let each: Vec<Vec<bool>> = (0..epochs).map(of_epoch).collect();
        if each.iter().all(|epoch| *epoch == each[0]) {
            return None;
        }
        let first = each.iter().position(|epoch| epoch.contains(&true))?;
        let last = each.iter().rposition(|epoch| epoch.contains(&true))?;
        Some([first as u32, last as u32])
    }
}

/// Whether an output is its noiseless value, up to rounding.
pub(crate) fn is_near_noiseless(output: f64, mean: f64) -> bool {
    (output - mean).abs() <= ROUNDING * mean.abs().max(1.0)
}

fn in_world<'a>(
    scorer: &OutputScorer,
    world: World,
    runs: impl Iterator<Item = &'a [f64]>,
    [epochs, steps]: [usize; 2],
) -> Vec<bool> {
    let cells = epochs * steps;
    let Ok((shift, other)) = scorer.shift_and_other(world) else { return vec![false; cells] };
    // finite outputs of each cell, none where one of them has noise
    let mut counts: Vec<Option<usize>> = vec![Some(0); cells];
    for run in runs {
        for (count, &output) in counts.iter_mut().zip(run).filter(|(_, o)| o.is_finite()) {
            let is_near =
                is_near_noiseless(output, other) || is_near_noiseless(output, other + shift);
            *count = count.filter(|_| is_near).map(|count| count + 1);
        }
    }
    let is_enough = |counts: &mut dyn Iterator<Item = &Option<usize>>| {
        counts.copied().sum::<Option<usize>>().is_some_and(|outputs| outputs >= LEAST_OUTPUTS)
    };
    let is_whole = is_enough(&mut counts.iter());
    let of_step = (0..steps).map(|step| is_enough(&mut counts.iter().skip(step).step_by(steps)));
    let of_step: Vec<bool> = of_step.collect();
    let of_epoch: Vec<bool> =
        counts.chunks(steps).map(|epoch| is_enough(&mut epoch.iter())).collect();
    let is_noiseless = |cell: usize| {
        let is_of_more = is_whole || of_step[cell % steps] || of_epoch[cell / steps];
        is_of_more || counts[cell].is_some_and(|outputs| outputs >= LEAST_OUTPUTS)
    };
    (0..cells).map(is_noiseless).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::{BatchSampler, BatchedGaussian, OutputOptions, ThreatModel};
    use crate::random::{Purpose, Words};
    use crate::special::normal;

    /// The cells of runs of 2 epochs of 3 steps, without noise where `is_silent` says so.
    fn cells(runs: usize, is_silent: impl Fn(usize, usize, usize) -> bool) -> NoiselessCells {
        let mechanism = BatchedGaussian {
            noise_multiplier: 1.0,
            steps_per_epoch: 3,
            epochs: 2,
            sampler: BatchSampler::Poisson,
            threat_model: ThreatModel::TargetCanary,
            batch_size: None,
            dataset_size: None,
        };
        let scorer = OutputScorer::new(&mechanism, OutputOptions::default()).unwrap();
        let mut words = Words::new(5, Purpose::Test, 0);
        let mut world = |world: usize| -> Vec<f64> {
            let cells = (0..runs).flat_map(|run| (0..6).map(move |cell| (run, cell)));
            cells
                .map(|(run, cell)| match is_silent(world, run, cell) {
                    true if world == 0 && run % 3 == 0 => 1.0,
                    true => 0.0,
                    false => words.normal(),
                })
                .collect()
        };
        let worlds = [world(0), world(1)];
        NoiselessCells::of(&scorer, [0, 1].map(|index| worlds[index].chunks(6)), [2, 3])
    }

    #[test]
    fn cells_epochs_steps_and_worlds_without_noise_are_found() {
        let single = cells(20, |_, _, cell| cell == 4);
        assert_eq!((single.steps(), single.epochs()), (vec![1], Some([1, 1])));
        assert_eq!(single.only_world(), None);
        let in_target = cells(20, |world, _, cell| world == 0 && cell == 4);
        assert_eq!(in_target.only_world(), Some(World::Target));
        // of fewer than ten runs, all steps of an epoch or all epochs of a step decide
        let epoch = cells(4, |_, _, cell| cell < 3);
        assert_eq!((epoch.steps(), epoch.epochs()), (vec![0, 1, 2], Some([0, 0])));
        let step = cells(5, |_, _, cell| cell % 3 == 2);
        assert_eq!((step.steps(), step.epochs()), (vec![2], None));
        let all = cells(2, |_, _, _| true);
        assert!(World::BOTH.into_iter().all(|world| all.is_whole(world)));
        assert_eq!(cells(5, |_, _, cell| cell == 4).steps(), Vec::<usize>::new());
    }

    #[test]
    fn noise_in_one_run_is_noise() {
        let found = cells(50, |_, run, cell| cell == 4 && run != 31);
        assert_eq!((found.steps(), found.epochs(), found.only_world()), (vec![], None, None));
    }

    fn scorer(threat_model: ThreatModel, noise_multiplier: f64) -> OutputScorer {
        let mechanism = BatchedGaussian {
            noise_multiplier,
            steps_per_epoch: 5,
            epochs: 1,
            sampler: BatchSampler::Shuffle,
            threat_model,
            batch_size: Some(100),
            dataset_size: None,
        };
        OutputScorer::new(&mechanism, OutputOptions::default()).unwrap()
    }

    /// Whether no output of a world has noise, each the output of a run.
    fn is_noiseless(scorer: &OutputScorer, world: World, outputs: &[f64]) -> bool {
        let runs = || outputs.chunks(1);
        NoiselessCells::of(scorer, [runs(), runs()], [1, 1]).is_whole(world)
    }

    fn outputs(scorer: &OutputScorer, world: World, noise: f64) -> Vec<f64> {
        let (shift, other) = scorer.shift_and_other(world).unwrap();
        let quantile = |index: u32| normal::quantile((f64::from(index) + 0.5) / 100.0);
        let at = |index: u32| {
            let mean = if index.is_multiple_of(5) { other + shift } else { other };
            mean + noise * quantile(index)
        };
        (0..100).map(at).collect()
    }

    #[test]
    fn noise_is_never_mistaken_for_none() {
        for threat_model in
            [ThreatModel::WorstCase, ThreatModel::PartiallyInformed, ThreatModel::TargetCanary]
        {
            let scorer = scorer(threat_model, 0.2);
            for world in [World::Target, World::ZeroOut] {
                assert!(is_noiseless(&scorer, world, &outputs(&scorer, world, 0.0)));
                for noise in [1e-3, 0.2] {
                    assert!(!is_noiseless(&scorer, world, &outputs(&scorer, world, noise)));
                }
            }
        }
    }

    #[test]
    fn values_stored_as_single_floats_are_noiseless_and_few_values_decide_nothing() {
        let scorer = scorer(ThreatModel::WorstCase, 1.0);
        let exact = outputs(&scorer, World::Target, 0.0);
        let stored: Vec<f64> = exact.iter().map(|&output| f64::from(output as f32)).collect();
        assert!(is_noiseless(&scorer, World::Target, &stored));
        assert!(!is_noiseless(&scorer, World::Target, &stored[..9]));
        let mut failed = stored.clone();
        failed[3] = f64::NAN;
        assert!(is_noiseless(&scorer, World::Target, &failed));
        failed[3] = stored[3] + 0.5;
        assert!(!is_noiseless(&scorer, World::Target, &failed));
        assert!(!is_noiseless(&scorer, World::Target, &[f64::NAN; 50]));
    }
}
