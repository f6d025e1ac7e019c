use super::*;
use crate::accounting::Given;

/// n-fold distribution by plain sums.
pub(super) fn brute_force(
    distribution: &PrivacyLossDistribution,
    compositions: usize,
) -> (i64, Vec<f64>) {
    let mut masses = vec![1.0];
    for _ in 0..compositions {
        let mut next = vec![0.0; masses.len() + distribution.masses.len() - 1];
        for (i, a) in masses.iter().enumerate() {
            for (j, b) in distribution.masses.iter().enumerate() {
                next[i + j] += a * b;
            }
        }
        masses = next;
    }
    (distribution.lowest_index * compositions as i64, masses)
}

pub(super) fn delta_of(step: f64, lowest: i64, masses: &[f64], infinite: f64, epsilon: f64) -> f64 {
    let kept = |(place, mass): (usize, &f64)| {
        let loss = (lowest + place as i64) as f64 * step;
        if loss > epsilon { -mass * math::exp_m1(epsilon - loss) } else { 0.0 }
    };
    infinite + masses.iter().enumerate().map(kept).sum::<f64>()
}

fn distribution() -> PrivacyLossDistribution {
    let masses = vec![0.05, 0.2, 0.25, 0.15, 0.1, 0.0, 0.1, 0.12, 0.03];
    PrivacyLossDistribution::from_masses(0.125, -3, masses, 0.0).unwrap()
}

#[test]
fn queries_agree_with_the_definition() {
    for rounding in [Rounding::Pessimistic, Rounding::Optimistic] {
        let mut distribution = distribution().with_rounding(rounding);
        distribution.masses[8] -= 0.01;
        distribution.infinite_mass = 0.01;
        for epsilon in [-1.0, -0.3, 0.0, 0.03, 0.25, 0.3, 0.61, 0.625, 3.0] {
            let exact = delta_of(0.125, -3, &distribution.masses, 0.01, epsilon);
            let seen = distribution.delta_at(epsilon).unwrap();
            assert!((seen - exact).abs() < 1e-14, "{epsilon}: {seen} {exact}");
            assert_eq!(seen > exact, rounding == Rounding::Pessimistic, "{epsilon}");
            if (0.0..0.625).contains(&epsilon) {
                let back = distribution.epsilon_at(exact).unwrap();
                assert!((back - epsilon).abs() < 1e-13, "{epsilon}: {back}");
                assert!(epsilon == 0.0 || (back > epsilon) == (rounding == Rounding::Pessimistic));
            }
        }
        assert_eq!(distribution.epsilon_at(0.009).unwrap(), f64::INFINITY);
        assert_eq!(distribution.epsilon_at(0.999).unwrap(), 0.0);
    }
}

#[test]
fn composition_brackets_brute_force() {
    for compositions in [2, 3, 7, 40] {
        let (lowest, masses) = brute_force(&distribution(), compositions);
        for epsilon in [-0.5, 0.0, 0.7, 2.0, 5.0] {
            let exact = delta_of(0.125, lowest, &masses, 0.0, epsilon);
            let of = |rounding| {
                let distribution = distribution().with_rounding(rounding);
                distribution.self_composed(compositions as u64).unwrap().delta_at(epsilon).unwrap()
            };
            let (low, high) = (of(Rounding::Optimistic), of(Rounding::Pessimistic));
            assert!(low <= exact && exact <= high, "{compositions} {epsilon}");
            assert!(high - low < 1e-10, "{compositions} {epsilon}: {low:e} {exact:e} {high:e}");
        }
    }
}

