//! Strategies against their definitions, and sensitivities against every participation.

use super::*;

const BANDED: NoiseMechanism = NoiseMechanism::Banded { bands: 4 };

/// S, row by row, from its definition.
fn matrix(mechanism: NoiseMechanism, rounds: usize) -> Vec<Vec<f64>> {
    let central = [1.0, 1.0 / 2.0, 3.0 / 8.0, 5.0 / 16.0];
    let norm = central.iter().map(|c| c * c).sum::<f64>().sqrt();
    let entry = |row: usize, column: usize| match mechanism {
        _ if column > row => 0.0,
        NoiseMechanism::Gaussian => f64::from(u8::from(row == column)),
        NoiseMechanism::Banded { .. } => central.get(row - column).map_or(0.0, |c| c / norm),
        NoiseMechanism::Tree => {
            let mut size = 1;
            while (row + 1).is_multiple_of(2 * size) {
                size *= 2;
            }
            f64::from(u8::from(row - column < size))
        }
    };
    let row = |row| (0..rounds).map(|column| entry(row, column)).collect();
    (0..rounds).map(row).collect()
}

/// Squared norm ‖S·1_R‖² of rounds R.
fn square(matrix: &[Vec<f64>], rounds: &[usize]) -> f64 {
    let seen = matrix.iter().map(|row| rounds.iter().map(|&round| row[round]).sum::<f64>());
    seen.map(|seen| seen * seen).sum()
}

#[test]
fn the_strategy_restores_independent_noise_and_another_one_does_not() {
    let (rounds, size) = (21, 6);
    for mechanism in [NoiseMechanism::Gaussian, NoiseMechanism::Tree, BANDED] {
        let mut noise = ServerNoise::new(NoiseStrategy::new(mechanism, rounds), 3, size);
        let mut draws = VectorNormals::new(3, Purpose::TrainNoise, 5);
        // the noise of another unit before does not matter
        noise.start(4);
        (0..rounds as usize).for_each(|round| noise.add(round, 1.0, &mut [0.0; 6]));
        noise.start(5);
        let of_round = |round| {
            let mut sum = vec![0.0_f32; size];
            noise.add(round, 2.0, &mut sum);
            sum
        };
        let noises: Vec<Vec<f32>> = (0..rounds as usize).map(of_round).collect();
        let error = |matrix: &[Vec<f64>], draws: &mut VectorNormals| {
            let mut largest = 0.0_f64;
            for (round, row) in matrix.iter().enumerate() {
                let mut draw = vec![0.0; size];
                draws.add(round as u64, 2.0, &mut draw);
                for (entry, draw) in draw.iter().enumerate() {
                    let restored = row.iter().zip(&noises).map(|(s, n)| s * f64::from(n[entry]));
                    largest = largest.max((restored.sum::<f64>() - f64::from(*draw)).abs());
                }
            }
            largest
        };
        for other in [NoiseMechanism::Gaussian, NoiseMechanism::Tree, BANDED] {
            let error = error(&matrix(other, rounds as usize), &mut draws);
            assert_eq!(error < 1e-5, other == mechanism, "{mechanism:?} {other:?} {error}");
        }
    }
}

#[test]
fn weights_are_those_of_the_matrix() {
    for mechanism in [NoiseMechanism::Gaussian, NoiseMechanism::Tree, BANDED] {
        let strategy = NoiseStrategy::new(mechanism, 13);
        let matrix = matrix(mechanism, 13);
        for rounds in [vec![0], vec![12], vec![2, 7, 8]] {
            let mut dense = [0.0; 13];
            for (round, weight) in strategy.weights(&rounds) {
                dense[round] = weight;
            }
            for (round, weight) in dense.into_iter().enumerate() {
                let entries = matrix.iter().map(|row| {
                    row[round] * rounds.iter().map(|&round| row[round as usize]).sum::<f64>()
                });
                assert!((entries.sum::<f64>() - weight).abs() < 1e-12, "{mechanism:?} {round}");
            }
        }
    }
}

/// The largest ‖S·1_R‖ over all subsets R of 12 rounds that a participation allows.
fn largest(mechanism: NoiseMechanism, participation: Participation) -> f64 {
    let matrix = matrix(mechanism, 12);
    let is_allowed = |rounds: &[usize]| match participation {
        Participation::Poisson { .. } | Participation::FixedSize { .. } => true,
        Participation::Shuffled { epochs } => {
            let per_epoch = 12 / epochs as usize;
            (0..epochs as usize).all(|epoch| {
                rounds.iter().filter(|&&round| round / per_epoch == epoch).count() == 1
            })
        }
        Participation::MinSeparation { epochs } => {
            let per_epoch = 12 / epochs as usize;
            rounds.len() == epochs as usize
                && rounds.iter().all(|round| round % per_epoch == rounds[0] % per_epoch)
        }
    };
    let subsets = (1..1_usize << 12)
        .map(|bits| (0..12).filter(|round| bits >> round & 1 == 1).collect::<Vec<usize>>());
    let squares =
        subsets.filter(|rounds| is_allowed(rounds)).map(|rounds| square(&matrix, &rounds));
    squares.fold(0.0, f64::max).sqrt()
}

#[test]
fn sensitivities_are_those_of_the_worst_participation() {
    for mechanism in [NoiseMechanism::Gaussian, NoiseMechanism::Tree, BANDED] {
        let strategy = NoiseStrategy::new(mechanism, 12);
        for epochs in [1, 2, 3, 4] {
            let participation = Participation::MinSeparation { epochs };
            let found = strategy.l2_sensitivity(participation, None);
            assert!((found - largest(mechanism, participation)).abs() < 1e-12);
            let participation = Participation::Shuffled { epochs };
            let found = strategy.l2_sensitivity(participation, None);
            let largest = largest(mechanism, participation);
            let most = if epochs == 1 { largest + 1e-12 } else { 1.3 * largest };
            assert!((largest - 1e-12..=most).contains(&found), "{mechanism:?} {found} {largest}");
        }
        let poisson = Participation::Poisson { rate: 0.5 };
        let found = strategy.l2_sensitivity(poisson, None);
        assert!((found - largest(mechanism, poisson)).abs() < 1e-12);
        // canaries in rounds 0, 4, 8 or 1, 5, 9 and so on
        let once = Participation::MinSeparation { epochs: 1 };
        let found = strategy.l2_sensitivity(once, Some(3));
        let same = largest(mechanism, Participation::MinSeparation { epochs: 3 });
        assert!((found - same).abs() < 1e-12);
    }
}

#[test]
fn sensitivities_have_their_closed_forms() {
    let once = Participation::MinSeparation { epochs: 1 };
    for (rounds, nodes) in [(16, 5.0_f64), (12, 4.0), (1, 1.0)] {
        let tree = NoiseStrategy::new(NoiseMechanism::Tree, rounds);
        assert_eq!(tree.l2_sensitivity(once, None), nodes.sqrt(), "{rounds}");
    }
    // columns of participations at least as far apart as there are bands are orthogonal
    let thrice = |bands| {
        let strategy = NoiseStrategy::new(NoiseMechanism::Banded { bands }, 24);
        strategy.l2_sensitivity(once, Some(3))
    };
    assert!((thrice(8) - 3.0_f64.sqrt()).abs() < 1e-12);
    assert!(thrice(9) > 3.0_f64.sqrt() + 1e-3);
}
