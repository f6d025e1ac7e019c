//! Lower bounds for a target that may be absent, against the pair's own value by quadrature.

use dpscope_core::accounting::shuffle::TargetSlots;
use dpscope_core::accounting::{Accountant, Deterministic, Given, Query, Training};

use crate::quadrature::{ERROR, Pair, normal};

/// One epoch of two outputs, the target in the first with probability `first`, in none with
/// 1 − `presence`.
fn two_slots(sigma: f64, gap: f64, presence: f64, first: f64) -> Pair {
    let density = |[x, y]: [f64; 2], mean| {
        let one = |x, y| normal(x, mean, sigma) * normal(y, 0.0, sigma);
        let none = normal(x, 0.0, sigma) * normal(y, 0.0, sigma);
        first * one(x, y) + (presence - first) * one(y, x) + (1.0 - presence) * none
    };
    Pair::new(sigma, [0.0, gap], |at| (density(at, gap), density(at, gap - 1.0)))
}

/// Two epochs of one output each, of which one has mean `without` in D′.
fn two_epochs(sigma: f64, gap: f64, presence: f64, without: f64) -> Pair {
    let density = |[x, y]: [f64; 2], mean| {
        let one = |x| presence * normal(x, mean, sigma) + (1.0 - presence) * normal(x, 0.0, sigma);
        one(x) * one(y)
    };
    Pair::new(sigma, [0.0, gap], |at| (density(at, gap), density(at, without)))
}

fn bound(run: TargetSlots, delta: f64) -> f64 {
    run.lower(Given::Delta(delta)).expect("in the domain").epsilon
}

const DELTA: f64 = 1e-5;

fn deterministic(noise_multiplier: f64, epochs: u64) -> f64 {
    let training = Training { noise_multiplier, steps_per_epoch: 1, epochs, sampling_rate: None };
    let query = Query::upper(training, Given::Delta(DELTA));
    Deterministic.account(&query).expect("in the domain").epsilon
}

#[test]
fn bounds_hold_for_the_pair_by_quadrature() {
    let mut refuted = 0;
    for (noise_multiplier, gap) in [(0.6, 2.0), (1.0, 2.0), (1.0, 5.0), (2.0, 2.0)] {
        for (presence, first) in [(1.0, 0.5), (0.9, 0.8), (0.5, 0.1), (0.02, 0.01)] {
            let pair = two_slots(noise_multiplier, gap, presence, first);
            let exact = pair.epsilon_at(DELTA);
            let run = TargetSlots { noise_multiplier, slots: 2, presence, gap, epochs: 1 };
            let seen = bound(run, DELTA);
            assert!(seen <= exact + ERROR, "{run:?}: {seen} > {exact}");
            assert!(seen > 0.6 * exact, "{run:?}: {seen} is far below {exact}");
            // The twins: a target that is always there, and one output too few.
            let always = bound(TargetSlots { presence: 1.0, ..run }, DELTA);
            let fewer = bound(TargetSlots { slots: 1, ..run }, DELTA);
            refuted += usize::from(presence < 0.9 && always > exact + ERROR);
            refuted += usize::from(fewer > exact + ERROR);
        }
    }
    assert!(refuted >= 16, "{refuted}");
}

#[test]
fn composed_slices_equal_the_pair_of_one_output() {
    for (noise_multiplier, gap) in [(0.7, 2.0), (1.0, 2.0), (1.5, 4.0)] {
        for presence in [1.0, 0.95, 0.6, 0.1] {
            let without =
                |mean| two_epochs(noise_multiplier, gap, presence, mean).epsilon_at(DELTA);
            let exact = without(gap - 1.0);
            let run = TargetSlots { noise_multiplier, slots: 1, presence, gap, epochs: 2 };
            let seen = bound(run, DELTA);
            assert!(seen <= exact + ERROR, "{run:?}: {seen} > {exact}");
            assert!(seen > 0.995 * exact - 2.0 * ERROR, "{run:?}: {seen} is below {exact}");
            // where the record is removed, all outputs may have mean 0
            assert!(seen <= without(0.0) + ERROR, "{run:?}: {seen}");
            let longer = bound(TargetSlots { epochs: 3, ..run }, DELTA);
            assert!(longer > exact + ERROR, "{run:?}: {longer}");
        }
    }
}

#[test]
fn no_bound_is_above_deterministic_batches() {
    for noise_multiplier in [0.3, 1.0, 4.0] {
        for epochs in [1, 7, 100] {
            let most = deterministic(noise_multiplier, epochs);
            for slots in [1, 30, 2000] {
                for presence in [1.0, 0.99, 0.3] {
                    for gap in [2.0, 20.0] {
                        let run = TargetSlots { noise_multiplier, slots, presence, gap, epochs };
                        let seen = bound(run, DELTA);
                        assert!(seen <= most, "{run:?}: {seen} > {most}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_large_gap_reveals_the_batch_of_the_target() {
    for (noise_multiplier, epochs) in [(1.0, 1), (1.0, 10), (3.0, 4)] {
        let most = deterministic(noise_multiplier, epochs);
        let gap = 2.0 + 18.0 * noise_multiplier;
        let run = TargetSlots { noise_multiplier, slots: 500, presence: 1.0, gap, epochs };
        let seen = bound(run, DELTA);
        assert!(seen > most - 2e-3, "{run:?}: {seen} {most}");
        assert!(bound(TargetSlots { gap: 2.0, ..run }, DELTA) < most - 0.05);
    }
}
