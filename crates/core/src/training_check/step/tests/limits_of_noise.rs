//! Limits of the noise of steps, and how often they accuse correct noise.

use super::*;

/// One of 1,000 records with 8 sums of 4 small tensors may have a finding; limits that are not divided
/// by the number of tests find about 12.
#[test]
fn correct_noise_rarely_has_a_finding() {
    const SMALL: [usize; 4] = [9, 16, 40, 12];
    let limits = |dimension: usize| NoiseLimits::new(dimension as u64, 1);
    let undivided_limits = [limits(77), limits(72), limits(128), limits(320), limits(96)];
    let mut record = correct();
    record.tensors =
        SMALL.map(|size| TrainedTensor { name: String::new(), size: size as u64 }).into();
    record.original.steps = vec![record.original.steps[1].clone(); 8];
    let (mut with_finding, mut undivided) = (0, 0);
    for stream in 0..1_000 {
        let noise = measured(&draws(100 + stream, 8, &SMALL, Words::normal));
        let squares = |cells: &mut dyn Iterator<Item = &TensorNoise>| {
            cells.map(|cell| cell.powers[1]).sum::<f64>()
        };
        let steps = noise.iter().map(|cells| (squares(&mut cells.iter()), undivided_limits[0]));
        let tensors = (0..SMALL.len()).map(|at| {
            (squares(&mut noise.iter().map(|cells| &cells[at])), undivided_limits[at + 1])
        });
        let is_outside =
            |(sum, limits): (f64, NoiseLimits)| !(limits.lower..=limits.upper).contains(&sum);
        undivided += usize::from(steps.chain(tensors).any(is_outside));
        record.noise = noise;
        let (findings, _) = noise::examine(&record).unwrap();
        with_finding += usize::from(!findings.is_empty());
    }
    assert!(with_finding <= 5, "{with_finding}");
    assert!(undivided > 5, "{undivided}");
}

/// At 1e-3, the normal limits accuse about 38 of 8,000 correct vectors, the cube root 14.
#[test]
fn kurtosis_of_short_vectors_needs_the_cube_root() {
    let limits = NoiseLimits::new(256, 1);
    let score = -normal::quantile(5e-4);
    let mut words = Words::new(4, Purpose::Test, 0);
    let mut accused = [0; 2];
    for _ in 0..8_000 {
        let values: [f64; 256] = std::array::from_fn(|_| words.normal());
        let mean = values.iter().sum::<f64>() / 256.0;
        let moment = |power| values.iter().map(|x| powi(x - mean, power)).sum::<f64>() / 256.0;
        let kurtosis = moment(4) / powi(moment(2), 2);
        accused[0] += i32::from(kurtosis_score(256, kurtosis).abs() > score);
        accused[1] += i32::from((kurtosis - 3.0).abs() > limits.kurtosis);
    }
    assert!(accused[0] < 26 && accused[1] > 26, "{accused:?}");
}

/// Values of scipy.stats.kurtosistest for (i − 150)³ and i, i = 0, …, 299.
#[test]
fn kurtosis_scores_equal_those_of_scipy() {
    for (kurtosis, expected) in
        [(3.769111001322482, 2.2940435434686672), (1.7999733330370338, -12.726125244176828)]
    {
        let score = kurtosis_score(300, kurtosis);
        assert!((score - expected).abs() < 1e-12, "{kurtosis}: {score}");
    }
    assert_eq!(kurtosis_score(256, 1.0), f64::NEG_INFINITY);
}

#[test]
fn quantiles_join_where_the_expansion_begins() {
    for half in [0.025, 5e-6, 5e-9] {
        let below = limits::chi_square_quantiles(99_999.0, half);
        let above = limits::chi_square_quantiles(100_000.0, half);
        for (below, above) in below.into_iter().zip(above) {
            assert!((above - below - 1.0).abs() < 0.02, "{half}: {below} {above}");
        }
    }
}
