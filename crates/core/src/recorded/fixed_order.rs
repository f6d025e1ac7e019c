//! A fixed order of the data, as opposed to a drift of the outputs.

use super::independence::RecordedRuns;

/// Largest standard error, in clip norms, at which a drift is recognised.
const LARGEST_ERROR: f64 = 0.15;

/// The difference of the two worlds at one step, less their mean difference at the other steps.
///
/// In clip norms, 1 if the target is always at that step and 0 if it is at every step equally often,
/// whatever drift both worlds share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepEffect {
    /// The difference.
    pub value: f64,
    /// Its standard error.
    pub standard_error: f64,
}

impl StepEffect {
    /// The effect at `step`; none without two finite runs in each world, or for a single step.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `target`, `zero_out` | outputs of D and of D′ in clip norms | the same number of steps |
    /// | `step` | the step, from 0 | below the steps per epoch |
    #[must_use]
    pub fn at(target: RecordedRuns<'_>, zero_out: RecordedRuns<'_>, step: usize) -> Option<Self> {
        let (mean, variance) = contrast(target, step)?;
        let (other_mean, other_variance) = contrast(zero_out, step)?;
        let standard_error = (variance + other_variance).sqrt();
        Some(StepEffect { value: mean - other_mean, standard_error })
    }

    /// Whether the target may always be at this step, or too little is known.
    #[must_use]
    pub fn may_be_fixed(self) -> bool {
        !(self.value < 0.5 && self.standard_error <= LARGEST_ERROR)
    }
}

/// Mean over runs of the output at the step less those at the others, and its squared standard error.
fn contrast(runs: RecordedRuns<'_>, step: usize) -> Option<(f64, f64)> {
    let steps = runs.steps();
    if steps < 2 || step >= steps {
        return None;
    }
    let values: Vec<f64> = runs
        .finite_runs()
        .map(|run| {
            let epochs = run.chunks_exact(steps);
            let count = epochs.len() as f64;
            let of_epoch = |epoch: &[f64]| {
                let sum: f64 = epoch.iter().sum();
                epoch[step] - (sum - epoch[step]) / (steps - 1) as f64
            };
            epochs.map(of_epoch).sum::<f64>() / count
        })
        .collect();
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1.0);
    (values.len() > 1).then_some((mean, variance / n))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs of two epochs of three steps: `own` is added at `step`, and a drift at step 2.
    fn runs(own: f64, step: impl Fn(usize) -> usize, drift: f64) -> Vec<f64> {
        let noise = |i: usize| ((i as f64 * 0.618_033_988_749_894_9).fract() - 0.5) * 2.0;
        let at = |run: usize, place: usize| {
            let own = if place % 3 == step(run) { own } else { 0.0 };
            own + noise(7 * run + place) + if place % 3 == 2 { drift } else { 0.0 }
        };
        (0..300)
            .flat_map(|run| (0..6).map(move |place| (run, place)))
            .map(|(r, p)| at(r, p))
            .collect()
    }

    fn view(values: &[f64], epochs: usize, steps: usize) -> RecordedRuns<'_> {
        RecordedRuns::new(values, epochs, steps).unwrap()
    }

    #[test]
    fn a_fixed_step_has_effect_one_and_a_drift_of_both_worlds_none() {
        for drift in [0.0, 3.0] {
            let nothing = runs(0.0, |_| 0, drift);
            let fixed = runs(1.0, |_| 2, drift);
            let shuffled = runs(1.0, |run| run % 3, drift);
            let effect = StepEffect::at(view(&fixed, 2, 3), view(&nothing, 2, 3), 2).unwrap();
            assert!((effect.value - 1.0).abs() < 0.2 && effect.may_be_fixed(), "{effect:?}");
            let effect = StepEffect::at(view(&shuffled, 2, 3), view(&nothing, 2, 3), 2).unwrap();
            assert!(effect.value.abs() < 0.2 && !effect.may_be_fixed(), "{effect:?}");
        }
    }

    #[test]
    fn too_little_data_may_hide_a_fixed_order() {
        assert_eq!(StepEffect::at(view(&[1.0, 2.0], 1, 2), view(&[1.0, 2.0], 1, 2), 0), None);
        assert_eq!(StepEffect::at(view(&[1.0, 2.0], 1, 1), view(&[1.0, 2.0], 1, 1), 0), None);
        let few = [0.0, 1.0, 3.0, -2.0];
        assert!(StepEffect::at(view(&few, 1, 2), view(&few, 1, 2), 1).unwrap().may_be_fixed());
    }
}
