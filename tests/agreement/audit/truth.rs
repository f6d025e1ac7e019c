//! Bounds of whole audits beside the ε of accounting: never above it, and not vacuous.

use dpscope_core::accounting::{Given, Kind, Query, Training, account};
use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::bound::{Statement, max_uncorrected};
use dpscope_core::gdp::gdp_epsilon;
use dpscope_core::mechanism::{
    BatchSampler, BatchedGaussian, MechanismError, SamplerKind, ThreatModel, Truncation,
};
use dpscope_simulation::{Artefact, Plan};
use dpscope_tests::simulate::{audited, counted, planned, shuffled};
use dpscope_tests::{Row, Table};

use crate::samplers::every_pair;

const EPSILON: &str = include_str!("epsilon.csv");

/// Observations from which a bound is to reach a third of ε.
const ENOUGH: u64 = 1_000_000;

fn mechanism(row: Row<'_>) -> BatchedGaussian {
    let kind: SamplerKind = row.text("sampler").parse().unwrap();
    BatchedGaussian {
        sampler: kind.with_buffer(None).unwrap(),
        threat_model: kind.default_threat_model(),
        ..shuffled(row.float("noise_multiplier"), steps(row), row.count("epochs") as u32)
    }
}

fn steps(row: Row<'_>) -> u32 {
    row.count("steps") as u32
}

/// What a bound contradicts, if anything.
fn contradiction(bound: f64, row: Row<'_>) -> Option<&'static str> {
    if !(bound <= row.float("upper")) {
        return Some("the bound exceeds what accounting proves");
    }
    let vacuous = row.count("observations") >= ENOUGH && !(bound >= row.float("lower") / 3.0);
    vacuous.then_some("the bound says almost nothing")
}

fn bound(mechanism: BatchedGaussian, row: Row<'_>, seed: u64) -> f64 {
    let plan = planned(mechanism, row.count("observations"), seed);
    audited(&Plan { delta: row.float("delta"), ..plan })
}

#[test]
fn bounds_stay_below_epsilon_and_reach_a_third_of_it() {
    let table = Table::parse(EPSILON);
    for (row, seed) in table.rows().zip(1..) {
        let mechanism = mechanism(row);
        let bound = bound(mechanism, row, seed);
        let delta = row.text("delta");
        assert_eq!(contradiction(bound, row), None, "{bound} for {mechanism}, δ = {delta}");
        // Broken twin: an audit that finds nothing.
        let silent = contradiction(0.0, row).is_none();
        assert_eq!(silent, row.count("observations") < ENOUGH, "{mechanism}");
    }
}

fn truncated(dataset_size: u64, max_batch_size: u64) -> BatchSampler {
    BatchSampler::TruncatedPoisson(Truncation { dataset_size, max_batch_size })
}

#[test]
fn bounds_of_subsets_and_allocations_stay_below_what_is_proven() {
    for (sampler, noise_multiplier, steps, seed) in [
        (BatchSampler::FixedSize, 1.0, 100, 1),
        (BatchSampler::FixedSize, 2.0, 10, 2),
        (BatchSampler::RandomAllocation { uses_per_epoch: 5 }, 1.0, 50, 3),
        (BatchSampler::RandomAllocation { uses_per_epoch: 2 }, 2.0, 12, 4),
        (truncated(10_000, 110), 1.0, 100, 5),
        (truncated(200, 22), 2.0, 10, 6),
    ] {
        let threat_model = sampler.kind().default_threat_model();
        let mechanism =
            BatchedGaussian { sampler, threat_model, ..shuffled(noise_multiplier, steps, 1) };
        let plan = planned(mechanism, 4 * ENOUGH, seed);
        let query = Query::upper(Training::from(&mechanism), Given::Delta(plan.delta));
        let proven = |kind| {
            account(sampler, Adjacency::ZeroOut, &Query { kind, ..query }).unwrap().unwrap().epsilon
        };
        let (lower, upper) = (proven(Kind::Lower), proven(Kind::Upper));
        let bound = audited(&plan);
        // the audit's gradients of zero are the data set of this lower value
        let upper = if sampler.truncation().is_some() { lower } else { upper };
        assert!(bound <= upper, "{mechanism}: {bound} above {upper}");
        assert!(bound >= 0.6 * lower, "{mechanism}: {bound} says little of {lower}");
        // Broken twin: two thirds of the noise.
        let noise_multiplier = noise_multiplier / 1.5;
        let twin =
            audited(&planned(BatchedGaussian { noise_multiplier, ..mechanism }, 4 * ENOUGH, seed));
        assert!(twin > upper, "{mechanism}: {twin} of {upper}");
    }
}

/// Bounds at the plan's cuts and at their mirror images, as shares of the best that any cut of the
/// same counts gives at the same tail.
fn shares_of_the_best(plan: &Plan) -> [f64; 2] {
    let Artefact { evidence, stage: layout, .. } = counted(plan);
    let histograms = evidence.histograms;
    let Plan { delta, significance, threshold_rule, .. } = *plan;
    let bound = |thresholds: &[f64]| {
        let at = Statement { delta, significance };
        histograms.evaluate(&layout.bins, threshold_rule, thresholds, at, true).unwrap().value()
    };
    let trade_off = histograms.trade_off(&layout.bins).unwrap();
    let shared = significance / layout.thresholds.len() as f64;
    let best = max_uncorrected(&trade_off, delta, shared).unwrap().value();
    let mirrored: Vec<f64> = layout.thresholds.iter().map(|t| -t).collect();
    [bound(&layout.thresholds) / best, bound(&mirrored) / best]
}

#[test]
fn the_pilot_places_the_most_informative_cuts() {
    for sampler in [BatchSampler::Poisson, BatchSampler::Shuffle, BatchSampler::BallsInBins] {
        for noise_multiplier in [0.5, 1.0, 2.0, 4.0] {
            for seed in 1..=6 {
                let mechanism = BatchedGaussian {
                    sampler,
                    threat_model: sampler.kind().default_threat_model(),
                    ..shuffled(noise_multiplier, 10, 1)
                };
                let [share, twin] = shares_of_the_best(&planned(mechanism, 1_000_000, seed));
                assert!(share > 0.85, "{mechanism}, seed {seed}: {share}");
                // Broken twin: cuts at the wrong end; with little leakage both ends are equally informative.
                let is_rejected = noise_multiplier > 1.0 || twin < 0.85;
                assert!(is_rejected, "{mechanism}, seed {seed}: {twin} at the wrong end");
            }
        }
    }
}

#[test]
fn a_shuffled_run_is_refuted_where_poisson_is_claimed() {
    let claims = Table::parse(EPSILON);
    let row = |noise_multiplier: &str, steps: &str| {
        let is = |row: &Row<'_>| {
            row.text("noise_multiplier") == noise_multiplier
                && row.text("steps") == steps
                && row.text("epochs") == "1"
                && row.text("delta") == "1e-05"
                && row.text("sampler") == "poisson"
        };
        claims.rows().find(is).unwrap()
    };
    for (noise_multiplier, steps) in [("1.0", "100"), ("1.0", "1000"), ("0.5", "1000")] {
        let row = row(noise_multiplier, steps);
        let mechanism = BatchedGaussian {
            sampler: BatchSampler::Shuffle,
            threat_model: ThreatModel::WorstCase,
            ..mechanism(row)
        };
        let bound = bound(mechanism, row, 5);
        let found = contradiction(bound, row);
        assert_eq!(found, Some("the bound exceeds what accounting proves"), "{mechanism}: {bound}");
    }
    // Where shuffling leaks more only in truth, an audit of this size must not refute.
    let row = row("0.5", "100");
    let bound = bound(shuffled(0.5, 100, 1), row, 5);
    assert_eq!(contradiction(bound, row), None, "{bound}");
}

