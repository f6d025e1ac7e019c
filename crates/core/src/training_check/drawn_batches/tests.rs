use super::*;
use crate::math;
use crate::training_check::{LoaderBatches, LoaderKind, OtherBatches};

/// Uniforms by the linear congruence of the reference data, from its state.
struct Uniforms(u64);

impl Uniforms {
    fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (((self.0 >> 12) as f64 + 0.5) / (1_u64 << 52) as f64 * bound as f64) as usize
    }

    fn is_below(&mut self, chance: f64) -> bool {
        (self.below(1 << 52) as f64) < chance * (1_u64 << 52) as f64
    }

    fn permutation(&mut self, n: usize) -> Vec<u32> {
        let mut order: Vec<u32> = (0..n as u32).collect();
        for last in (1..n).rev() {
            let other = self.below(last + 1);
            order.swap(last, other);
        }
        order
    }

    /// A buffer of `size` records that is filled in the order of the file.
    fn buffered(&mut self, n: usize, size: usize) -> Vec<u32> {
        let mut held: Vec<u32> = (0..size as u32).collect();
        let mut order = Vec::new();
        for next in size as u32.. {
            if held.is_empty() {
                break;
            }
            let place = self.below(held.len());
            order.push(held[place]);
            if (next as usize) < n {
                held[place] = next;
            } else {
                held.swap_remove(place);
            }
        }
        order
    }
}

/// Epochs of batches of record numbers.
type Epochs = Vec<Vec<Vec<u32>>>;

fn cut(order: &[u32], batch: usize) -> Vec<Vec<u32>> {
    order.chunks(batch).map(<[u32]>::to_vec).collect()
}

fn check_with(epochs: &Epochs, n: usize, rate: Option<f64>, repeated: Option<bool>) -> LoaderCheck {
    let batches: Vec<&Vec<u32>> = epochs.iter().flatten().collect();
    let records: Vec<u32> = batches.iter().copied().flatten().copied().collect();
    let sizes: Vec<u32> = batches.iter().map(|batch| batch.len() as u32).collect();
    let per_epoch: Vec<u32> = epochs.iter().map(|epoch| epoch.len() as u32).collect();
    let drawn = DrawnBatches::new(&records, &sizes, &per_epoch, n as u64, rate).unwrap();
    LoaderCheck::of(&drawn, repeated)
}

fn check(epochs: &Epochs, n: usize) -> LoaderCheck {
    check_with(epochs, n, None, None)
}

/// Epochs that `draw` draws after a first permutation, as in the reference data.
fn epochs(
    seed: u64,
    n: usize,
    count: usize,
    draw: impl Fn(&mut Uniforms, &[u32]) -> Vec<Vec<u32>>,
) -> Epochs {
    let mut uniforms = Uniforms(seed);
    let first = uniforms.permutation(n);
    (0..count).map(|_| draw(&mut uniforms, &first)).collect()
}

fn poisson(
    uniforms: &mut Uniforms,
    n: usize,
    batches: usize,
    rate: impl Fn(u32) -> f64,
) -> Vec<Vec<u32>> {
    let batch = |uniforms: &mut Uniforms| {
        (0..n as u32).filter(|record| uniforms.is_below(rate(*record))).collect()
    };
    (0..batches).map(|_| batch(uniforms)).collect()
}

fn bins(uniforms: &mut Uniforms, n: usize, batches: usize) -> Vec<Vec<u32>> {
    let mut found = vec![Vec::new(); batches];
    (0..n as u32).for_each(|record| found[uniforms.below(batches)].push(record));
    found
}

fn assert_tests(found: &LoaderCheck, expected: &[(&str, f64, f64)]) {
    assert_eq!(found.tests.iter().count(), expected.len());
    for (test, (name, statistic, p_value)) in found.tests.iter().zip(expected) {
        assert_eq!(test.kind.name(), *name);
        assert!((test.statistic - statistic).abs() <= 1e-8 * statistic.abs(), "{test:?}");
        assert!((test.p_value - p_value).abs() <= 1e-8 * p_value, "{test:?}");
    }
}

