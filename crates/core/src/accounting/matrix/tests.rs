//! Strategies against dense matrices and every participation of a few steps.

use super::*;
use crate::accounting::AccountingError;
use crate::format::given;
use crate::math;

const STEPS: u32 = 10;

/// C, row by row, from its columns.
fn dense(strategy: &MatrixStrategy) -> Vec<Vec<f64>> {
    let mut rows = vec![vec![0.0; strategy.steps()]; strategy.steps()];
    (0..strategy.steps()).for_each(|step| {
        strategy.column(step).for_each(|(row, entry)| rows[row][step] = entry);
    });
    rows
}

fn lower_triangular(steps: usize, entry: impl Fn(usize, usize) -> f64) -> MatrixStrategy {
    let entries: Vec<f64> = (0..steps * steps)
        .map(|at| (at / steps, at % steps))
        .map(|(row, column)| if column <= row { entry(row, column) } else { 0.0 })
        .collect();
    MatrixStrategy::lower_triangular(steps, &entries).unwrap()
}

fn buffers() -> LinearBuffers {
    LinearBuffers::new(&[0.9, 0.3], &[0.2, 0.3]).unwrap()
}

/// Entries without a pattern, in [0, 1).
fn scattered(row: usize, column: usize) -> f64 {
    ((row * 31 + column * 17 + row * column * 7) % 23) as f64 / 23.0
}

fn strategies() -> Vec<MatrixStrategy> {
    let toeplitz = |coefficients: &[f64]| MatrixStrategy::toeplitz(STEPS, coefficients).unwrap();
    let steps = STEPS as usize;
    vec![
        MatrixStrategy::identity(STEPS),
        MatrixStrategy::tree(STEPS),
        MatrixStrategy::banded_square_root(STEPS, 4),
        MatrixStrategy::buffered(STEPS, buffers()).unwrap(),
        toeplitz(&[0.5, 0.8, 0.1]),
        toeplitz(&[1.0, -0.6, 0.3, -0.2, 0.1]),
        lower_triangular(steps, |row, column| scattered(row, column) + 0.05),
        lower_triangular(steps, |row, column| scattered(row, column) - 0.45),
        lower_triangular(
            steps,
            |row, column| if row < column + 2 { 1.0 + row as f64 } else { 0.0 },
        ),
    ]
}

fn participations() -> Vec<MatrixParticipation> {
    use MatrixParticipation::{Epochs, MinSeparation, Shuffled, Single};
    let mut all = vec![Single];
    for epochs in [1, 2, 5, 10] {
        all.extend([Epochs { epochs }, Shuffled { epochs }]);
    }
    for separation in [1, 2, 3, 4, 7] {
        for participations in [None, Some(1), Some(2)] {
            all.push(MinSeparation { separation, participations });
        }
    }
    all
}

/// Every set of steps that a participation allows.
fn patterns(participation: &MatrixParticipation) -> Vec<Vec<usize>> {
    let steps = STEPS as usize;
    let is_allowed = |set: &[usize]| match *participation {
        MatrixParticipation::Single => set.len() == 1,
        MatrixParticipation::Epochs { epochs } => {
            let length = steps / epochs as usize;
            set.len() == epochs as usize && set.iter().all(|s| s % length == set[0] % length)
        }
        MatrixParticipation::Shuffled { epochs } => {
            let length = steps / epochs as usize;
            set.len() == epochs as usize && set.windows(2).all(|p| p[0] / length != p[1] / length)
        }
        MatrixParticipation::MinSeparation { separation, participations } => {
            set.len() <= participations.unwrap_or(STEPS) as usize
                && set.windows(2).all(|p| p[1] - p[0] >= separation as usize)
        }
        MatrixParticipation::CyclicPoisson { .. } => false,
    };
    let sets = (1..1_usize << steps)
        .map(|bits| (0..steps).filter(|step| bits >> step & 1 == 1).collect::<Vec<usize>>());
    sets.filter(|set| is_allowed(set)).collect()
}

