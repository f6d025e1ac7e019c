//! The step of a target that is always at the same one.

use crate::recorded::independence::RecordedRuns;

/// The step of an epoch, from 0, at which the mean output of D exceeds that of D′ most, over the
/// chosen finite runs; none without such runs, or for a single step.
pub(super) fn step_of_largest_difference(
    (target, chosen): (RecordedRuns<'_>, &[bool]),
    (zero_out, chosen_zero_out): (RecordedRuns<'_>, &[bool]),
) -> Option<u32> {
    let means = step_means(target, chosen)?.into_iter();
    let differences = means.zip(step_means(zero_out, chosen_zero_out)?).map(|(d, other)| d - other);
    let mut largest: Option<(u32, f64)> = None;
    for (step, difference) in (0..).zip(differences) {
        if largest.is_none_or(|(_, most)| difference > most) {
            largest = Some((step, difference));
        }
    }
    largest.map(|(step, _)| step)
}

/// The mean output of each step over the chosen finite runs and their epochs.
fn step_means(runs: RecordedRuns<'_>, chosen: &[bool]) -> Option<Vec<f64>> {
    let steps = runs.steps();
    let mut sums = vec![0.0; steps];
    let mut epochs = 0.0;
    for (run, is_chosen) in runs.runs().zip(chosen) {
        if *is_chosen && run.iter().all(|output| output.is_finite()) {
            for epoch in run.chunks_exact(steps) {
                sums.iter_mut().zip(epoch).for_each(|(sum, output)| *sum += output);
                epochs += 1.0;
            }
        }
    }
    sums.iter_mut().for_each(|sum| *sum /= epochs);
    (epochs > 0.0 && steps > 1).then_some(sums)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(values: &[f64]) -> RecordedRuns<'_> {
        RecordedRuns::new(values, 2, 2).unwrap()
    }

    #[test]
    fn runs_that_are_evaluated_do_not_decide() {
        // Two epochs of two steps; the second run points at step 1, the first at step 0.
        let target = [1.0, 0.0, 1.0, 0.0, 0.0, 9.0, 0.0, 9.0];
        let zero_out = [0.0; 4];
        let step = |chosen: &[bool]| {
            step_of_largest_difference((runs(&target), chosen), (runs(&zero_out), &[true]))
        };
        assert_eq!(step(&[true, false]), Some(0));
        assert_eq!(step(&[true, true]), Some(1));
        assert_eq!(step(&[false, false]), None);
    }

    #[test]
    fn failed_runs_and_what_both_worlds_share_do_not_decide() {
        let target = [f64::INFINITY, 0.0, 0.0, 0.0, 3.0, 1.0, 3.0, 1.0];
        let zero_out = [3.0, 0.0, 3.0, 0.0];
        let all = (runs(&target), &[true, true][..]);
        assert_eq!(step_of_largest_difference(all, (runs(&zero_out), &[true])), Some(1));
    }
}