#[test]
fn tilted_composition_is_right_in_the_far_tail() {
    for compositions in [2, 9, 64] {
        let (lowest, masses) = brute_force(&distribution(), compositions);
        for epsilon in [0.5, 3.0, 0.5 * 0.625 * compositions as f64] {
            let exact = delta_of(0.125, lowest, &masses, 0.0, epsilon);
            if exact == 0.0 {
                continue;
            }
            for rounding in [Rounding::Pessimistic, Rounding::Optimistic] {
                let distribution = distribution().with_rounding(rounding);
                let by =
                    |given| distribution.self_composed_near(compositions as u64, given).unwrap();
                let seen = by(Given::Epsilon(epsilon)).delta_at(epsilon).unwrap();
                assert!((seen / exact - 1.0).abs() < 1e-9, "{compositions} {epsilon}: {seen:e}");
                let back = by(Given::Delta(exact)).epsilon_at(exact).unwrap();
                assert!((back - epsilon).abs() < 1e-8, "{compositions} {epsilon}: {back}");
                let high = rounding == Rounding::Pessimistic;
                assert!((seen > exact) == high && (back > epsilon) == high, "{compositions}");
            }
        }
    }
}

#[test]
fn tilted_composition_of_parts_is_right_in_the_far_tail() {
    for counts in [vec![1, 1], vec![2, 7], vec![40, 1, 23]] {
        let all: u64 = counts.iter().sum();
        let (lowest, masses) = brute_force(&distribution(), all as usize);
        for epsilon in [0.5, 3.0, 0.5 * 0.625 * all as f64] {
            let exact = delta_of(0.125, lowest, &masses, 0.0, epsilon);
            if exact == 0.0 {
                continue;
            }
            for rounding in [Rounding::Pessimistic, Rounding::Optimistic] {
                let one = distribution().with_rounding(rounding);
                let parts: Vec<_> = counts.iter().map(|count| (&one, *count)).collect();
                let by = |given| PrivacyLossDistribution::sum_of(&parts, given, 1e-9).unwrap();
                let seen = by(Given::Epsilon(epsilon)).delta_at(epsilon).unwrap();
                assert!((seen / exact - 1.0).abs() < 1e-9, "{counts:?} {epsilon}: {seen:e}");
                let high = rounding == Rounding::Pessimistic;
                assert_eq!(seen > exact, high, "{counts:?} {epsilon}: {seen:e} {exact:e}");
                let far = by(Given::Delta(1e-30)).delta_at(epsilon).unwrap();
                assert!((far >= exact) == high || far == exact, "{counts:?} {epsilon}");
                let fewer =
                    PrivacyLossDistribution::sum_of(&parts[1..], Given::Epsilon(epsilon), 1e-9);
                let fewer = fewer.unwrap().delta_at(epsilon).unwrap();
                assert!(fewer < 0.9 * exact, "{counts:?} {epsilon}: {fewer:e} {exact:e}");
            }
        }
    }
}

/// Most of the distribution lies below the window then.
#[test]
fn distributions_are_valid_far_from_their_target() {
    let (lowest, masses) = brute_force(&distribution(), 64);
    for aim in [Given::Epsilon(30.0), Given::Epsilon(20.0), Given::Delta(1e-30)] {
        for epsilon in [-9.0, 0.0, 2.0, 6.0, 10.0, 15.0] {
            let exact = delta_of(0.125, lowest, &masses, 0.0, epsilon);
            let of = |rounding| {
                let distribution = distribution().with_rounding(rounding);
                distribution.self_composed_near(64, aim).unwrap().delta_at(epsilon).unwrap()
            };
            let (low, high) = (of(Rounding::Optimistic), of(Rounding::Pessimistic));
            assert!(low <= exact && exact <= high, "{aim:?} {epsilon}: {low:e} {exact:e} {high:e}");
        }
    }
}

/// The best tilt has no end there; the moments at it are no numbers.
#[test]
fn no_mass_is_beyond_the_highest_loss() {
    for (compositions, epsilon) in [(2, 3.0), (9, 50.0), (64, 1e3)] {
        let of = |rounding| {
            let distribution = distribution().with_rounding(rounding);
            let distribution =
                distribution.self_composed_near(compositions, Given::Epsilon(epsilon)).unwrap();
            distribution.delta_at(epsilon).unwrap()
        };
        assert_eq!(of(Rounding::Optimistic), 0.0, "{compositions} {epsilon}");
        assert!(of(Rounding::Pessimistic) < 1e-12, "{compositions} {epsilon}");
    }
}

