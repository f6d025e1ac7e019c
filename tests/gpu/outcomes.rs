//! Whole audits: in exact mode the CPU's to the bit, in fast mode its bound but for moved scores.

use dpscope_core::mechanism::{BatchSampler, BatchedGaussian, ThreatModel};
use dpscope_engine::FloatMode;
use dpscope_simulation::{Artefact, Evaluate, Plan};
use dpscope_tests::simulate::{counted, planned, shuffled};
use libtest_mimic::{Failed, Trial};

use crate::audits::{OWN, Watch, gpu, same_as_cpu, watched};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("exact_audits_equal_those_of_the_cpu", exact_audits_equal_those_of_the_cpu),
        Trial::test(
            "fast_audits_are_close_to_those_of_the_cpu",
            fast_audits_are_close_to_those_of_the_cpu,
        ),
    ]
}

fn plans() -> [Plan; 3] {
    let poisson = BatchedGaussian {
        sampler: BatchSampler::Poisson,
        threat_model: ThreatModel::TargetCanary,
        ..shuffled(0.7, 30, 2)
    };
    [
        planned(shuffled(1.0, 100, 1), 200_000, 7),
        planned(shuffled(0.3, 20, 3), 100_000, 8),
        planned(poisson, 100_000, 9),
    ]
}

fn on_gpu(plan: &Plan, mode: FloatMode) -> Result<Artefact, Failed> {
    let watch = Watch::new(&|_| true);
    let state = watched(plan, &gpu(mode, OWN)?, &watch)?;
    match watch.log().warnings.first() {
        None => Ok(state),
        Some(warning) => Err(warning.into()),
    }
}

fn exact_audits_equal_those_of_the_cpu() -> Result<(), Failed> {
    for plan in plans() {
        let state = on_gpu(&plan, FloatMode::Exact)?;
        same_as_cpu(&plan, &state)?;
        if state.outcome()? != counted(&plan).outcome()? {
            return Err("other bounds from the same counts".into());
        }
    }
    Ok(())
}

/// Largest difference of the two worlds' cumulative counts, as a share of the observations.
fn distance(one: &Artefact, other: &Artefact) -> f64 {
    let mut worst = 0_u64;
    for world in dpscope_core::adjacency::World::BOTH {
        let halves =
            one.evidence.histograms.world(world).iter().zip(other.evidence.histograms.world(world));
        for (one, other) in halves {
            let (mut left, mut right) = (0_u64, 0_u64);
            for (a, b) in one.counts().iter().zip(other.counts()) {
                (left, right) = (left + a, right + b);
                worst = worst.max(left.abs_diff(right));
            }
        }
    }
    worst as f64 / one.range.len() as f64
}

fn fast_audits_are_close_to_those_of_the_cpu() -> Result<(), Failed> {
    // Less than a tenth of a bin (1/50 standard deviation) moves fewer than 1 in 1000 over an edge;
    // draws of another seed, by Kolmogorov's distribution, far more.
    const SHARE: f64 = 1e-3;
    for plan in plans() {
        let (fast, exact) = (on_gpu(&plan, FloatMode::Fast)?, counted(&plan));
        let near = distance(&fast, &exact);
        let apart = (fast.outcome()?.value() - exact.outcome()?.value()).abs();
        if !(fast.is_complete() && near < SHARE && apart < 0.01) {
            return Err(format!("{plan:?}: {near} of the scores moved, ε {apart} apart").into());
        }
        let other = counted(&Plan { seed: plan.seed + 1, ..plan });
        if !(distance(&fast, &other) > SHARE) {
            return Err("another seed passes for the same draws".into());
        }
    }
    Ok(())
}
