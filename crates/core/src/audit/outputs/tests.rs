pub(super) mod simulated;

use simulated::{CORRECT, Training};

use super::*;
use crate::mechanism::ThreatModel;

const POISSON: Training =
    Training { threat_model: ThreatModel::TargetCanary, sampler: BatchSampler::Poisson, ..CORRECT };

fn findings(audit: &OutputsAudit) -> Vec<Finding> {
    audit.result.findings().to_vec()
}

#[test]
fn an_epoch_and_a_release_without_noise_are_attacked() {
    let epoch = Training {
        noise: |_, epoch, _| if epoch == 2 { 0.0 } else { 1.0 },
        runs: 200,
        epochs: 3,
        ..POISSON
    };
    // the target is in 1 − 0.9¹⁰ = 65 % of the runs of D, and in none of D′
    let audit = epoch.audit(71);
    assert_eq!(audit.attack, OutputAttack::NoiselessSteps);
    assert!((2.5..4.5).contains(&audit.result.epsilon()), "{}", audit.result.epsilon());
    assert!(matches!(findings(&audit)[..], [Finding::NoNoiseAtSteps { steps: 10, .. }]));
    let release = Training {
        noise: |_, epoch, step| if (epoch, step) == (0, 7) { 0.0 } else { 1.0 },
        runs: 2000,
        steps: 20,
        ..POISSON
    };
    let audit = release.audit(70);
    assert_eq!(audit.attack, OutputAttack::NoiselessSteps);
    assert!((2.5..3.1).contains(&audit.result.epsilon()), "{}", audit.result.epsilon());
    assert!(matches!(findings(&audit)[..], [Finding::NoNoiseAtSteps { step: 7, steps: 1, .. }]));
}

/// Codes of findings on correct code whose other records add more from step to step, and less in the second
/// epoch.
#[test]
fn drift_of_correct_code_has_no_finding() {
    let drift = |epoch: u32, step: u32| {
        let size = if epoch == 0 { 0.9 } else { 0.5 };
        size * (f64::from(step) / 9.0 - 0.5)
    };
    for training in [CORRECT, POISSON] {
        for repetition in 0..3 {
            let found = findings(&Training { drift, ..training }.audit(repetition));
            assert_eq!(found, [], "{repetition}");
        }
    }
    // a mean of all steps that is not the stated one refutes no sampler
    let shifted = Training { drift: |_, _| 0.3, runs: 300, ..CORRECT };
    assert_eq!(findings(&shifted.audit(2)), []);
}

#[test]
fn drift_hides_no_fault() {
    let drift = |_: u32, step: u32| 0.1 * f64::from(step);
    let quiet = Training { drift, noise: |_, _, _| 0.8, runs: 200, ..CORRECT };
    let found = findings(&quiet.audit(4));
    assert!(matches!(found[..], [Finding::NoiseBelowStated { .. }]), "{found:?}");
    let twice = Training { drift, uses: 2, ..CORRECT };
    let found = findings(&twice.audit(4));
    assert!(matches!(found[..], [Finding::UsesDiffer { .. }]), "{found:?}");
}

#[test]
fn no_samplers_are_compared_where_noise_differs_by_step() {
    let half = |_: bool, _: u32, step: u32| if step < 50 { 1.0 } else { 0.7 };
    let shuffled = Training { noise: half, steps: 100, epochs: 3, runs: 100, ..CORRECT };
    let sixth = |_: bool, _: u32, step: u32| if step < 4 { 1.0 } else { 0.6 };
    let gradual = |_: bool, _: u32, step: u32| 1.1 - 0.02 * f64::from(step);
    for training in [
        shuffled,
        Training { noise: sixth, runs: 300, ..POISSON },
        Training { noise: gradual, steps: 20, runs: 300, ..CORRECT },
    ] {
        let audit = training.audit(19);
        assert!(audit.samplers.is_none());
        let found = findings(&audit);
        assert!(matches!(found[..], [Finding::NoiseDiffersByStep { .. }]), "{found:?}");
    }
}
