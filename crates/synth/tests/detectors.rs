//! Each fault is reported by its detector under its name, and nothing is without a fault.

use dpscope_core::adjacency::World;
use dpscope_core::random::stream_of;
use dpscope_synth::detect::{Check, Observation, detect};
use dpscope_synth::{Detector, Fault, FaultSet, Latent, Mechanism, Settings, Stop, Trace};

use crate::tables;

const SIGNIFICANCE: f64 = 1e-3;

fn settings() -> Settings {
    let stop = Stop::Epsilon { epsilon: 1000.0, at_most: 300 };
    Settings { inverse_scale: 0.5, batch_size: 8, stop, rows: 13, ..Settings::default() }
}

/// Settings in which a fault can show.
fn settings_for(fault: Fault) -> Settings {
    let faithful = settings();
    match fault {
        // a unanimous vote costs less than the bound for all votes
        Fault::E8 => Settings {
            inverse_scale: 4.0,
            teachers: 3,
            stop: Stop::Epsilon { epsilon: 6400.0, at_most: 60 },
            ..faithful
        },
        // at γ = 0.5 they have the same moments
        Fault::S2 | Fault::E7 => Settings { inverse_scale: 1.0, ..faithful },
        // a small change of probabilities needs many votes
        Fault::E5 => Settings { inverse_scale: 1.0, stop: Stop::Iterations(300), ..faithful },
        _ => faithful,
    }
}

fn checks_of(settings: &Settings, faults: FaultSet, seed: u64, runs: u64) -> Vec<Check> {
    let mechanism = Mechanism::new(&tables::mixed(60), 0, settings, faults, seed).unwrap();
    let units: Vec<u64> = (0..runs).flat_map(|at| World::BOTH.map(|w| stream_of(w, at))).collect();
    let runs = mechanism.run(&units);
    let traces: Vec<&Trace> = runs.iter().map(|run| &run.trace).collect();
    detect(&mechanism, &traces, SIGNIFICANCE).unwrap()
}

fn named(checks: &[Check]) -> Vec<(&'static str, Fault)> {
    let of = |check: &Check| match &check.observation {
        Observation::Fired { faults, .. } => {
            faults.iter().map(|fault| (check.detector.id(), *fault)).collect()
        }
        _ => Vec::new(),
    };
    checks.iter().flat_map(of).collect()
}

#[test]
fn each_fault_is_named_by_its_detector() {
    for fault in Fault::ALL {
        let checks = checks_of(&settings_for(fault), FaultSet::NONE.with(fault), 5, 8);
        let found = named(&checks);
        assert!(
            found.contains(&(fault.description().detector.id(), fault)),
            "{fault}: {checks:#?}"
        );
        // faults that look the same are of one kind, or follow from one another
        let switch = |fault: &Fault| fault.description().switch;
        let others = found.iter().filter(|(_, other)| switch(other) != switch(&fault));
        let others: Vec<Fault> = others.map(|(_, other)| *other).collect();
        assert!(others.is_empty(), "{fault}: {others:?}");
    }
}

#[test]
fn a_faithful_mechanism_is_clear() {
    for latent in [Latent::Uniform, Latent::Normal] {
        let settings = Settings { latent, ..settings() };
        for seed in 0..50 {
            let checks = checks_of(&settings, FaultSet::NONE, seed, 1);
            let others = checks.iter().filter(|check| check.detector != Detector::TeacherLosses);
            assert!(
                others.clone().all(|check| check.observation == Observation::Clear),
                "{checks:#?}"
            );
            assert_eq!(others.count() + 1, checks.len());
        }
    }
}

fn losses(settings: &Settings, faults: &str) -> (Observation, f64) {
    let checks = checks_of(settings, faults.parse().unwrap(), 5, 8);
    let check = checks.into_iter().find(|check| check.detector == Detector::TeacherLosses).unwrap();
    (check.observation, check.p_value.unwrap())
}

#[test]
fn losses_confirm_a_division_that_teachers_follow() {
    let (found, p_value) = losses(&settings(), "");
    assert!(
        matches!(found, Observation::Confirmed { .. }) && p_value < 1e-4,
        "{found:?} {p_value}"
    );
    // where rows are shared, or divided anew, none belongs to one teacher alone
    for fault in ["O1", "O2", "U1", "S1"] {
        let (found, p_value) = losses(&settings(), fault);
        assert!(
            matches!(found, Observation::Untestable { .. }) && p_value >= 1.0,
            "{fault}: {found:?}"
        );
    }
    let short = Settings { stop: Stop::Iterations(1), batch_size: 1, ..settings() };
    let (found, p_value) = losses(&short, "");
    assert!(
        matches!(found, Observation::Untestable { .. }) && p_value > 1e-3,
        "{found:?} {p_value}"
    );
}

#[test]
fn what_cannot_show_is_said() {
    // at γ = 0.001, all accountants agree; with a fixed number of iterations, none is asked
    let settings = Settings { inverse_scale: 1e-3, stop: Stop::Iterations(3), ..settings() };
    for fault in [Fault::S2, Fault::E7] {
        let checks = checks_of(&settings, FaultSet::NONE.with(fault), 1, 1);
        assert!(named(&checks).is_empty());
        let untestable =
            |check: &&Check| matches!(check.observation, Observation::Untestable { .. });
        let names = checks.iter().filter(untestable).map(|check| check.name);
        let names: Vec<&str> = names.filter(|name| *name != "losses on own rows").collect();
        assert_eq!(names, ["moments", "stopping"], "{fault}");
    }
}

#[test]
fn faults_together_are_all_named() {
    let faults: FaultSet = "U1,S1,U3,E3,T5,E1".parse().unwrap();
    // with much noise, too
    let settings = Settings { inverse_scale: 1e-3, stop: Stop::Iterations(30), ..settings() };
    let found = named(&checks_of(&settings, faults, 3, 4));
    assert!(!found.iter().any(|(_, other)| [Fault::O2, Fault::E5].contains(other)), "{found:?}");
    for fault in faults.iter() {
        assert!(found.iter().any(|(_, other)| *other == fault), "{fault}: {found:?}");
    }
}
