use super::*;
use crate::random::{Purpose, Words};
use crate::recorded::noiseless::NoiselessCells;

const STATED: OutputModel = OutputModel {
    other_mean: -1.0,
    contrast: 2.0,
    zero_out_share: 0.5,
    noise_multiplier: 1.0,
    uses: 1.0,
};

/// How the target is drawn.
#[derive(Clone, Copy, PartialEq)]
enum Drawn {
    Shuffle,
    Poisson,
}

/// Outputs of runs of one epoch, with a drift of the means.
fn cells(
    repetition: u64,
    (runs, steps): (usize, usize),
    drawn: Drawn,
    noise: impl Fn(usize) -> f64,
) -> Cells {
    let mut words = Words::new(11, Purpose::Test, repetition);
    let worlds = [STATED.contrast, STATED.in_zero_out()].map(|contrast| {
        let mut outputs = Vec::new();
        for _ in 0..runs {
            let place = words.below(steps as u32) as usize;
            outputs.extend((0..steps).map(|step| {
                let is_there = match drawn {
                    Drawn::Shuffle => step == place,
                    Drawn::Poisson => words.below(steps as u32) == 0,
                };
                let own = if is_there { contrast } else { 0.0 };
                STATED.other_mean + 0.1 * step as f64 + own + noise(step) * words.normal()
            }));
        }
        outputs
    });
    let [target, zero_out] =
        [0, 1].map(|index| RecordedRuns::new(&worlds[index], 1, steps).unwrap());
    let cells = Cells::new(target, zero_out, &NoiselessCells::default()).unwrap();
    cells.without_drift(&STATED, &vec![1.0 / steps as f64; steps])
}

/// ln of the noise of each group of steps, in two halves of the runs.
fn halves(cells: &Cells) -> Vec<[f64; 2]> {
    let groups = StepComparison::of(cells, false).unwrap().groups(cells.steps);
    let recorded = Recorded { cells, with_sums: None, stated: &STATED, groups: &groups };
    let regular = regular_groups(groups.len());
    let [first, second] = Part::HALVES.map(|part| recorded.estimates(&regular, part));
    let pairs = first.iter().flatten().zip(second.iter().flatten());
    pairs.map(|(a, b)| [a, b].map(|e| math::ln(e.value()))).collect()
}

/// Chance of halves of the runs whose steps differ as much.
fn p_value(cells: &Cells) -> f64 {
    variance_between(&halves(cells)).unwrap().1
}

#[test]
fn equal_noise_is_found_equal() {
    for drawn in [Drawn::Shuffle, Drawn::Poisson] {
        for (noise, runs, steps) in [(0.5, 50, 10), (1.0, 100, 20), (2.0, 60, 70)] {
            let found = |noise: &dyn Fn(usize) -> f64| -> [usize; 2] {
                let of = |set| p_value(&cells(set, (runs, steps), drawn, noise));
                let p_values: Vec<f64> = (0..60).map(of).collect();
                [0.05, 1e-3].map(|level| p_values.iter().filter(|p| **p < level).count())
            };
            // 3 and .06 of 60 expected; 11 and 3 or more with a chance below 3e-4
            let equal = found(&|_| noise);
            assert!(equal[0] < 11 && equal[1] < 3, "{noise} {steps} {equal:?}");
            // a mutant: a third less at every second step
            let other = found(&|step| if step % 2 == 0 { noise } else { 0.67 * noise });
            assert!(other[0] > 30, "{noise} {steps} {other:?}");
        }
    }
}

#[test]
fn one_outlier_of_a_half_is_no_difference_between_steps() {
    let mut pairs = vec![[0.0, 0.1]; 20];
    pairs[3] = [-5.0, 0.0];
    assert!(variance_between(&pairs).unwrap().1 > 0.1);
    pairs[3] = [-5.0, -5.1];
    assert!(variance_between(&pairs).unwrap().1 < 1e-12);
    assert_eq!(variance_between(&[[0.0; 2]; 3]), None);
}

/// The chance of a variance of means if that within pairs were known, and not estimated from n pairs.
fn p_value_of_known_precision(pairs: &[[f64; 2]]) -> f64 {
    let n = pairs.len() as f64;
    let mean = |[a, b]: &[f64; 2]| 0.5 * (a + b);
    let of_all = pairs.iter().map(mean).sum::<f64>() / n;
    let squares = |of: &dyn Fn(&[f64; 2]) -> f64| pairs.iter().map(|p| of(p) * of(p)).sum::<f64>();
    let within = squares(&|[a, b]| 0.5 * (a - b)) / n;
    let between = squares(&|pair| mean(pair) - of_all);
    crate::special::chi_square::tails(n - 1.0, between / within)[1]
}

#[test]
fn few_runs_are_compared_by_groups_of_steps_at_the_stated_level() {
    let of = |set| halves(&cells(set, (15, 15), Drawn::Shuffle, |_| 1.0));
    let pairs: Vec<Vec<[f64; 2]>> = (0..300).map(of).collect();
    assert!(pairs.iter().all(|pairs| pairs.len() == 3));
    let rejected = |p_value: &dyn Fn(&[[f64; 2]]) -> f64| {
        pairs.iter().filter(|pairs| p_value(pairs) < 0.01).count()
    };
    // 3 of 300 expected; 12 or more with a chance of 8e-5
    assert!(rejected(&|pairs| variance_between(pairs).unwrap().1) < 12);
    // a mutant with wrong degrees of freedom
    assert!(rejected(&p_value_of_known_precision) > 30);
}

#[test]
fn outputs_decide_which_steps_are_compared() {
    let of =
        |runs, steps| StepComparison::of(&cells(0, (runs, steps), Drawn::Shuffle, |_| 1.0), false);
    assert_eq!(of(50, 10), Some(StepComparison::EachStep));
    assert_eq!(of(49, 10), Some(StepComparison::Groups { groups: 5 }));
    assert_eq!(of(10, 10), Some(StepComparison::Groups { groups: 2 }));
    assert_eq!(of(9, 10), Some(StepComparison::TooFewOutputs { runs_needed: 10 }));
    assert_eq!(of(50, 1), None);
    let few = cells(0, (9, 10), Drawn::Shuffle, |_| 1.0);
    assert!(noise_by_step(&few, None, &STATED).is_none());
}

#[test]
fn noise_of_a_group_of_steps_is_found() {
    let halved = |step| if step < 30 { 1.0 } else { 0.5 };
    let found = noise_by_step(&cells(1, (10, 40), Drawn::Shuffle, halved), None, &STATED).unwrap();
    let StepNoise { step, last_step, noise, steps, .. } = found.noise;
    assert_eq!((step % 5, last_step), (0, step + 4));
    assert!(step >= 30 && (5..=10).contains(&steps) && noise.value < 0.7, "{noise:?}");
    assert_eq!(found.differs.iter().filter(|differs| **differs).count(), steps as usize);
}
