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
