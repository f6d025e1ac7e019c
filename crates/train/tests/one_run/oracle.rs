//! Training of a linear network with canaries in f64, by plain loops.

use dpscope_core::mechanism::{BatchSampler, BatchedGaussian};
use dpscope_core::random::{Purpose, Words};
use dpscope_shaders::random::VectorNormals;
use dpscope_shaders::train::{Batches, EpochBatches};
use dpscope_train::data::Examples;
use dpscope_train::one_run::OneRunSettings;

/// Features and label.
type Labelled = (Vec<f64>, usize);

/// A mistake of a trainer or scorer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Fault {
    None,
    InsertedTwice,
    OutNotDropped,
    NoiseForgotten,
    MomentumForgotten,
    Undivided,
    NoHalfNorm,
    NotDebiased,
}

pub(crate) const FAULTS: [Fault; 7] = [
    Fault::InsertedTwice,
    Fault::OutNotDropped,
    Fault::NoiseForgotten,
    Fault::MomentumForgotten,
    Fault::Undivided,
    Fault::NoHalfNorm,
    Fault::NotDebiased,
];

pub(crate) struct Oracle {
    pub(crate) base: Examples,
    pub(crate) canaries: Examples,
    pub(crate) mechanism: BatchedGaussian,
    pub(crate) settings: OneRunSettings,
    pub(crate) seed: u64,
    pub(crate) classes: usize,
}

/// Final loss, loss difference and white-box score of each canary.
pub(crate) type Scores = [Vec<f64>; 3];

impl Oracle {
    fn row(examples: &Examples, record: usize) -> Labelled {
        let (mut row, mut label) = (Vec::new(), Vec::new());
        examples.fill(&[record as u32], &mut row, &mut label);
        (row.into_iter().map(f64::from).collect(), label[0] as usize)
    }

    /// Loss and gradient of one record.
    fn loss(&self, theta: &[f64], (row, label): &Labelled) -> (f64, Vec<f64>) {
        let (inputs, classes) = (row.len(), self.classes);
        let mut logits = vec![0.0; classes];
        for class in 0..classes {
            logits[class] = theta[inputs * classes + class];
            for feature in 0..inputs {
                logits[class] += theta[class * inputs + feature] * row[feature];
            }
        }
        let total: f64 = logits.iter().map(|&logit| dpscope_core::math::exp(logit)).sum();
        let mut gradient = vec![0.0; theta.len()];
        for class in 0..classes {
            let target = if class == *label { 1.0 } else { 0.0 };
            let slope = dpscope_core::math::exp(logits[class]) / total - target;
            gradient[inputs * classes + class] = slope;
            for feature in 0..inputs {
                gradient[class * inputs + feature] = slope * row[feature];
            }
        }
        (dpscope_core::math::ln(total) - logits[*label], gradient)
    }

    fn clipped(&self, theta: &[f64], record: &Labelled) -> Vec<f64> {
        let (_, gradient) = self.loss(theta, record);
        let norm = inner(&gradient, &gradient).sqrt();
        let factor = (self.settings.clip_norm / norm).min(1.0);
        gradient.into_iter().map(|entry| entry * factor).collect()
    }

    pub(crate) fn scores(&self, unit: u64, coins: &[bool], fault: Fault) -> Scores {
        let BatchedGaussian { noise_multiplier, steps_per_epoch, epochs, sampler, .. } =
            self.mechanism;
        let batch_size = self.mechanism.batch_size.unwrap_or(1);
        let canaries: Vec<Labelled> =
            (0..coins.len()).map(|canary| Self::row(&self.canaries, canary)).collect();
        let slots = (steps_per_epoch * batch_size / uses(sampler)) as usize;
        let base: Vec<Labelled> =
            (0..slots - coins.len()).map(|record| Self::row(&self.base, record)).collect();
        let mut theta = self.initial();
        let start = theta.clone();
        let mut velocity = vec![0.0; theta.len()];
        let batches = Batches::new(sampler, batch_size, steps_per_epoch);
        let mut normals = VectorNormals::new(self.seed, Purpose::TrainNoise, unit);
        // ℓ of each epoch, step and canary
        let mut ratios: Vec<Vec<Vec<f64>>> = Vec::new();
        let mut drawn = EpochBatches::default();
        for epoch in 0..epochs {
            batches.draw(self.seed, unit, epoch, &mut drawn);
            let mut of_epoch = Vec::new();
            for step in 0..steps_per_epoch {
                let members = drawn.members_at(step as usize);
                let mut sum = self.sum(&theta, members, (&base, &canaries), coins, fault);
                let mut noise = vec![0.0_f32; theta.len()];
                normals.add(u64::from(epoch * steps_per_epoch + step), 1.0, &mut noise);
                let wide: Vec<f64> = noise.into_iter().map(f64::from).collect();
                let is_noisy = fault != Fault::NoiseForgotten;
                let deviation = noise_multiplier * self.settings.clip_norm;
                add(&mut sum, if is_noisy { deviation } else { 0.0 }, &wide);
                let ratio = |canary| self.ratio(&theta, &sum, (&base, &canaries), canary, fault);
                of_epoch.push((0..coins.len()).map(ratio).collect());
                self.update(&mut theta, &mut velocity, &sum, fault);
            }
            ratios.push(of_epoch);
        }
        let loss = |theta: &[f64]| -> Vec<f64> {
            canaries.iter().map(|canary| self.loss(theta, canary).0).collect()
        };
        let (first, last) = (loss(&start), loss(&theta));
        let size = (epochs as usize, steps_per_epoch as usize);
        let white_box = |canary: usize| {
            let ratio = |epoch: usize, step: usize| ratios[epoch][step][canary];
            likelihood_ratio(sampler, slots, base.len() + canary, &ratio, size)
        };
        [
            last.iter().map(|loss| -loss).collect(),
            first.iter().zip(&last).map(|(first, last)| first - last).collect(),
            (0..coins.len()).map(white_box).collect(),
        ]
    }