/// max ‖Σ C_r ⊗ u_r‖² over updates in three dimensions: the best of some searches from unequal starts.
fn most_shown(matrix: &[Vec<f64>], set: &[usize]) -> f64 {
    let product = |a: usize, b: usize| matrix.iter().map(|row| row[a] * row[b]).sum::<f64>();
    let gram: Vec<Vec<f64>> =
        set.iter().map(|&a| set.iter().map(|&b| product(a, b)).collect()).collect();
    let normalised = |u: [f64; 3]| {
        let length = u.iter().map(|x| x * x).sum::<f64>().sqrt().max(1e-300);
        u.map(|x| x / length)
    };
    let mut most = 0.0_f64;
    for start in 0..6 {
        let turn = |at: usize| (start * (at * at + 3 * at)) as f64;
        let unequal = |at| [1.0, math::sin(turn(at)), math::cos(turn(at)) - 1.0];
        let mut updates: Vec<[f64; 3]> = (0..set.len()).map(|at| normalised(unequal(at))).collect();
        // a convex function: each update in turn follows its gradient
        for _ in 0..if start == 0 { 1 } else { 12 } {
            for at in 0..set.len() {
                let sum =
                    |axis: usize| (0..set.len()).map(|o| gram[at][o] * updates[o][axis]).sum();
                updates[at] = normalised([0, 1, 2].map(sum));
            }
        }
        let inner = |a: usize, b: usize| (0..3).map(|x| updates[a][x] * updates[b][x]).sum::<f64>();
        let pairs = (0..set.len()).flat_map(|a| (0..set.len()).map(move |b| (a, b)));
        most = most.max(pairs.map(|(a, b)| gram[a][b] * inner(a, b)).sum());
    }
    most
}

/// How often a sensitivity is below what some participant shows, and how often it is above although
/// exact.
fn faults(of: impl Fn(&MatrixStrategy, &MatrixParticipation) -> (f64, bool)) -> [usize; 2] {
    let mut faults = [0, 0];
    let sets: Vec<_> = participations().iter().map(|p| (*p, patterns(p))).collect();
    for strategy in strategies() {
        let matrix = dense(&strategy);
        for (participation, sets) in &sets {
            let truth = sets.iter().map(|set| most_shown(&matrix, set)).fold(0.0, f64::max).sqrt();
            let (worst, is_exact) = of(&strategy, participation);
            faults[0] += usize::from(worst < truth * (1.0 - 1e-9));
            faults[1] += usize::from(is_exact && worst > truth * (1.0 + 1e-4));
        }
    }
    faults
}

#[test]
fn sensitivities_are_those_of_every_participation() {
    let found = |strategy: &MatrixStrategy, participation: &MatrixParticipation| {
        let found = strategy.l2_sensitivity(participation).unwrap();
        (found.worst, found.is_exact)
    };
    assert_eq!(faults(found), [0, 0]);
    // the first column for the largest one
    let first = |strategy: &MatrixStrategy, participation: &MatrixParticipation| match participation
    {
        MatrixParticipation::Single => (strategy.norm(&[0]), true),
        _ => found(strategy, participation),
    };
    assert!(faults(first)[0] > 0);
    // columns taken to be orthogonal although bands overlap
    let orthogonal = |strategy: &MatrixStrategy, participation: &MatrixParticipation| {
        let count = participation.spread(STEPS as usize).participations as f64;
        (strategy.largest_column_norm() * count.sqrt(), false)
    };
    assert!(faults(orthogonal)[0] > 0);
    // one participation for several
    let once = |strategy: &MatrixStrategy, _: &MatrixParticipation| {
        (strategy.largest_column_norm(), false)
    };
    assert!(faults(once)[0] > 0);
    // equal updates although products of columns are negative
    let equal = |strategy: &MatrixStrategy, participation: &MatrixParticipation| {
        let mut seen = vec![0.0; strategy.steps()];
        let of = |set: Vec<usize>| strategy.square(set.into_iter(), &mut seen);
        (patterns(participation).into_iter().map(of).fold(0.0, f64::max).sqrt(), false)
    };
    assert!(faults(equal)[0] > 0);
    // the square for the norm
    let square = |strategy: &MatrixStrategy, participation: &MatrixParticipation| {
        let (worst, is_exact) = found(strategy, participation);
        (worst * worst, is_exact)
    };
    assert!(faults(square)[1] > 0);
}

impl MatrixStrategy {
    fn largest_column_norm(&self) -> f64 {
        self.l2_sensitivity(&MatrixParticipation::Single).unwrap().worst
    }
}