#[test]
fn a_moved_mass_is_detected() {
    let mut broken = distribution();
    broken.masses.swap(7, 8);
    let (lowest, masses) = brute_force(&distribution(), 9);
    let exact = delta_of(0.125, lowest, &masses, 0.0, 3.0);
    let seen = broken.self_composed(9).unwrap().delta_at(3.0).unwrap();
    assert!((seen / exact - 1.0).abs() > 0.1);
}

#[test]
fn two_distributions_compose_like_sums() {
    let one = distribution();
    let (lowest, masses) = brute_force(&one, 3);
    for epsilon in [-0.7, 0.0, 0.4, 1.3] {
        let exact = delta_of(0.125, lowest, &masses, 0.0, epsilon);
        for rounding in [Rounding::Pessimistic, Rounding::Optimistic] {
            let one = distribution().with_rounding(rounding);
            let three = one.self_composed(2).unwrap().composed(&one).unwrap();
            let seen = three.delta_at(epsilon).unwrap();
            assert!((seen - exact).abs() < 1e-11, "{epsilon}: {seen} {exact}");
            assert_eq!(seen >= exact, rounding == Rounding::Pessimistic, "{epsilon}");
            let two = one.composed(&one).unwrap().delta_at(epsilon).unwrap();
            assert!((two - exact).abs() > 1e-3, "{epsilon}: one distribution less is not seen");
        }
    }
    let other = PrivacyLossDistribution::from_masses(0.1, 0, vec![1.0], 0.0).unwrap();
    assert!(one.composed(&other).is_err());
    assert!(one.composed(&distribution().with_rounding(Rounding::Optimistic)).is_err());
}

#[test]
fn infinite_losses_add_up() {
    let distribution = PrivacyLossDistribution::from_masses(0.5, 0, vec![0.999], 0.001).unwrap();
    let exact = 1.0 - math::powi(0.999, 100);
    let high = distribution.self_composed(100).unwrap().infinite_mass();
    let low = distribution
        .with_rounding(Rounding::Optimistic)
        .self_composed(100)
        .unwrap()
        .infinite_mass();
    assert!(low <= exact && exact <= high && high - low < 1e-8, "{low} {exact} {high}");
}

#[test]
fn refuses_bad_arguments() {
    let from = PrivacyLossDistribution::from_masses;
    for step in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(from(step, 0, vec![1.0], 0.0).is_err());
    }
    for masses in [vec![], vec![-0.1], vec![f64::NAN], vec![0.7, 0.7]] {
        assert!(from(0.1, 0, masses, 0.0).is_err());
    }
    assert!(from(0.1, 0, vec![0.5], f64::NAN).is_err());
    let distribution = distribution();
    for delta in [0.0, 1.0, -1.0, f64::NAN] {
        assert!(distribution.epsilon_at(delta).is_err());
        assert!(distribution.self_composed_near(2, Given::Delta(delta)).is_err());
    }
    assert!(distribution.delta_at(f64::NAN).is_err());
    assert!(distribution.self_composed(0).is_err());
}

/// A distribution on losses of −1 to 1, with room above and below in which there is no mass.
fn padded(room: usize) -> PrivacyLossDistribution {
    let bell = |place: i32| math::exp(-0.5 * math::powi(f64::from(place) / 60.0, 2));
    let bell: Vec<f64> = (-200..=200).map(bell).collect();
    let total: f64 = bell.iter().sum();
    let zeros = vec![0.0; room];
    let masses = [zeros.clone(), bell.iter().map(|mass| mass / total).collect(), zeros].concat();
    PrivacyLossDistribution::from_masses(5e-3, -200 - room as i64, masses, 0.0).unwrap()
}

