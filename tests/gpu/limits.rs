//! Counts do not depend on limits that split a run differently.

use dpscope_core::mechanism::{BatchSampler, BatchedGaussian, ThreatModel};
use dpscope_engine::FloatMode;
use dpscope_simulation::Plan;
use dpscope_simulation::backend::PieceLimits;
use dpscope_tests::simulate::{planned, shuffled};
use libtest_mimic::{Failed, Trial};

use crate::audits::{OWN, Watch, gpu, same_as_cpu, watched};

pub(crate) fn trials() -> Vec<Trial> {
    vec![Trial::test("counts_do_not_depend_on_limits", counts_do_not_depend_on_limits)]
}

fn plans() -> [Plan; 4] {
    let poisson = BatchedGaussian {
        sampler: BatchSampler::Poisson,
        threat_model: ThreatModel::TargetCanary,
        ..shuffled(0.8, 50, 2)
    };
    let weighted = BatchedGaussian {
        sampler: BatchSampler::SlidingBuffer { buffer_examples: 9 },
        threat_model: ThreatModel::PartiallyInformed,
        batch_size: Some(3),
        ..shuffled(0.5, 60, 3)
    };
    [
        planned(shuffled(1.0, 100, 1), 50_000, 3),
        planned(poisson, 20_000, 4),
        planned(weighted, 10_000, 5),
        planned(shuffled(0.7, 37, 40), 9_998, 6),
    ]
}

fn counts_do_not_depend_on_limits() -> Result<(), Failed> {
    let narrow = [
        OWN,
        PieceLimits { workgroups: 3, ..OWN },
        PieceLimits { turns: 40, ..OWN },
        PieceLimits { turns: 1, wide: 100, ..OWN },
        PieceLimits { workgroups: 2, turns: 60, ..OWN },
        PieceLimits { turns: 50, wide: 1 << 16, binding_bytes: 1 << 20, ..OWN },
    ];
    for plan in plans() {
        for limits in narrow {
            let backend = gpu(FloatMode::Exact, limits)?;
            let watch = Watch::new(&|_| true);
            let state = watched(&plan, &backend, &watch)?;
            same_as_cpu(&plan, &state).map_err(|problem| format!("{limits:?}: {problem}"))?;
            let warnings = watch.log().warnings;
            if state.fallback_shards > 0 || !warnings.is_empty() {
                return Err(format!("{limits:?}: {warnings:?}").into());
            }
        }
    }
    Ok(())
}
