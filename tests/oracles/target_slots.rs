//! Lower bounds for a target that may be absent, against the pair's own value by quadrature.

use dpscope_core::accounting::DeterministicBatches;
use dpscope_core::accounting::shuffle::TargetSlots;
use dpscope_core::math::exp;

/// Points a side, and the lower end in units of σ.
const POINTS: usize = 500;
const REACH: f64 = 9.0;

/// Two laws on a grid.
struct Pair(Vec<(f64, f64)>);

impl Pair {
    /// Two outputs, of densities that `both` gives for an output pair.
    fn new(sigma: f64, gap: f64, both: impl Fn([f64; 2], f64) -> f64) -> Pair {
        let width = (gap + 2.0 * REACH * sigma) / POINTS as f64;
        let point = |place: usize| -REACH * sigma + (place as f64 + 0.5) * width;
        let cells = (0..POINTS * POINTS).map(|cell| {
            let at = [point(cell / POINTS), point(cell % POINTS)];
            (both(at, gap) * width * width, both(at, gap - 1.0) * width * width)
        });
        let pair = Pair(cells.collect());
        let total: f64 = pair.0.iter().map(|cell| cell.0).sum();
        assert!((total - 1.0).abs() < 1e-9, "{total}");
        pair
    }

    fn delta_at(&self, epsilon: f64) -> f64 {
        let factor = exp(epsilon);
        self.0.iter().map(|(p, q)| (p - factor * q).max(0.0)).sum()
    }

    fn epsilon_at(&self, delta: f64) -> f64 {
        let (mut low, mut high) = (0.0, 60.0);
        while high - low > 1e-5 {
            let middle = 0.5 * (low + high);
            if self.delta_at(middle) > delta { low = middle } else { high = middle }
        }
        low
    }
}

fn normal(x: f64, mean: f64, sigma: f64) -> f64 {
    exp(-0.5 * ((x - mean) / sigma) * ((x - mean) / sigma)) / (sigma * 2.506_628_274_631_000_5)
}

/// One epoch of two outputs, the target in the first with probability `first`, in none with
/// 1 − `presence`.
fn two_slots(sigma: f64, gap: f64, presence: f64, first: f64) -> Pair {
    Pair::new(sigma, gap, |[x, y], mean| {
        let one = |x, y| normal(x, mean, sigma) * normal(y, 0.0, sigma);
        let none = normal(x, 0.0, sigma) * normal(y, 0.0, sigma);
        first * one(x, y) + (presence - first) * one(y, x) + (1.0 - presence) * none
    })
}

/// Two epochs of one output each.
fn two_epochs(sigma: f64, gap: f64, presence: f64) -> Pair {
    Pair::new(sigma, gap, |[x, y], mean| {
        let one =
            |x| presence * normal(x, mean, sigma) + (1.0 - presence) * normal(x, 0.0, sigma);
        one(x) * one(y)
    })
}

fn bound(run: TargetSlots, delta: f64) -> f64 {
    run.epsilon_lower(delta).expect("in the domain").value()
}

const DELTA: f64 = 1e-5;
/// Limit of the quadrature's own error in ε.
const ERROR: f64 = 1e-3;

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
fn composed_slices_are_the_pair_where_there_is_one_output() {
    for (noise_multiplier, gap) in [(0.7, 2.0), (1.0, 2.0), (1.5, 4.0)] {
        for presence in [1.0, 0.95, 0.6, 0.1] {
            let run = TargetSlots { noise_multiplier, slots: 1, presence, gap, epochs: 2 };
            let exact = two_epochs(noise_multiplier, gap, presence).epsilon_at(DELTA);
            let seen = bound(run, DELTA);
            assert!(seen <= exact + ERROR, "{run:?}: {seen} > {exact}");
            assert!(seen > exact - 2.0 * ERROR, "{run:?}: {seen} is below {exact}");
            let longer = bound(TargetSlots { epochs: 3, ..run }, DELTA);
            assert!(longer > exact + ERROR, "{run:?}: {longer}");
        }
    }
}

#[test]
fn no_bound_is_above_deterministic_batches() {
    for noise_multiplier in [0.3, 1.0, 4.0] {
        for epochs in [1, 7, 100] {
            let all = DeterministicBatches { noise_multiplier, epochs };
            let most = all.epsilon_upper(DELTA).expect("in the domain").value();
            for slots in [1, 30, 2000] {
                for presence in [1.0, 0.99, 0.3] {
                    for gap in [2.0, 20.0] {
                        let run =
                            TargetSlots { noise_multiplier, slots, presence, gap, epochs };
                        let seen = bound(run, DELTA);
                        assert!(seen <= most, "{run:?}: {seen} > {most}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_target_that_stands_out_is_as_if_its_batch_were_known() {
    for (noise_multiplier, epochs) in [(1.0, 1), (1.0, 10), (3.0, 4)] {
        let all = DeterministicBatches { noise_multiplier, epochs };
        let most = all.epsilon_upper(DELTA).expect("in the domain").value();
        let gap = 2.0 + 18.0 * noise_multiplier;
        let run = TargetSlots { noise_multiplier, slots: 500, presence: 1.0, gap, epochs };
        let seen = bound(run, DELTA);
        assert!(seen > most - 2e-3, "{run:?}: {seen} {most}");
        assert!(bound(TargetSlots { gap: 2.0, ..run }, DELTA) < most - 0.05);
    }
}
