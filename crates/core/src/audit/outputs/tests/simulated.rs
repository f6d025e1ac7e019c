//! Simulated recordings of trainings with one fault each.

use crate::audit::finding::Finding;
use crate::audit::outputs::behaviour::Behaviour;
use crate::audit::outputs::{OutputsAudit, RecordedOutputs};
use crate::audit::scores::AuditOptions;
use crate::mechanism::{BatchSampler, BatchedGaussian, OutputOptions, OutputScorer, ThreatModel};
use crate::random::{Purpose, Words};
use crate::recorded::independence::RecordedRuns;

pub(in crate::audit::outputs) const MODELS: [ThreatModel; 3] =
    [ThreatModel::PartiallyInformed, ThreatModel::WorstCase, ThreatModel::TargetCanary];

/// Recorded runs of a training, with what is wrong with it.
#[derive(Clone, Copy)]
pub(in crate::audit::outputs) struct Training {
    pub(in crate::audit::outputs) threat_model: ThreatModel,
    pub(in crate::audit::outputs) sampler: BatchSampler,
    pub(in crate::audit::outputs) stated_noise: f64,
    pub(in crate::audit::outputs) steps: u32,
    pub(in crate::audit::outputs) epochs: u32,
    pub(in crate::audit::outputs) runs: usize,
    /// σ at an epoch and a step of D (`true`) or D′.
    pub(in crate::audit::outputs) noise: fn(bool, u32, u32) -> f64,
    /// What both worlds add to the outputs of an epoch and a step.
    pub(in crate::audit::outputs) drift: fn(u32, u32) -> f64,
    pub(in crate::audit::outputs) uses: u32,
    /// Size of the target's gradient.
    pub(in crate::audit::outputs) size: f64,
    /// What b and the contrast are multiplied by.
    pub(in crate::audit::outputs) clip: f64,
    pub(in crate::audit::outputs) factor: f64,
    pub(in crate::audit::outputs) swapped: bool,
    /// Whether a step adds noise to an output of 0.
    pub(in crate::audit::outputs) noise_in_empty: bool,
}

pub(in crate::audit::outputs) const CORRECT: Training = Training {
    threat_model: ThreatModel::PartiallyInformed,
    sampler: BatchSampler::Shuffle,
    stated_noise: 1.0,
    steps: 10,
    epochs: 2,
    runs: 120,
    noise: |_, _, _| 1.0,
    drift: |_, _| 0.0,
    uses: 1,
    size: 1.0,
    clip: 1.0,
    factor: 1.0,
    swapped: false,
    noise_in_empty: true,
};

impl Training {
    pub(in crate::audit::outputs) fn scorer(&self, threat_model: ThreatModel) -> OutputScorer {
        let mechanism = BatchedGaussian {
            noise_multiplier: self.stated_noise,
            steps_per_epoch: self.steps,
            epochs: self.epochs,
            sampler: self.sampler,
            threat_model,
            batch_size: Some(8),
            dataset_size: None,
        };
        OutputScorer::new(&mechanism, OutputOptions::default()).unwrap()
    }

    /// Outputs, sums and uses of D and of D′.
    pub(in crate::audit::outputs) fn record(&self, repetition: u64) -> [[Vec<f64>; 2]; 3] {
        let mut words = Words::new(31, Purpose::Test, repetition);
        let means = self.scorer(self.threat_model).mechanism().batch_means().unwrap();
        let other = self.clip * means.other;
        let mut world = |is_target: bool| {
            let own = if is_target { self.size } else { 0.0 };
            let with_target = self.clip * (means.zero_out + own);
            let mut recorded = [const { Vec::new() }; 3];
            for epoch in (0..self.runs).flat_map(|_| 0..self.epochs) {
                let mut uses = vec![0.0; self.steps as usize];
                match self.sampler {
                    BatchSampler::Poisson => uses.iter_mut().for_each(|uses| {
                        *uses = if words.below(self.steps) == 0 { 1.0 } else { 0.0 };
                    }),
                    _ => (0..self.uses).for_each(|_| uses[words.below(self.steps) as usize] += 1.0),
                }
                for (step, uses) in (0..).zip(uses) {
                    let sum = self.factor * (other + uses * (with_target - other))
                        + (self.drift)(epoch, step);
                    // a batch is empty with probability e⁻⁴
                    let is_empty = !self.noise_in_empty && uses == 0.0 && words.uniform() < 0.0183;
                    let noise = self.factor * (self.noise)(is_target, epoch, step) * words.normal();
                    let output = if is_empty { 0.0 } else { sum + noise };
                    recorded
                        .iter_mut()
                        .zip([output, sum, uses])
                        .for_each(|(all, one)| all.push(one));
                }
            }
            recorded
        };
        let mut worlds = [world(true), world(false)];
        if self.swapped {
            worlds.reverse();
        }
        let [target, zero_out] = worlds;
        let mut worlds = target.into_iter().zip(zero_out).map(|(d, d_prime)| [d, d_prime]);
        [(); 3].map(|()| worlds.next().unwrap())
    }

    /// What a reader of the recorded outputs finds who assumes a threat model.
    fn read<T>(
        &self,
        threat_model: ThreatModel,
        has_sums: bool,
        repetition: u64,
        find: impl FnOnce(RecordedOutputs<'_>) -> T,
    ) -> T {
        let [outputs, sums, uses] = self.record(repetition);
        let view =
            |values| RecordedRuns::new(values, self.epochs as usize, self.steps as usize).unwrap();
        let scorer = self.scorer(threat_model);
        find(RecordedOutputs {
            scorer: &scorer,
            target: view(&outputs[0]),
            zero_out: view(&outputs[1]),
            sums: has_sums.then(|| [view(&sums[0]), view(&sums[1])]),
            uses: has_sums.then(|| [view(&uses[0]), view(&uses[1])]),
            searches_buffer: false,
            counts_failed_runs: false,
        })
    }

    pub(in crate::audit::outputs) fn behaviour_as(
        &self,
        threat_model: ThreatModel,
        has_sums: bool,
        repetition: u64,
    ) -> Behaviour {
        self.read(threat_model, has_sums, repetition, |outputs| {
            let noiseless = outputs.noiseless_cells();
            outputs.behaviour(None, &noiseless, outputs.cells(&noiseless).as_ref())
        })
    }

    /// The audit of the outputs.
    pub(in crate::audit::outputs) fn audit(&self, repetition: u64) -> OutputsAudit {
        let audit = |outputs: RecordedOutputs<'_>| outputs.audit(&AuditOptions::default());
        self.read(self.threat_model, false, repetition, audit).unwrap()
    }

    pub(in crate::audit::outputs) fn behaviour(&self, repetition: u64) -> Behaviour {
        self.behaviour_as(self.threat_model, false, repetition)
    }

    /// The only finding.
    pub(in crate::audit::outputs) fn finding(&self) -> Finding {
        only(self.behaviour(3))
    }

    /// The only finding where sums and uses were recorded.
    pub(in crate::audit::outputs) fn finding_with_sums(&self) -> Finding {
        only(self.behaviour_as(self.threat_model, true, 3))
    }
}

pub(in crate::audit::outputs) fn only(behaviour: Behaviour) -> Finding {
    let found = behaviour.findings;
    assert_eq!(found.len(), 1, "{found:?}");
    found[0]
}