#[test]
fn poisson_is_not_audited_with_records_that_depend_on_the_target() {
    for sampler in [BatchSampler::Poisson, truncated(200, 22), BatchSampler::BallsInBins] {
        for threat_model in [ThreatModel::WorstCase, ThreatModel::PartiallyInformed] {
            let mechanism = BatchedGaussian { sampler, threat_model, ..shuffled(1.0, 100, 1) };
            let refused = planned(mechanism, 1000, 1).validated().map(|_| ());
            let kind = sampler.kind();
            let expected = MechanismError::UndefinedPair { sampler: kind, threat_model };
            assert_eq!(refused, Err(expected.into()));
        }
    }
}

/// The ε that is proven for every sampler but Poisson at this noise: that of batches which never
/// change.
fn deterministic_epsilon(noise_multiplier: f64, epochs: u32) -> f64 {
    gdp_epsilon(f64::from(epochs).sqrt() / noise_multiplier, 1e-5).unwrap()
}

#[test]
fn deterministic_batches_leak_most() {
    for noise_multiplier in [0.5, 3.0] {
        for epochs in [1, 3] {
            let most = deterministic_epsilon(noise_multiplier, epochs);
            for (mechanism, seed) in every_pair(noise_multiplier, epochs).into_iter().zip(1..) {
                let bound = audited(&planned(mechanism, 1_000_000, seed));
                assert!(bound <= most, "{mechanism}: {bound} above {most}");
                assert!(bound > most / 16.0, "{mechanism}: {bound} says nothing of {most}");
            }
        }
    }
}

#[test]
fn audits_of_deterministic_batches_are_nearly_tight() {
    let bound = |noise_multiplier| {
        let sampler = BatchSampler::Deterministic;
        let mechanism = BatchedGaussian { sampler, ..shuffled(noise_multiplier, 100, 9) };
        audited(&planned(mechanism, 100_000_000, 7))
    };
    let most = deterministic_epsilon(9.0, 9);
    let honest = bound(9.0);
    assert!(honest <= most && honest > 0.9 * most, "{honest} of {most}");
    // Broken twin: a tenth of the noise is missing.
    let twin = bound(9.0 * 0.9);
    assert!(twin > most, "{twin} of {most}");
}

#[test]
fn one_permutation_for_all_epochs_lies_between_fresh_ones_and_none() {
    let bound = |sampler| {
        let mechanism = BatchedGaussian { sampler, ..shuffled(2.0, 100, 4) };
        audited(&planned(mechanism, 1_000_000, 3))
    };
    let [fresh, persistent, deterministic] =
        [BatchSampler::Shuffle, BatchSampler::PersistentShuffle, BatchSampler::Deterministic]
            .map(bound);
    let most = deterministic_epsilon(2.0, 4);
    let rising = [fresh, persistent, deterministic, most];
    assert!(rising.is_sorted_by(|a, b| 1.05 * a < *b) && fresh > 0.1 * most, "{rising:?}");
}