#[test]
fn allowed_steps_are_those_of_some_pattern() {
    for participation in participations() {
        let patterns = patterns(&participation);
        for bits in 1..1_usize << STEPS {
            let set: Vec<u32> = (0..STEPS).filter(|step| bits >> step & 1 == 1).collect();
            let is_part =
                |pattern: &Vec<usize>| set.iter().all(|&step| pattern.contains(&(step as usize)));
            let expected = patterns.iter().any(is_part);
            assert_eq!(participation.allows(&set, STEPS), expected, "{participation:?} {set:?}");
        }
        assert!(!participation.allows(&[], STEPS) && !participation.allows(&[3, 3], STEPS));
        assert!(!participation.allows(&[STEPS], STEPS));
    }
}

#[test]
fn bounds_are_not_far_from_searches() {
    for strategy in strategies() {
        let matrix = dense(&strategy);
        for participation in participations() {
            let sets = patterns(&participation);
            let truth = sets.iter().map(|set| most_shown(&matrix, set)).fold(0.0, f64::max).sqrt();
            let found = strategy.l2_sensitivity(&participation).unwrap().worst;
            assert!(found < 1.45 * truth, "{participation:?} {found} {truth} {strategy:?}");
        }
    }
}

#[test]
fn errors_are_those_of_dense_matrices() {
    for strategy in strategies() {
        let matrix = dense(&strategy);
        let same = lower_triangular(STEPS as usize, |row, column| matrix[row][column]);
        let [found, expected] = [&strategy, &same].map(|s| s.prefix_error().unwrap());
        let close = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-12;
        assert!(close(found.root_mean_square, expected.root_mean_square), "{strategy:?}");
        assert!(close(found.largest, expected.largest), "{strategy:?}");
        // bands of the inverse, by products
        assert_eq!(strategy.bands(), same.bands(), "{strategy:?}");
    }
    // independent noise: √t after t steps
    let identity = MatrixStrategy::identity(9).prefix_error().unwrap();
    assert!(
        (identity.largest - 3.0).abs() < 1e-15
            && (identity.root_mean_square - 5.0_f64.sqrt()).abs() < 1e-14
    );
}

/// The product of sensitivity and error of a Toeplitz matrix.
fn cost(coefficients: &[f64], objective: PrefixObjective) -> f64 {
    let strategy = MatrixStrategy::toeplitz(40, coefficients).unwrap();
    let error = strategy.prefix_error().unwrap();
    let error = match objective {
        PrefixObjective::Mean => error.root_mean_square,
        PrefixObjective::Largest => error.largest,
    };
    error * strategy.norm(&[0])
}

/// Whether no change of one coefficient, or of two neighbours, makes the error smaller.
fn is_minimum(coefficients: &[f64], objective: PrefixObjective) -> bool {
    let least = cost(coefficients, objective);
    let is_larger = |at: usize, change: f64, next: f64| {
        let mut changed = coefficients.to_vec();
        changed[at] += change;
        if let Some(entry) = changed.get_mut(at + 1) {
            *entry += next;
        }
        cost(&changed, objective) > least
    };
    (0..coefficients.len()).all(|at| {
        [1e-3, -1e-3].iter().all(|&change| {
            is_larger(at, change, 0.0)
                && is_larger(at, change, change)
                && is_larger(at, change, -change)
        })
    })
}

#[test]
fn no_smaller_error_is_near_an_optimum() {
    for objective in [PrefixObjective::Mean, PrefixObjective::Largest] {
        for bands in [1, 2, 5, 12] {
            let design = StrategyDesign::BandedOptimised { bands, objective };
            let strategy = design.build(40, &MatrixParticipation::Single).unwrap();
            let found = strategy.coefficients().unwrap();
            assert_eq!(found.len(), bands as usize);
            assert!(bands == 1 || is_minimum(found, objective), "{objective:?} {found:?}");
            let root = MatrixStrategy::banded_square_root(40, bands);
            assert!(bands == 1 || !is_minimum(root.coefficients().unwrap(), objective));
        }
        // buffers: neither another decay nor another scale
        let design = StrategyDesign::BufferedOptimised { buffers: 2, objective };
        let strategy = design.build(40, &MatrixParticipation::Single).unwrap();
        let found = strategy.buffers().unwrap();
        let of = |decays: &[f64], scales: &[f64]| {
            cost(&LinearBuffers::new(decays, scales).unwrap().coefficients(40), objective)
        };
        let least = of(found.decays(), found.output_scales());
        for (at, change) in [(0, 1e-3), (1, 1e-3), (0, -1e-3), (1, -1e-3)] {
            let (mut decays, mut scales) =
                (found.decays().to_vec(), found.output_scales().to_vec());
            decays[at] += change;
            assert!(of(&decays, found.output_scales()) > least, "{objective:?} {found:?}");
            scales[at] += change;
            assert!(of(found.decays(), &scales) > least, "{objective:?} {found:?}");
        }
    }
}