#[test]
fn a_shuffle_equals_the_reference() {
    let drawn = epochs(60, 60, 12, |uniforms, _| cut(&uniforms.permutation(60), 10));
    let found = check(&drawn, 60);
    assert_eq!((found.sampler, found.facts.least_buffer), (DrawnSampler::Shuffle, Some(55)));
    let expected = [
        ("position-against-record", -0.066_224_136_247_306_39, 0.947_199_381_004_719),
        ("position-against-last-epoch", -0.344_084_383_661_591_55, 0.730_782_826_717_086_7),
        ("neighbours-together", 0.418_108_616_049_484_07, 0.675_867_705_730_841),
        ("same-place-overlap", -0.725_007_836_948_238_7, 0.468_447_222_609_953_2),
        ("order-within-buffer", 55.0, 0.042_056_362_797_057_43),
    ];
    assert_tests(&found, &expected);
}

#[test]
fn poisson_batches_equal_the_reference() {
    let drawn = epochs(61, 60, 12, |uniforms, _| poisson(uniforms, 60, 6, |_| 10.0 / 60.0));
    let found = check(&drawn, 60);
    assert_eq!((found.sampler, found.facts.batch_size), (DrawnSampler::Poisson, 10));
    let expected = [
        ("consecutive-overlap", -0.433_544_849_363_622_8, 0.664_618_991_013_458_6),
        ("same-place-overlap", -0.233_919_687_926_798_13, 0.815_047_328_434_433_7),
        ("sizes-as-poisson", 63.821_351_387_138_28, 0.570_345_734_806_576_5),
        ("uses-of-records", 69.551_655_945_494_87, 0.327_388_372_031_773),
    ];
    assert_tests(&found, &expected);
}

#[test]
fn correct_samplers_keep_their_names() {
    const N: usize = 100;
    let of = |name: &str, seed| match name {
        "shuffle" => epochs(seed, N, 6, |uniforms, _| cut(&uniforms.permutation(N), 30)),
        "balls-in-bins" => epochs(seed, N, 6, |uniforms, _| bins(uniforms, N, 5)),
        "fixed-size" => epochs(seed, N, 6, |uniforms, _| {
            (0..5).map(|_| uniforms.permutation(N)[..20].to_vec()).collect()
        }),
        _ => epochs(seed, N, 6, |uniforms, _| poisson(uniforms, N, 5, |_| 0.2)),
    };
    for name in ["shuffle", "balls-in-bins", "fixed-size", "poisson"] {
        let other =
            (0..100).filter(|seed| check(&of(name, *seed), N).sampler.name() != name).count();
        // 0.1 expected, 2 or more with a chance of 5e-3
        assert!(other < 2, "{name}: {other}");
    }
}

#[test]
fn faults_are_recognised() {
    let n = 120;
    let first = |count: usize| move |_: &mut Uniforms, first: &[u32]| cut(&first[..count], 12);
    let names = |drawn: Epochs| check(&drawn, n).sampler.name();
    assert_eq!(names(epochs(1, n, 4, first(n))), "deterministic");
    let part = check(&epochs(1, n, 4, first(96)), n);
    assert_eq!(part.sampler, DrawnSampler::Deterministic);
    assert_eq!(part.loader(), Some(LoaderBatches::Other(OtherBatches::OncePerEpoch)));
    let chunks = |uniforms: &mut Uniforms, _: &[u32]| {
        let chunks = uniforms.permutation(n / 4);
        let order: Vec<u32> = chunks.iter().flat_map(|chunk| 4 * chunk..4 * chunk + 4).collect();
        cut(&order, 12)
    };
    assert_eq!(names(epochs(1, n, 8, chunks)), "chunks");
    let moved = |uniforms: &mut Uniforms, first: &[u32]| {
        let whole = cut(first, 12);
        let order = uniforms.permutation(n / 12);
        order.iter().map(|batch| whole[*batch as usize].clone()).collect()
    };
    assert_eq!(names(epochs(1, n, 4, moved)), "batch-then-shuffle");
    let padded = |uniforms: &mut Uniforms, _: &[u32]| {
        let order = uniforms.permutation(n);
        cut(&[&order[..], &order[..5]].concat(), 25)
    };
    assert_eq!(names(epochs(1, n, 4, padded)), "padded-shuffle");
    // one half stays in the first batches
    let halves = |uniforms: &mut Uniforms, first: &[u32]| {
        let (mut one, mut other) = (first[..60].to_vec(), first[60..].to_vec());
        for half in [&mut one, &mut other] {
            *half = uniforms.permutation(60).iter().map(|at| half[*at as usize]).collect();
        }
        cut(&[one, other].concat(), 12)
    };
    assert_eq!(names(epochs(1, n, 12, halves)), "repeats-earlier-epochs");
    let sizes = |uniforms: &mut Uniforms, _: &[u32]| {
        let order = uniforms.permutation(n);
        [&order[..5], &order[5..45], &order[45..]].map(<[u32]>::to_vec).to_vec()
    };
    assert_eq!(names(epochs(1, n, 8, sizes)), "uneven-batches");
    let weighted = |uniforms: &mut Uniforms, _: &[u32]| {
        poisson(uniforms, n, 10, |record| if record % 4 == 0 { 0.25 } else { 0.05 })
    };
    assert_eq!(names(epochs(1, n, 12, weighted)), "unequal-rates");
    let twice = |uniforms: &mut Uniforms, _: &[u32]| {
        [cut(&uniforms.permutation(n), 24), cut(&uniforms.permutation(n), 24)].concat()
    };
    assert_eq!(names(epochs(1, n, 4, twice)), "balanced");
    let pairs = |uniforms: &mut Uniforms, _: &[u32]| {
        let batches = poisson(uniforms, n, 5, |_| 0.1);
        batches.into_iter().flat_map(|batch| [batch.clone(), batch]).collect()
    };
    let found = check(&epochs(1, n, 2, pairs), n).sampler.name();
    assert!(["other", "unequal-rates"].contains(&found), "{found}");
}

