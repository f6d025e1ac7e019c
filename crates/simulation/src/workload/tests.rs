use dpscope_core::adjacency::World;
use dpscope_core::audit::Outcome;
use dpscope_core::audit::bound::ThresholdRule;
use dpscope_core::audit::histogram::ScoreBins;
use dpscope_engine::{MergeOptions, Shard, Unattended, begin, merge, run};

use super::*;
use crate::backend::CpuBackend;
use crate::plan::tests::plan;
use crate::{Artefact, Evaluate, TrainingDigest};

fn backend(threads: usize) -> Backend {
    Backend::Cpu(CpuBackend::new(threads).unwrap())
}

/// The shard of a plan, counted.
pub(crate) fn counted(plan: Plan, shard: Shard, threads: usize) -> Artefact {
    let (valid, backend) = (plan.validated().unwrap(), backend(threads));
    let simulation = Simulation::new(&valid, &backend).unwrap();
    let range = shard.range(plan.observations_per_world()).unwrap();
    let start = begin(&simulation, range, &Unattended).unwrap();
    pollster::block_on(run(&simulation, start, &Unattended)).unwrap()
}

#[test]
fn counts_do_not_depend_on_threads_or_shards() {
    let whole = counted(plan(), Shard::WHOLE, 1);
    assert!(whole.is_complete());
    let other = counted(plan(), Shard::WHOLE, 3);
    assert_eq!(other.histogram_digest(), whole.histogram_digest());
    let parts = (1..=3).map(|index| counted(plan(), Shard { index, count: 3 }, 2)).collect();
    let merged = merge(parts, MergeOptions::default()).unwrap();
    assert_eq!(merged.histogram_digest(), whole.histogram_digest());
    assert_eq!(merged.outcome().unwrap(), whole.outcome().unwrap());
    let other_seed = counted(Plan { seed: 8, ..plan() }, Shard::WHOLE, 1);
    assert_ne!(other_seed.histogram_digest(), whole.histogram_digest());
}

#[test]
fn part_of_a_plan_is_only_an_estimate() {
    let part = counted(plan(), Shard { index: 1, count: 2 }, 1);
    assert!(matches!(part.outcome().unwrap(), Outcome::Estimate(_)));
}

#[test]
fn layouts_that_do_not_fit_are_refused() {
    let good = counted(plan(), Shard::WHOLE, 1);
    let with = |change: &dyn Fn(&mut Artefact)| {
        let mut bad = good.clone();
        change(&mut bad);
        Artefact::from_bytes(&bad.to_bytes())
    };
    let changes: [&dyn Fn(&mut Artefact); 6] = [
        &|a| a.plan.observations = 4,
        &|a| a.plan.delta = 2.0,
        &|a| a.stage.thresholds.reverse(),
        &|a| a.stage.thresholds[1] = a.stage.thresholds[0],
        &|a| a.stage.thresholds.clear(),
        &|a| a.stage.thresholds.extend((100..116).map(f64::from)),
    ];
    for (i, change) in changes.into_iter().enumerate() {
        assert!(matches!(with(change), Err(ArtefactError::Inconsistent { .. })), "{i}");
    }
    assert!(with(&|_| {}).is_ok());
}

#[test]
fn only_the_simultaneous_rule_has_thresholds() {
    let rule = ThresholdRule::Split;
    let mut split = counted(Plan { threshold_rule: rule, ..plan() }, Shard::WHOLE, 1);
    assert!(Artefact::from_bytes(&split.to_bytes()).is_ok());
    split.stage.thresholds.push(0.5);
    let refused = Artefact::from_bytes(&split.to_bytes());
    assert!(matches!(refused, Err(ArtefactError::Inconsistent { .. })));
}

#[test]
fn scores_of_another_unit_are_refused() {
    let (valid, backend) = (plan().validated().unwrap(), backend(1));
    let simulation = Simulation::new(&valid, &backend).unwrap();
    let range = UnitRange { first: 0, end: 100 };
    let mut state = begin(&simulation, range, &Unattended).unwrap();
    let bins = ScoreBins::new(2.0 * state.stage.bins.unit(), -1000, 30, 100).unwrap();
    state = Artefact::empty(plan(), Layout { bins, ..state.stage }, range);
    let refused = pollster::block_on(run(&simulation, state, &Unattended));
    let inconsistent =
        |error| matches!(error, EngineError::Artefact(ArtefactError::Inconsistent { .. }));
    assert!(refused.is_err_and(inconsistent));
}

#[test]
fn plans_of_trained_models_are_refused() {
    let trained = Plan { training: Some(TrainingDigest::of("{}")), ..plan() };
    let refused = Simulation::new(&trained.validated().unwrap(), &backend(1)).map(|_| ());
    let mismatch =
        |error| matches!(error, EngineError::Artefact(ArtefactError::WorkloadMismatch { .. }));
    assert!(refused.is_err_and(mismatch));
}

#[test]
fn the_two_worlds_do_not_share_a_stream() {
    let state = counted(plan(), Shard::WHOLE, 1);
    let [d, d_prime] = World::BOTH.map(|world| &state.evidence.histograms.world(world)[0]);
    assert_ne!(d, d_prime);
}
