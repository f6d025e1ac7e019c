//! Whole audits: pilot, layout, counts, outcome and the artefact's bytes; audits of recorded
//! scores.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use dpscope_core::audit::bound::ThresholdRule;
use dpscope_core::audit::{AuditOptions, Outcome, Scores};
use dpscope_core::mechanism::{BatchSampler, BatchedGaussian, ThreatModel};
use dpscope_core::random::Purpose;
use dpscope_engine::{Shard, Unattended, begin, run};
use dpscope_shaders::random::stream_normals;
use dpscope_simulation::backend::CpuBackend;
use dpscope_simulation::{Artefact, Backend, Evaluate, Plan, Scheduler, Simulation};

use crate::{Fingerprints, hash};

const RULES: [ThresholdRule; 3] =
    [ThresholdRule::MaxUncorrected, ThresholdRule::Split, ThresholdRule::Simultaneous];

pub(crate) fn collect(found: &mut Fingerprints) {
    let samplers = [
        (BatchSampler::Shuffle, ThreatModel::WorstCase),
        (BatchSampler::Poisson, ThreatModel::TargetCanary),
        (BatchSampler::SlidingBuffer { buffer_examples: 9 }, ThreatModel::PartiallyInformed),
        (BatchSampler::Deterministic, ThreatModel::WorstCase),
    ];
    for (i, (sampler, threat_model)) in (0_u32..).zip(samplers) {
        let mechanism = BatchedGaussian {
            noise_multiplier: 0.5 + 0.3 * f64::from(i),
            steps_per_epoch: 7,
            epochs: 1 + i,
            sampler,
            threat_model,
            batch_size: Some(3),
            dataset_size: None,
        };
        for (seed, threshold_rule) in (5..).zip(RULES) {
            audit(
                found,
                &Plan {
                    mechanism,
                    observations: 20_002,
                    delta: 1e-5,
                    significance: 0.05,
                    threshold_rule,
                    cuts: Plan::DEFAULT_CUTS,
                    seed,
                    training: None,
                },
            );
        }
    }
    recorded(found);
}

fn audit(found: &mut Fingerprints, plan: &Plan) {
    const GROUP: &str = "whole audits";
    let valid = plan.validated().expect("the plan is valid");
    let cpu = CpuBackend::new(1).expect("there is one thread");
    let backend = Backend::Cpu(cpu);
    let simulation = Simulation::new(&valid, &backend).expect("the kernel takes the plan");
    let range = Shard::WHOLE.range(plan.observations_per_world()).expect("a plan has a whole");
    let start = begin(&simulation, range, &Unattended).expect("the pilot has a layout");
    for &threshold in &start.stage.thresholds {
        found.float("thresholds", threshold);
    }
    let mut scheduler = Scheduler::new(start.clone());
    while let Some(range) = scheduler.assign(3_001) {
        let part = Artefact::empty(*plan, start.stage.clone(), range);
        let part = ready(run(&simulation, part, &Unattended)).expect("the run ends");
        scheduler.add(part).expect("it was assigned");
    }
    let mut counted = ready(run(&simulation, start, &Unattended)).expect("the run ends");

    let digest = counted.histogram_digest();
    assert_eq!(scheduler.state().histogram_digest(), digest, "counted in parts");
    found.integer(GROUP, u64::from_str_radix(&digest[..16], 16).expect("hexadecimal digits"));
    outcome(found, GROUP, &counted.outcome().expect("a counted plan has an outcome"));
    let slope = counted.evidence.histograms.slope(&counted.stage.bins).expect("few counts");
    found.float(GROUP, slope.map_or(0.0, |fitted| fitted.slope));
    // A file without the device's name and the time.
    counted.devices.clear();
    counted.sampling_ms = 0.0;
    found.integer(GROUP, hash(counted.to_bytes().into_iter().map(u64::from)));
}

/// Audits of scores that were recorded elsewhere.
fn recorded(found: &mut Fingerprints) {
    let scores = |stream: u64, shift: f64, count: usize| -> Vec<f64> {
        let normals = stream_normals(9, Purpose::Test, stream, count);
        normals.iter().map(|&z| 1.3 * f64::from(z) + shift).collect()
    };
    let (target, zero_out) = (scores(0, 0.845, 6_001), scores(1, -0.845, 5_000));
    for (seed, likelihood_ratios) in [(3, true), (4, false)] {
        let runs = Scores { target: &target, zero_out: &zero_out, likelihood_ratios };
        for threshold_rule in RULES {
            let (delta, significance) = (1e-5, 0.05);
            let audit = AuditOptions { threshold_rule, delta, significance, cuts: 16, seed };
            let best = runs.audit(&audit).expect("enough runs");
            outcome(found, "recorded audits", best.outcome());
        }
    }
}

fn outcome(found: &mut Fingerprints, group: &'static str, outcome: &Outcome) {
    let evidence = outcome.evidence();
    let floats = [outcome.value(), evidence.threshold, evidence.fpr_upper, evidence.fnr_upper];
    floats.into_iter().for_each(|value| found.float(group, value));
    found.integer(group, evidence.errors.false_positives);
    found.integer(group, evidence.errors.false_negatives);
}

/// The value of a future that never waits; the CPU backend's never do.
fn ready<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("the CPU backend never waits"),
    }
}