#[test]
fn grid_points_without_mass_change_nothing() {
    for room in [20, 200, 1300, 5000] {
        for (count, delta) in [(2, 1e-5), (2, 1e-12), (7, 1e-9), (100, 1e-3)] {
            let epsilon = |distribution: PrivacyLossDistribution| {
                let distribution =
                    distribution.self_composed_near(count, Given::Delta(delta)).unwrap();
                distribution.epsilon_at(delta).unwrap()
            };
            let (seen, expected) = (epsilon(padded(room)), epsilon(padded(0)));
            assert!((seen - expected).abs() < 1e-6, "{room} {count} {delta}: {seen} {expected}");
        }
    }
}

#[test]
fn infinite_losses_alone_add_up() {
    let distribution = PrivacyLossDistribution::from_masses(1.0, 0, vec![0.0], 0.5).unwrap();
    let two = distribution.self_composed(2).unwrap();
    assert!(two.infinite_mass() >= 0.75 && two.infinite_mass() < 0.75 + 1e-9);
    let below = distribution.with_rounding(Rounding::Optimistic).self_composed(2).unwrap();
    assert!(below.infinite_mass() <= 0.25, "{}", below.infinite_mass());
}

/// δ of a nearly Gaussian loss with a far tail, exactly and on a grid.
fn deltas_of_atoms(step: f64, rounding: Rounding, is_reversed: bool) -> Vec<(f64, f64)> {
    let atom = |k: i32| {
        let x = 0.25 * f64::from(k);
        (math::exp(1e-3 * x), math::exp(-0.5 * x * x))
    };
    let mut atoms: Vec<(f64, f64)> = (-32..=32).map(atom).chain([(1.3, 1e-30)]).collect();
    let mass: f64 = atoms.iter().map(|atom| atom.1).sum();
    let mean = atoms.iter().map(|atom| atom.0 * atom.1).sum::<f64>() / mass;
    atoms.iter_mut().for_each(|atom| *atom = (atom.0 / mean, atom.1 / mass));
    let cells = LossCells::of_atoms(step, &atoms, 0.0);
    let distribution =
        if is_reversed { cells.reversed() } else { cells }.distribution(rounding).unwrap();
    let at = |epsilon: f64| {
        let y = math::exp(epsilon);
        let part = |&(value, mass): &(f64, f64)| {
            if is_reversed {
                mass * (1.0 - y * value).max(0.0)
            } else {
                mass * (value - y).max(0.0)
            }
        };
        (atoms.iter().map(part).sum(), distribution.delta_at(epsilon).unwrap())
    };
    [-0.1, -0.01, -3e-3, -1e-3, -4e-4, 0.0, 3e-4, 1e-3, 2e-3, 4e-3, 8e-3, 0.1].map(at).to_vec()
}

#[test]
fn distributions_of_few_cells_round_to_their_side() {
    for step in [1e-4, 3e-4, 1e-3, 2.4e-3, 0.01, 0.3] {
        for is_reversed in [false, true] {
            for (exact, seen) in deltas_of_atoms(step, Rounding::Optimistic, is_reversed) {
                assert!(seen <= exact * (1.0 + 1e-12), "{step} {is_reversed}: {seen:e} {exact:e}");
            }
            for (exact, seen) in deltas_of_atoms(step, Rounding::Pessimistic, is_reversed) {
                assert!(seen >= exact * (1.0 - 1e-12), "{step} {is_reversed}: {seen:e} {exact:e}");
            }
        }
    }
    // and comes near to it on a fine grid
    for (exact, seen) in deltas_of_atoms(1e-5, Rounding::Optimistic, false) {
        assert!(exact < 1e-12 || seen > 0.9 * exact, "{seen:e} {exact:e}");
    }
}