#[test]
fn all_bands_of_the_least_largest_error_are_the_square_root() {
    let objective = PrefixObjective::Largest;
    let design = StrategyDesign::BandedOptimised { bands: 16, objective };
    let found = design.build(16, &MatrixParticipation::Single).unwrap();
    let root = MatrixStrategy::banded_square_root(16, 16);
    let pairs = found.coefficients().unwrap().iter().zip(root.coefficients().unwrap());
    let distance = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(distance < 1e-5, "{distance}");
}

#[test]
fn buffers_are_optimised_for_their_participation() {
    let participation = MatrixParticipation::Epochs { epochs: 8 };
    let design = StrategyDesign::BufferedOptimised { buffers: 3, objective: PrefixObjective::Mean };
    let cost = |built_for| {
        let strategy = design.build(64, &built_for).unwrap();
        let found = strategy.l2_sensitivity(&participation).unwrap();
        assert!(found.is_exact);
        found.worst * strategy.prefix_error().unwrap().root_mean_square
    };
    let [own, other] = [participation, MatrixParticipation::Single].map(cost);
    assert!(own < 0.97 * other, "{own} {other}");
}

#[test]
fn worst_and_last_participants_are_those_of_the_tree() {
    let tree = MatrixStrategy::tree(16);
    let mechanism = MatrixMechanism::new(&tree, MatrixParticipation::Single).unwrap();
    let account = mechanism.account(2.0, 1e-5).unwrap();
    let last = account.last.unwrap();
    assert!((account.gdp_mu.unwrap() - 5.0_f64.sqrt() / 2.0).abs() < 1e-12);
    assert!((last.gdp_mu - 0.5).abs() < 1e-12);
    assert!(last.epsilon < 0.5 * account.epsilon);
    let lower = account.epsilon_lower.unwrap();
    assert!(lower <= account.epsilon && lower > account.epsilon * (1.0 - 1e-9));
    let steps = mechanism.account_steps(&[15], 2.0, 1e-5).unwrap();
    assert!((steps.gdp_mu - last.gdp_mu).abs() < 1e-12);
    // deterministic batches
    let identity = MatrixStrategy::identity(20);
    let epochs = MatrixParticipation::Epochs { epochs: 4 };
    let mechanism = MatrixMechanism::new(&identity, epochs).unwrap();
    assert!((mechanism.account(1.0, 1e-5).unwrap().gdp_mu.unwrap() - 2.0).abs() < 1e-12);
}

#[test]
fn calibrated_noise_reaches_the_target() {
    let strategy = MatrixStrategy::banded_square_root(40, 5);
    for participation in [
        MatrixParticipation::Single,
        MatrixParticipation::MinSeparation { separation: 2, participations: Some(3) },
        MatrixParticipation::CyclicPoisson { groups: 8, sampling_rate: 0.2 },
    ] {
        let mechanism = MatrixMechanism::new(&strategy, participation).unwrap();
        for epsilon in [0.5, 4.0] {
            let sigma = mechanism.noise_for(epsilon, 1e-5).unwrap();
            let at = |sigma: f64| mechanism.account(sigma, 1e-5).unwrap().epsilon;
            assert!(at(sigma) <= epsilon, "{participation:?}");
            let shown = given(sigma);
            assert!(shown.len() <= 8 && shown.parse() == Ok(sigma), "{participation:?}: {shown}");
            assert!(at(0.999 * sigma) > epsilon, "{participation:?}");
        }
        assert!(mechanism.noise_for(0.0, 1e-5).is_err() && mechanism.noise_for(1.0, 0.0).is_err());
    }
}

