//! Whole audits of the worst case.

use dpscope_core::adjacency::World;
use dpscope_synth::audit::{Audit, AuditOptions, AuditOutcome};
use dpscope_synth::detect::Check;
use dpscope_synth::{Settings, Stop};

/// Runs of each world: an attack without errors would show ε ≥ 3.06.
const RUNS: u64 = 200;

fn audited(faults: &str, seed: u64) -> AuditOutcome {
    let stop = Stop::Iterations(100);
    let settings = Settings { teachers: 2, batch_size: 4, stop, rows: 4, ..Settings::default() };
    let audit = Audit::worst_case(&settings, faults.parse().unwrap(), seed).unwrap();
    let runs = World::BOTH.map(|world| audit.runs(world, 0..RUNS));
    let options = AuditOptions { significance: 0.05, checks_significance: 1e-3 };
    audit.evaluate(runs, options).unwrap()
}

/// Whether it shows ε > 1, an AUC other than ½, or a fault.
fn shown(outcome: &AuditOutcome) -> [bool; 3] {
    let auc = outcome.attack.auc;
    [
        outcome.attack.bound.value() > 1.0,
        auc.lower > 0.5 || auc.upper < 0.5,
        outcome.checks.iter().any(Check::has_fired),
    ]
}

#[test]
fn twenty_faithful_audits_show_neither_a_leak_nor_a_fault() {
    for seed in 0..20 {
        let outcome = audited("", seed);
        assert!(outcome.attack.ceiling > 3.0);
        assert_eq!(shown(&outcome), [false; 3], "{seed}: {outcome:#?}");
    }
    for faults in ["E1", "O3"] {
        assert_eq!(shown(&audited(faults, 0)), [true; 3], "{faults}");
    }
}