#[test]
fn draws_with_replacement_have_one_rate() {
    let n = 60;
    for (heavy, expected) in [(1, "with-replacement"), (3, "unequal-rates")] {
        // every fourth record counts `heavy` times
        let urn: Vec<u32> =
            (0..n as u32).flat_map(|it| vec![it; if it % 4 == 0 { heavy } else { 1 }]).collect();
        // batches of half of the records: the variance of one use per batch would reject the correct one
        let drawn = epochs(3, n, 20, |uniforms, _| {
            let batch =
                |uniforms: &mut Uniforms| (0..30).map(|_| urn[uniforms.below(urn.len())]).collect();
            (0..4).map(|_| batch(uniforms)).collect()
        });
        let found = check(&drawn, n);
        assert!(
            found.facts.repeats_in_batch
                && found.tests.rejected(LoaderTestKind::UsesOfRecords).is_some()
        );
        assert_eq!(found.sampler.name(), expected);
    }
}

#[test]
fn a_buffer_is_found_in_all_epochs_together() {
    let drawn = epochs(5, 200, 20, |uniforms, _| cut(&uniforms.buffered(200, 180), 10));
    let found = check(&drawn, 200);
    let expected = DrawnSampler::PartialShuffle { least_buffer: 180, is_buffer: true };
    assert_eq!(found.sampler, expected);
    let kind = found.sampler.loader().unwrap();
    assert_eq!((kind.kind().name(), kind.buffer_examples()), ("sliding-buffer", Some(180)));
    let test = found.tests.of(LoaderTestKind::OrderWithinBuffer).unwrap();
    // broken twin: the chance of one epoch
    assert!(math::powf(test.p_value, 1.0 / 20.0) > found.tests.significance());
}

#[test]
fn sorted_batches_have_the_slot_of_their_first_record() {
    let (n, size) = (60, 20);
    let drawn = epochs(6, n, 12, |uniforms, _| {
        let mut batches = cut(&uniforms.permutation(n), size);
        batches.iter_mut().for_each(|batch| batch.sort_unstable());
        batches
    });
    let found = check(&drawn, n);
    assert_eq!(found.sampler, DrawnSampler::Shuffle);
    // broken twin: slots within sorted batches; one unsorted batch has them
    let mut mutant = drawn;
    mutant[0][0].swap(0, 1);
    let found = check(&mutant, n);
    assert!(matches!(found.sampler, DrawnSampler::PartialShuffle { is_buffer: true, .. }));
}

