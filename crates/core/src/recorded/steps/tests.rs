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
    cells.without_drift(STATED.zero_out_share)
}

/// Chance of halves of the runs whose steps differ as much.
fn p_value(cells: &Cells) -> f64 {
    let recorded = Recorded { cells, with_sums: None, stated: &STATED };
    let regular = regular_steps(cells.steps);
    let [first, second] = Part::HALVES.map(|part| recorded.estimates(&regular, part));
    let pairs = first.iter().flatten().zip(second.iter().flatten());
    let pairs: Vec<_> = pairs.map(|(a, b)| [a, b].map(|e| math::ln(e.value()))).collect();
    variance_between(&pairs).unwrap().1
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
