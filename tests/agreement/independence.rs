//! Size of the independence checks when runs are independent, and power when they are not.

use dpscope_core::{
    adjacency::World,
    mechanism::{BatchSampler, BatchedGaussian, OutputOptions, OutputScorer, ThreatModel},
    recorded::independence::{
        FINDING_BELOW, IndependenceCheck, RecordedRuns, RunIndex, duplicated_runs,
        lag_one_correlation, repeated_positions_over_epochs, repeated_positions_over_runs,
        shared_noise,
    },
};
use dpscope_tests::Draws;

use crate::samplers::run;

fn mechanism(sampler: BatchSampler) -> BatchedGaussian {
    BatchedGaussian {
        noise_multiplier: 1.0,
        steps_per_epoch: 20,
        epochs: 5,
        sampler,
        threat_model: ThreatModel::PartiallyInformed,
        batch_size: Some(2),
        dataset_size: None,
    }
}

fn record(m: &BatchedGaussian, world: World, runs: usize, draws: &mut Draws) -> Vec<f64> {
    (0..runs).flat_map(|_| run(m, world, draws)).collect()
}

fn view<'a>(m: &BatchedGaussian, values: &'a [f64]) -> RecordedRuns<'a> {
    RecordedRuns::new(values, m.epochs as usize, m.steps_per_epoch as usize).unwrap()
}

/// Whether the share of p-values up to `level` is within 4 standard deviations of `level`.
fn size_is(p_values: &[f64], level: f64) -> bool {
    size_at_most(p_values, level)
        && size_at_most(&p_values.iter().map(|p| 1.0 - p).collect::<Vec<_>>(), 1.0 - level)
}

/// Whether the share of p-values up to `level` is at most `level`, within 4 standard deviations:
/// all that a discrete p-value promises.
fn size_at_most(p_values: &[f64], level: f64) -> bool {
    let n = p_values.len() as f64;
    let share = p_values.iter().filter(|p| **p <= level).count() as f64 / n;
    share < level + 4.0 * (level * (1.0 - level) / n).sqrt()
}

/// Half the p-values, twice the false alarms.
fn halved(p_values: &[f64]) -> Vec<f64> {
    p_values.iter().map(|p| p / 2.0).collect()
}

fn p_values(count: u64, check: impl Fn(&mut Draws) -> IndependenceCheck) -> Vec<f64> {
    (0..count).map(|seed| check(&mut Draws::new(1_000 + seed)).p_value).collect()
}

fn found(check: &IndependenceCheck) -> bool {
    assert_eq!(check.finding.is_some(), check.p_value <= FINDING_BELOW);
    check.finding.is_some()
}

#[test]
fn repeated_permutations_are_detected() {
    let fresh = mechanism(BatchSampler::Shuffle);
    for world in World::BOTH {
        for runs in [2, 30] {
            let p = p_values(600, |draws| {
                let values = record(&fresh, world, runs, draws);
                repeated_positions_over_epochs(view(&fresh, &values))
            });
            assert!(size_at_most(&p, 0.2) && size_at_most(&p, 0.01));
        }
    }
    // Broken twins of the input: one permutation for all epochs; the weaker the noise multiplier
    // makes the target, the more runs it takes.
    for (noise_multiplier, runs) in [(1.0, 10), (2.0, 200)] {
        let m = BatchedGaussian { noise_multiplier, ..mechanism(BatchSampler::PersistentShuffle) };
        let values = record(&m, World::Target, runs, &mut Draws::new(1));
        assert!(found(&repeated_positions_over_epochs(view(&m, &values))), "{m}");
        let twin = BatchedGaussian { sampler: BatchSampler::Shuffle, ..m };
        let values = record(&twin, World::Target, runs, &mut Draws::new(1));
        assert!(!found(&repeated_positions_over_epochs(view(&twin, &values))), "{twin}");
    }
}

#[test]
fn positions_are_exactly_binomial() {
    // Three epochs of two steps in one run: two guesses, p = ¼ exactly when both hit.
    let p = p_values(20_000, |draws| {
        let values: Vec<f64> = (0..6).map(|_| draws.normal()).collect();
        repeated_positions_over_epochs(RecordedRuns::new(&values, 3, 2).unwrap())
    });
    for level in [0.25, 0.75] {
        assert!(size_is(&p, level + 1e-9));
    }
    assert!(!size_is(&halved(&p), 0.75));
}

#[test]
fn one_loader_seed_for_all_runs_is_detected() {
    let fresh = mechanism(BatchSampler::Shuffle);
    let p = p_values(600, |draws| {
        let values = record(&fresh, World::Target, 30, draws);
        repeated_positions_over_runs(view(&fresh, &values))
    });
    assert!(size_at_most(&p, 0.2));

    let fixed = mechanism(BatchSampler::Deterministic);
    let values = record(&fixed, World::Target, 10, &mut Draws::new(2));
    assert!(found(&repeated_positions_over_runs(view(&fixed, &values))));
    // One permutation a run, another in each run: repeated over epochs, not over runs.
    let persistent = mechanism(BatchSampler::PersistentShuffle);
    let values = record(&persistent, World::Target, 100, &mut Draws::new(2));
    assert!(!found(&repeated_positions_over_runs(view(&persistent, &values))));
}