#[test]
fn shuffles_of_two_batches_repeat_no_epoch() {
    let (mut rejected, mut rejected_by_mutant) = (0, 0);
    for seed in 0..600 {
        let drawn = epochs(seed, 40, 2, |uniforms, _| cut(&uniforms.permutation(40), 20));
        let tests = check(&drawn, 40).tests;
        let test = tests.of(LoaderTestKind::SamePlaceOverlap).unwrap();
        rejected += usize::from(test.p_value < 0.01);
        // broken twin: variances of single batches, half of the true one
        let mutant = 2.0 * crate::special::normal_survival(test.statistic.abs() * 2_f64.sqrt());
        rejected_by_mutant += usize::from(mutant < 0.01);
    }
    // 6 and 41 expected
    assert!(rejected < 18 && rejected_by_mutant > 18, "{rejected} {rejected_by_mutant}");
}

#[test]
fn batches_that_seldom_repeat_by_chance_are_no_order() {
    // one batch per epoch, and ten small ones
    for (batches, rate) in [(1, 0.3), (10, 0.002)] {
        let drawn = epochs(7, 400, 12, |uniforms, _| poisson(uniforms, 400, batches, |_| rate));
        let found = check(&drawn, 400);
        assert!(found.facts.at_most_once, "{batches}");
        assert_eq!(found.sampler, DrawnSampler::Poisson, "{batches}");
        assert_eq!(found.findings, [], "{batches}");
    }
}

#[test]
fn seeds_rates_and_missing_records_are_findings() {
    let codes =
        |found: &LoaderCheck| found.findings.iter().map(LoaderFinding::code).collect::<Vec<_>>();
    let shuffle = epochs(8, 65, 6, |uniforms, _| cut(&uniforms.permutation(65)[..60], 10));
    assert_eq!(
        codes(&check_with(&shuffle, 65, None, Some(true))),
        ["fixed-seed", "records-dropped"]
    );
    assert_eq!(codes(&check_with(&shuffle, 65, None, Some(false))), ["records-dropped"]);
    assert_eq!(codes(&check(&shuffle, 70)), ["never-drawn", "records-dropped"]);
    // a shuffle of the first records alone is no buffer
    let part = epochs(9, 50, 20, |uniforms, _| cut(&uniforms.permutation(50), 10));
    let found = check(&part, 60);
    assert_eq!((found.sampler, codes(&found)), (DrawnSampler::Shuffle, vec!["never-drawn"]));
    assert_eq!((found.facts.dataset_size, found.facts.never_drawn), (50, 10));
    let same = epochs(8, 60, 4, |_, first| cut(first, 10));
    let found = check_with(&same, 60, None, Some(false));
    assert_eq!(
        (found.sampler, codes(&found)),
        (DrawnSampler::PersistentShuffle, vec!["persistent-shuffle"])
    );
    assert_eq!(codes(&check_with(&same, 60, None, Some(true))), ["deterministic"]);
    let poisson = epochs(9, 100, 20, |uniforms, _| poisson(uniforms, 100, 5, |_| 0.2));
    assert_eq!(codes(&check_with(&poisson, 100, Some(0.2), None)), [""; 0]);
    let found = check_with(&poisson, 100, Some(0.3), None);
    assert_eq!((found.sampler, codes(&found)), (DrawnSampler::Poisson, vec!["rate-differs"]));
    assert!(found.tests.rejected(LoaderTestKind::SizesAsPoisson).is_some());
}

#[test]
fn full_batches_and_one_record_have_no_tests() {
    let full = vec![vec![vec![1, 0, 2]]; 2];
    let found = check(&full, 3);
    assert_eq!(found.sampler, DrawnSampler::Deterministic);
    assert!(found.tests.iter().all(|test| test.kind == LoaderTestKind::OrderWithinBuffer));
    let one = vec![vec![vec![0], vec![]], vec![vec![], vec![0, 0]]];
    assert!(
        check(&one, 2).tests.iter().all(|test| test.statistic.is_finite() && test.p_value <= 1.0)
    );
}

#[test]
fn samplers_of_a_check_have_their_names_there() {
    let all = [
        DrawnSampler::Deterministic,
        DrawnSampler::PersistentShuffle,
        DrawnSampler::BatchThenShuffle,
        DrawnSampler::Shuffle,
        DrawnSampler::BallsInBins,
        DrawnSampler::WithReplacement,
        DrawnSampler::FixedSize,
        DrawnSampler::Poisson,
    ];
    for sampler in all {
        let kind = LoaderKind::named(sampler.name());
        assert_eq!(sampler.loader().map(LoaderBatches::kind), kind, "{sampler:?}");
    }
    assert_eq!(DrawnSampler::PaddedShuffle.loader(), None);
}