    /// Sum of the clipped gradients of a batch.
    fn sum(
        &self,
        theta: &[f64],
        members: &[u32],
        (base, canaries): (&[Labelled], &[Labelled]),
        coins: &[bool],
        fault: Fault,
    ) -> Vec<f64> {
        let mut sum = vec![0.0; theta.len()];
        for &member in members {
            let member = member as usize;
            if member < base.len() {
                add(&mut sum, 1.0, &self.clipped(theta, &base[member]));
                continue;
            }
            let canary = member - base.len();
            let weight = match fault {
                Fault::InsertedTwice if coins[canary] => 2.0,
                _ if coins[canary] || fault == Fault::OutNotDropped => 1.0,
                _ => 0.0,
            };
            add(&mut sum, weight, &self.clipped(theta, &canaries[canary]));
        }
        sum
    }

    /// ℓ of a canary in one step.
    fn ratio(
        &self,
        theta: &[f64],
        sum: &[f64],
        (base, canaries): (&[Labelled], &[Labelled]),
        canary: usize,
        fault: Fault,
    ) -> f64 {
        let uses = f64::from(uses(self.mechanism.sampler));
        let rate = uses / f64::from(self.mechanism.steps_per_epoch);
        let own = self.clipped(theta, &canaries[canary]);
        let mut seen = sum.to_vec();
        if fault != Fault::NotDebiased {
            let estimated = self.settings.debias_records as usize;
            let weight = -rate * base.len() as f64 / estimated as f64;
            for record in &base[..estimated] {
                add(&mut seen, weight, &self.clipped(theta, record));
            }
            for other in (0..canaries.len()).filter(|&other| other != canary) {
                add(&mut seen, -rate / 2.0, &self.clipped(theta, &canaries[other]));
            }
        }
        let half = if fault == Fault::NoHalfNorm { 0.0 } else { inner(&own, &own) / 2.0 };
        let deviation = self.mechanism.noise_multiplier * self.settings.clip_norm;
        (inner(&seen, &own) - half) / (deviation * deviation)
    }

    fn update(&self, theta: &mut [f64], velocity: &mut [f64], sum: &[f64], fault: Fault) {
        let batch_size = f64::from(self.mechanism.batch_size.unwrap_or(1));
        let OneRunSettings { learning_rate, momentum, .. } = self.settings;
        let momentum = if fault == Fault::MomentumForgotten { 0.0 } else { momentum };
        let divisor = if fault == Fault::Undivided { 1.0 } else { batch_size };
        for (place, entry) in sum.iter().enumerate() {
            velocity[place] = momentum * velocity[place] + entry / divisor;
            theta[place] -= learning_rate * velocity[place];
        }
    }

    fn initial(&self) -> Vec<f64> {
        let inputs = self.base.shape().len();
        let mut words = Words::new(self.seed, Purpose::TrainInitial, u64::MAX);
        let bound = 1.0 / (inputs as f64).sqrt();
        let entry = |_| f64::from(((2.0 * words.uniform() - 1.0) * bound) as f32);
        (0..(inputs + 1) * self.classes).map(entry).collect()
    }
}

/// Batches of an epoch with a record.
fn uses(sampler: BatchSampler) -> u32 {
    sampler.uses_per_epoch().unwrap_or(1)
}

/// ln of the mean over the batches that the sampler may have drawn of Π e^ℓ.
fn likelihood_ratio(
    sampler: BatchSampler,
    slots: usize,
    record: usize,
    ratio: &dyn Fn(usize, usize) -> f64,
    (epochs, steps): (usize, usize),
) -> f64 {
    let exp = dpscope_core::math::exp;
    let ln = dpscope_core::math::ln;
    let epoch_mean =
        |epoch: usize| (0..steps).map(|step| exp(ratio(epoch, step))).sum::<f64>() / steps as f64;
    match sampler {
        BatchSampler::Poisson => {
            let rate = 1.0 / steps as f64;
            let each = |epoch: usize| {
                (0..steps)
                    .map(move |step| ln(1.0 - rate + rate * exp(ratio(epoch, step))))
                    .sum::<f64>()
            };
            (0..epochs).map(each).sum()
        }
        BatchSampler::PersistentShuffle => {
            let whole = |step: usize| exp((0..epochs).map(|epoch| ratio(epoch, step)).sum::<f64>());
            ln((0..steps).map(whole).sum::<f64>() / steps as f64)
        }
        BatchSampler::Deterministic => {
            (0..epochs).map(|epoch| ratio(epoch, record / (slots / steps))).sum()
        }
        BatchSampler::RandomAllocation { uses_per_epoch } => {
            let sets = (0_u32..1 << steps).filter(|set| set.count_ones() == uses_per_epoch);
            let sets: Vec<u32> = sets.collect();
            let of_set = |epoch: usize, set: u32| {
                let used = (0..steps).filter(|step| set >> step & 1 == 1);
                exp(used.map(|step| ratio(epoch, step)).sum::<f64>())
            };
            let mean = |epoch: usize| {
                sets.iter().map(|&set| of_set(epoch, set)).sum::<f64>() / sets.len() as f64
            };
            (0..epochs).map(|epoch| ln(mean(epoch))).sum()
        }
        _ => (0..epochs).map(|epoch| ln(epoch_mean(epoch))).sum(),
    }
}

fn inner(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add(sum: &mut [f64], factor: f64, terms: &[f64]) {
    sum.iter_mut().zip(terms).for_each(|(sum, term)| *sum += factor * term);
}