/// δ of a participant in two steps with products of columns g, each with probability q, at noise 1:
/// the larger of both directions, by the midpoint rule in the plane of both columns.
fn mixture_delta([g00, g01, g11]: [f64; 3], rate: f64, epsilon: f64) -> f64 {
    let x = [g00.sqrt(), 0.0];
    let y = [g01 / x[0], (g11 - g01 * g01 / g00).sqrt()];
    let means = [
        ([0.0, 0.0], (1.0 - rate) * (1.0 - rate)),
        (x, rate * (1.0 - rate)),
        (y, rate * (1.0 - rate)),
        ([x[0] + y[0], x[1] + y[1]], rate * rate),
    ];
    let (width, factor) = (0.02, math::exp(epsilon));
    let density = |at: [f64; 2], mean: [f64; 2]| {
        let square = (at[0] - mean[0]) * (at[0] - mean[0]) + (at[1] - mean[1]) * (at[1] - mean[1]);
        math::exp(-0.5 * square) / std::f64::consts::TAU
    };
    let mut deltas = [0.0; 2];
    for i in -300..500 {
        for j in -300..500 {
            let at = [(f64::from(i) + 0.5) * width, (f64::from(j) + 0.5) * width];
            let absent = density(at, [0.0, 0.0]);
            let present: f64 = means.iter().map(|&(mean, weight)| weight * density(at, mean)).sum();
            deltas[0] += (present - factor * absent).max(0.0) * width * width;
            deltas[1] += (absent - factor * present).max(0.0) * width * width;
        }
    }
    deltas[0].max(deltas[1])
}

#[test]
fn cyclic_sampling_is_that_of_its_blocks() {
    let (rate, delta) = (0.3, 0.02);
    let participation = MatrixParticipation::CyclicPoisson { groups: 2, sampling_rate: rate };
    let products = |strategy: &MatrixStrategy| {
        [(0, 0), (0, 2), (2, 2)].map(|(a, b)| {
            let matrix = dense(strategy);
            matrix.iter().map(|row| row[a] * row[b]).sum::<f64>()
        })
    };
    let disjoint = MatrixStrategy::toeplitz(4, &[0.8, 0.6]).unwrap();
    let mechanism = MatrixMechanism::new(&disjoint, participation).unwrap();
    let account = mechanism.account(1.0, delta).unwrap();
    let of_mixture = mixture_delta(products(&disjoint), rate, account.epsilon);
    assert!((of_mixture / delta - 1.0).abs() < 1e-3, "{of_mixture}");
    let below = mixture_delta(products(&disjoint), rate, account.epsilon_lower.unwrap());
    assert!(below >= delta * (1.0 - 1e-3), "{below}");
    // three bands of the same norm for two groups overlap, and show more
    let overlapping = MatrixStrategy::toeplitz(5, &[0.6, 0.4, 0.48_f64.sqrt()]).unwrap();
    let more = mixture_delta(products(&overlapping), rate, account.epsilon);
    assert!(more > 1.05 * delta, "{more}");
    assert!(matches!(
        MatrixMechanism::new(&overlapping, participation),
        Err(AccountingError::Argument { name: "groups", .. })
    ));
}

#[test]
fn large_toeplitz_strategies_are_never_formed() {
    let steps = 100_000;
    let epochs = MatrixParticipation::Epochs { epochs: 10 };
    let root = MatrixStrategy::banded_square_root(steps, 1_000);
    let found = root.l2_sensitivity(&epochs).unwrap();
    assert!((found.worst - 10.0_f64.sqrt()).abs() < 1e-9 && found.is_exact);
    assert!(root.prefix_error().unwrap().largest > 1.0);
    let blt = MatrixStrategy::buffered(steps, buffers()).unwrap();
    assert!(blt.l2_sensitivity(&epochs).unwrap().worst > 3.0);
}