#[test]
fn duplicated_runs_are_detected() {
    let m = mechanism(BatchSampler::Shuffle);
    let mut draws = Draws::new(3);
    let target = record(&m, World::Target, 3_000, &mut draws);
    let zero_out = record(&m, World::ZeroOut, 3_000, &mut draws);
    let honest = duplicated_runs(view(&m, &target), view(&m, &zero_out)).unwrap();
    assert_eq!((honest.check.statistic, found(&honest.check)), (0.0, false));

    let mut twin = zero_out;
    twin[700 * 100..701 * 100].copy_from_slice(&target[42 * 100..43 * 100]);
    let across = duplicated_runs(view(&m, &target), view(&m, &twin)).unwrap();
    assert!(found(&across.check));
    let place = |world, run| RunIndex { world, run };
    assert_eq!(across.examples, [[place(World::Target, 42), place(World::ZeroOut, 700)]]);
    twin[701 * 100 - 1] = 0.0;
    let nearly = duplicated_runs(view(&m, &target), view(&m, &twin)).unwrap();
    assert_eq!(nearly.check.statistic, 0.0);
}

#[test]
fn chance_duplicates_in_single_precision_are_not_reported() {
    let mut draws = Draws::new(4);
    let values: Vec<f64> = (0..40_000).map(|_| f64::from(draws.normal() as f32)).collect();
    let runs = RecordedRuns::new(&values, 1, 1).unwrap();
    let none = RecordedRuns::new(&[], 1, 1).unwrap();
    let by_chance = duplicated_runs(runs, none).unwrap();
    assert!(by_chance.check.statistic > 5.0, "{}", by_chance.check.statistic);
    assert!(!found(&by_chance.check), "{:?}", by_chance.check);
    // Broken twin: as many copies in double precision are no chance.
    let mut doubled: Vec<f64> = (0..40_000).map(|_| draws.normal()).collect();
    doubled.copy_within(0..20, 500);
    let copied = duplicated_runs(RecordedRuns::new(&doubled, 1, 1).unwrap(), none).unwrap();
    assert!(found(&copied.check), "{:?}", copied.check);
}

#[test]
fn lag_one_correlation_is_detected() {
    // Cubes of normals: heavy tails, which a correlation of the values cannot handle.
    for length in [20, 300] {
        let p = p_values(4_000, |draws| {
            let scores: Vec<f64> = (0..length)
                .map(|_| {
                    let z = draws.normal();
                    z * z * z
                })
                .collect();
            lag_one_correlation(&scores)
        });
        for level in [0.3, 0.05] {
            assert!(size_is(&p, level), "{length} scores at level {level}");
            assert!(!size_is(&halved(&p), level));
        }
        assert!(size_at_most(&p, 0.01));
    }
    // Broken twins of the input: an autoregression of coefficient 0.2, and its mirror image.
    for coefficient in [0.2, -0.2] {
        let mut draws = Draws::new(5);
        let mut score = 0.0;
        let scores: Vec<f64> = (0..2_000)
            .map(|_| {
                score = coefficient * score + draws.normal();
                score
            })
            .collect();
        let check = lag_one_correlation(&scores);
        assert!(found(&check) && check.statistic * coefficient > 0.0, "{check:?}");
    }
}

#[test]
fn scores_of_independent_runs_pass_and_of_a_warm_start_do_not() {
    let m = mechanism(BatchSampler::Shuffle);
    let scorer = OutputScorer::new(&m, OutputOptions::default()).unwrap();
    let values = record(&m, World::Target, 1_000, &mut Draws::new(6));
    let score = |values: &[f64]| -> Vec<f64> {
        values.chunks(100).map(|run| scorer.score(run).unwrap()).collect()
    };
    assert!(!found(&lag_one_correlation(&score(&values))));
    // Each run repeats two epochs of the previous one.
    let mut warm = values;
    for start in (0..99_900).step_by(100) {
        warm.copy_within(start + 60..start + 100, start + 100);
    }
    assert!(found(&lag_one_correlation(&score(&warm))));
}

/// The outputs of D′ that a run of D would have had with its own noise and order of steps.
fn same_noise(target: &[f64], m: &BatchedGaussian, draws: &mut Draws) -> Vec<f64> {
    let slots = m.steps_per_epoch as usize;
    let mut outputs = target.to_vec();
    outputs.chunks_mut(slots).for_each(|epoch| epoch[draws.below(slots)] -= 1.0);
    outputs
}

#[test]
fn shared_noise_between_worlds_is_detected() {
    let m = mechanism(BatchSampler::Shuffle);
    for runs in [4, 10, 60] {
        let p = p_values(1_500, |draws| {
            let target = record(&m, World::Target, runs, draws);
            let zero_out = record(&m, World::ZeroOut, runs, draws);
            shared_noise(view(&m, &target), view(&m, &zero_out)).unwrap()
        });
        for level in [0.2, 0.05] {
            assert!(size_is(&p, level), "{runs} runs at level {level}");
            assert!(!size_is(&halved(&p), level));
        }
    }
    let mut draws = Draws::new(7);
    let target = record(&m, World::Target, 12, &mut draws);
    let zero_out = same_noise(&target, &m, &mut draws);
    assert!(found(&shared_noise(view(&m, &target), view(&m, &zero_out)).unwrap()));
    // Part of the noise in common, and a single output a run.
    let single = BatchedGaussian { steps_per_epoch: 1, epochs: 1, ..m };
    let common: Vec<f64> = (0..2_000).map(|_| draws.normal()).collect();
    let mut world =
        |share: f64| -> Vec<f64> { common.iter().map(|z| share * z + draws.normal()).collect() };
    let (left, right) = (world(0.5), world(0.5));
    assert!(found(&shared_noise(view(&single, &left), view(&single, &right)).unwrap()));
    let (left, right) = (world(0.0), world(0.5));
    assert!(!found(&shared_noise(view(&single, &left), view(&single, &right)).unwrap()));
}
