//! Draws from various proposals, with negative controls.

use super::*;
use dpscope_core::accounting::{Training, pair::epsilon_proposal};

/// The proposal for an epoch at δ = 1e-5.
fn proposal(noise_multiplier: f64, steps_per_epoch: u64) -> Proposal {
    let run = Training { noise_multiplier, steps_per_epoch, epochs: 1, sampling_rate: None };
    epsilon_proposal(&run, 1e-5).unwrap()
}

fn kernel(noise_multiplier: f64, steps_per_epoch: u64) -> PairKernel {
    PairKernel::new(&proposal(noise_multiplier, steps_per_epoch), 20_261_121).unwrap()
}

#[test]
fn grouping_and_instruction_sets_do_not_matter() {
    let kernels = [kernel(1.0, 100), kernel(0.05, 14), kernel(5.0, 701), kernel(0.3, 2)];
    for kernel in kernels {
        let whole = kernel.values(0, 300, &|| true).unwrap();
        for (first, count) in [(0, 0), (0, 1), (1, 63), (63, 2), (64, 64), (65, 200)] {
            let part = kernel.values(first, count, &|| true).unwrap();
            assert_eq!(part, whole[first as usize..first as usize + count]);
        }
        for isa in InstructionSet::available() {
            let other = kernel.clone().with_instruction_set(isa);
            assert_eq!(other.values(0, 300, &|| true).unwrap(), whole, "{isa:?}");
        }
        let other = PairKernel { seed: 1, ..kernel.clone() }; // the broken twin
        assert_ne!(other.values(0, 300, &|| true).unwrap(), whole);
    }
}

#[test]
fn components_are_selected_with_their_probabilities() {
    let kernel = kernel(5.0, 2);
    let mut picked = vec![0.0; kernel.proposal.components().len()];
    let n = 1 << 18;
    for values in kernel.values(0, n, &|| true).unwrap() {
        picked[(values[7] & !EXTREME) as usize] += 1.0;
    }
    assert!(picked.len() > 1);
    for (component, picked) in kernel.proposal.components().iter().zip(picked) {
        let p = component.probability;
        let z = |p: f64| (picked - n as f64 * p) / (n as f64 * p * (1.0 - p)).sqrt();
        assert!(z(p).abs() < 4.5, "{component:?}: {picked}");
        assert!(z(0.95 * p).abs() > 4.5, "5 % fewer");
    }
}

#[test]
fn extreme_words_are_marked() {
    let last = *RADIUS_WORDS.end();
    let words = [1, 5, 0, u32::MAX, last, 0, last + 1, 9];
    for (row, expected) in [(0, 0), (2, EXTREME), (4, 0), (6, EXTREME)] {
        let rows = [row, row + 1].map(|row| [words[row]; LANES]);
        for isa in InstructionSet::available() {
            let mut marks = [0; LANES];
            mark_extremes(isa, &rows, &mut marks);
            assert_eq!(marks, [expected; LANES], "{row}");
        }
    }
}

#[test]
fn centres_move_rarely_and_sums_stay_finite() {
    for (sigma, steps) in [(0.01, 200), (0.05, 1_000), (1.0, 65_536)] {
        let kernel = kernel(sigma, steps);
        for values in kernel.values(0, 64, &|| true).unwrap() {
            let sums = kernel.epoch_sums(&values);
            let [first, second, others] = [sums.first, sums.second, sums.others];
            assert!(first.min(others) >= 1.0 && first + second + others < 1e30, "{sums:?}");
            assert!(sums.maximum >= sums.centre && sums.maximum.is_finite());
            let draw = kernel.draw_of(&values);
            assert!(draw.loss.is_finite() && draw.weight >= 0.0 && draw.weight < 11.0);
        }
    }
}

#[test]
fn invalid_proposals_and_cancellation_are_reported() {
    let refused = |sigma, steps| {
        let error = PairKernel::new(&proposal(sigma, steps), 1).unwrap_err();
        error.to_string()
    };
    assert!(
        refused(2e4, 10).contains("noise_multiplier is 20000; it must be between 0.01 and 10000")
    );
    assert!(
        refused(1.0, 70_000).contains("steps_per_epoch is 70000; it must be between 2 and 65536")
    );
    let kernel = kernel(1.0, 10);
    assert_eq!(kernel.draws(0, 1, &|| false).unwrap_err(), Cancelled);
    assert!(kernel.draws(u64::MAX / 2 - 3, 2, &|| true).unwrap().len() == 2);
}

#[test]
fn values_are_stable() {
    let values = kernel(1.0, 100).values(5, 1, &|| true).unwrap();
    let expected = [
        1_050_840_364,
        1_061_273_018,
        1_078_267_817,
        3_242_512_420,
        1_118_248_444,
        1_133_326_587,
        1_234_589_952,
        1,
    ];
    assert_eq!(values, [expected]);
}