#[test]
fn arguments_outside_their_domain_are_rejected() {
    let name = |result: Result<(), AccountingError>| match result {
        Err(AccountingError::Argument { name, .. }) => name,
        other => panic!("{other:?}"),
    };
    let single = MatrixParticipation::Single;
    let build = |design: StrategyDesign, steps| name(design.build(steps, &single).map(|_| ()));
    assert_eq!(build(StrategyDesign::Tree, 0), "steps");
    assert_eq!(build(StrategyDesign::Identity, 1_000_001), "steps");
    for bands in [0, 11] {
        assert_eq!(build(StrategyDesign::BandedSquareRoot { bands }, 10), "bands");
        let objective = PrefixObjective::Mean;
        assert_eq!(build(StrategyDesign::BandedOptimised { bands, objective }, 10), "bands");
    }
    let objective = PrefixObjective::Mean;
    let large = StrategyDesign::BandedOptimised { bands: 1_000, objective };
    assert_eq!(build(large, 100_000), "bands");
    for buffers in [0, 9] {
        let design = StrategyDesign::BufferedOptimised { buffers, objective };
        assert_eq!(build(design, 10), "buffers");
    }
    for (decays, scales, expected) in [
        (vec![], vec![], "buffers"),
        (vec![0.5], vec![0.5, 0.1], "output_scale"),
        (vec![1.0], vec![0.5], "buffer_decay"),
        (vec![-0.1], vec![0.5], "buffer_decay"),
        (vec![f64::NAN], vec![0.5], "buffer_decay"),
        (vec![0.5], vec![-0.5], "output_scale"),
        (vec![0.5], vec![f64::INFINITY], "output_scale"),
    ] {
        assert_eq!(name(LinearBuffers::new(&decays, &scales).map(|_| ())), expected);
    }
    for (participation, expected) in [
        (MatrixParticipation::Epochs { epochs: 3 }, "epochs"),
        (MatrixParticipation::Shuffled { epochs: 0 }, "epochs"),
        (MatrixParticipation::MinSeparation { separation: 0, participations: None }, "separation"),
        (MatrixParticipation::MinSeparation { separation: 11, participations: None }, "separation"),
        (
            MatrixParticipation::MinSeparation { separation: 4, participations: Some(4) },
            "participations",
        ),
        (
            MatrixParticipation::MinSeparation { separation: 4, participations: Some(0) },
            "participations",
        ),
        (MatrixParticipation::CyclicPoisson { groups: 0, sampling_rate: 0.1 }, "groups"),
        (MatrixParticipation::CyclicPoisson { groups: 2, sampling_rate: 0.0 }, "sampling_rate"),
    ] {
        assert_eq!(name(participation.check(10)), expected, "{participation:?}");
    }
    for coefficients in [vec![], vec![0.0, 1.0], vec![1.0, f64::NAN], vec![1.0; 11]] {
        assert!(MatrixStrategy::toeplitz(10, &coefficients).is_err(), "{coefficients:?}");
    }
    // an unstable inverse: 4^T is beyond the largest number
    let unstable = MatrixStrategy::toeplitz(1_000, &[1.0, -4.0]).unwrap();
    assert_eq!(name(unstable.prefix_error().map(|_| ())), "steps");
    // a tree with separations costs the square of its steps
    let separated = MatrixParticipation::MinSeparation { separation: 10, participations: None };
    let tree = MatrixStrategy::tree(100_000);
    assert_eq!(name(tree.l2_sensitivity(&separated).map(|_| ())), "steps");
    let mechanism = MatrixMechanism::new(&tree, single).unwrap();
    assert_eq!(name(mechanism.account(0.0, 1e-5).map(|_| ())), "noise_multiplier");
    assert!(mechanism.account(1.0, 0.0).is_err() && mechanism.account(1.0, f64::NAN).is_err());
}

#[test]
fn faults_of_a_matrix_have_their_place() {
    let refused = |entries: &[f64]| MatrixStrategy::lower_triangular(2, entries).unwrap_err();
    for (entries, row, column) in [
        ([1.0, 0.0, f64::NAN, 1.0], 2, 1),
        ([1.0, 0.5, 0.0, 1.0], 1, 2),
        ([1.0, 0.0, 0.0, 0.0], 2, 2),
        ([f64::INFINITY, 0.0, 0.0, 1.0], 1, 1),
    ] {
        assert!(
            matches!(refused(&entries), StrategyMatrixError::Entry { row: r, column: c, .. }
                if (r, c) == (row, column)),
            "{entries:?}"
        );
    }
    assert!(matches!(refused(&[1.0; 3]), StrategyMatrixError::Shape { .. }));
    assert!(MatrixStrategy::lower_triangular(0, &[]).is_err());
    assert!(MatrixStrategy::lower_triangular(MOST_ROWS + 1, &[]).is_err());
}
