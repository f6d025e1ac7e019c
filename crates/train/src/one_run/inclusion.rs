//! The white-box score: a log-likelihood ratio over all steps.

use dpscope_core::math;
use dpscope_core::mechanism::{BatchSampler, BatchedGaussian};
use dpscope_core::special::ln_gamma;

/// The distribution of the steps in which one record is used.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Inclusion {
    /// In each step independently, with a probability.
    EachStep(f64),
    /// In one step of each epoch, drawn anew; ln of the weight of each step.
    OncePerEpoch(Vec<f64>),
    /// In so many steps of each epoch, a uniform set of them.
    SeveralPerEpoch {
        /// Number of steps that use the record, k.
        uses: usize,
        /// Steps of an epoch, T.
        steps: usize,
    },
    /// In the same step of every epoch, drawn uniformly from so many.
    SameEveryEpoch(usize),
}

impl Inclusion {
    /// The distribution for record `record` of those of an epoch.
    pub(super) fn new(mechanism: &BatchedGaussian, record: u32) -> Self {
        let BatchedGaussian { sampler, steps_per_epoch: steps, .. } = *mechanism;
        let batch_size = mechanism.batch_size.unwrap_or(1);
        // in whole batches, of which the orders below are cut
        let records = u64::from(steps) * u64::from(batch_size);
        let (record, count) = (u64::from(record), steps as usize);
        let of_places = |below: &dyn Fn(u64) -> f64| {
            let edge = |step: u64| below(step * u64::from(batch_size));
            let weight = |step| math::ln((edge(step + 1) - edge(step)).max(0.0));
            Inclusion::OncePerEpoch((0..u64::from(steps)).map(weight).collect())
        };
        let rate = mechanism.sampling_rate();
        match sampler {
            BatchSampler::Poisson | BatchSampler::FixedSize => Inclusion::EachStep(rate),
            BatchSampler::TruncatedPoisson(truncation) => {
                // never refused: the mechanism was checked
                Inclusion::EachStep(truncation.presence(rate).unwrap_or(rate))
            }
            BatchSampler::PersistentShuffle => Inclusion::SameEveryEpoch(count),
            BatchSampler::Deterministic => of_places(&|place| f64::from(u8::from(place > record))),
            BatchSampler::PartialShuffle { buffer_examples } => {
                let block = buffer_examples.clamp(1, records);
                let first = record / block * block;
                let length = block.min(records - first);
                of_places(&|place| {
                    place.clamp(first, first + length).abs_diff(first) as f64 / length as f64
                })
            }
            BatchSampler::SlidingBuffer { buffer_examples } => {
                let held = buffer_examples.clamp(1, records);
                of_places(&|place| left_reservoir(records, held, record, place))
            }
            BatchSampler::RandomAllocation { uses_per_epoch: uses @ 2.. } => {
                Inclusion::SeveralPerEpoch { uses: (uses as usize).min(count), steps: count }
            }
            BatchSampler::Shuffle
            | BatchSampler::BallsInBins
            | BatchSampler::BatchThenShuffle
            | BatchSampler::RandomAllocation { .. } => {
                Inclusion::OncePerEpoch(vec![-math::ln(f64::from(steps)); count])
            }
        }
    }
}

/// Probability that a record has left a reservoir of `held` records before `place` others.
///
/// It leaves at each place after its entry with probability 1/held while the reservoir is refilled;
/// the last `held` places are equally likely for what is left.
fn left_reservoir(records: u64, held: u64, record: u64, place: u64) -> f64 {
    let entry = (record + 1).saturating_sub(held);
    let refilled = records - held;
    let survives = |places: u64| math::exp(places as f64 * math::ln_1p(-1.0 / held as f64));
    let during = place.min(refilled).saturating_sub(entry);
    let after = place.saturating_sub(refilled) as f64 / held as f64;
    let stays = if held == 1 { f64::from(u8::from(during == 0)) } else { survives(during) };
    1.0 - stays * (1.0 - after)
}

/// The white-box score of one canary, step by step.
///
/// With ḡ_t the clipped gradient of the canary at θ_t, õ_t the released noisy sum less what the other
/// records are expected to contribute, and standard deviation σC of the noise, including the canary in
/// step t changes the log-likelihood of õ_t by
///
/// ℓ_t = (⟨õ_t, ḡ_t⟩ − ‖ḡ_t‖²/2) / (σC)².
///
/// The score sums over the steps that the sampler may have drawn, as the likelihood ratio does: Poisson
/// Σ_t ln(1 − q + q e^{ℓ_t}), one step per epoch Σ_e ln Σ_t w_t e^{ℓ_{e,t}}, the same step in every epoch
/// ln Σ_t w_t e^{Σ_e ℓ_{e,t}}, k of T steps per epoch Σ_e ln Σ_S e^{Σ_{t∈S} ℓ_{e,t}}/C(T, k), over all sets S
/// of k steps. The sum over sets is the elementary symmetric polynomial e_k, by
/// e_j(x_1 … x_t) = e_j(x_1 … x_{t−1}) + x_t e_{j−1}(x_1 … x_{t−1}).
///
/// # Guarantee
/// With several steps per epoch, the score of an epoch is the log of the mean
/// likelihood ratio over all sets
/// (`unit::scores_of_several_steps_are_means_over_their_sets`).
#[derive(Debug, Clone)]
pub(crate) struct LogLikelihoodRatio<'a> {
    inclusion: &'a Inclusion,
    /// Finished epochs.
    total: f64,
    /// ln Σ_t w_t e^{ℓ_t} of the current epoch.
    epoch: f64,
    /// Σ_e ℓ_{e,t} of each step.
    steps: Vec<f64>,
    /// ln e_j of the current epoch, for each number j of steps that use the record.
    sets: Vec<f64>,
}

impl<'a> LogLikelihoodRatio<'a> {
    pub(crate) fn new(inclusion: &'a Inclusion) -> Self {
        let steps = if let Inclusion::SameEveryEpoch(steps) = inclusion { *steps } else { 0 };
        let sets = if let Inclusion::SeveralPerEpoch { uses, .. } = inclusion {
            no_steps(*uses)
        } else {
            Vec::new()
        };
        LogLikelihoodRatio {
            inclusion,
            total: 0.0,
            epoch: f64::NEG_INFINITY,
            steps: vec![0.0; steps],
            sets,
        }
    }

    /// Whether step `step` of an epoch may have used the canary.
    pub(crate) fn is_possible(&self, step: usize) -> bool {
        match self.inclusion {
            Inclusion::OncePerEpoch(weights) => weights[step] > f64::NEG_INFINITY,
            _ => true,
        }
    }

    /// Adds ℓ of step `step` of an epoch.
    pub(crate) fn add(&mut self, step: usize, ratio: f64) {
        match self.inclusion {
            Inclusion::EachStep(rate) => {
                self.total += ln_add_exp(math::ln_1p(-rate), math::ln(*rate) + ratio);
            }
            Inclusion::OncePerEpoch(weights) => {
                self.epoch = ln_add_exp(self.epoch, weights[step] + ratio);
            }
            Inclusion::SeveralPerEpoch { .. } => add_step(&mut self.sets, ratio),
            Inclusion::SameEveryEpoch(_) => self.steps[step] += ratio,
        }
    }

    /// Ends an epoch.
    pub(crate) fn end_epoch(&mut self) {
        match *self.inclusion {
            Inclusion::OncePerEpoch(_) => {
                self.total += self.epoch;
                self.epoch = f64::NEG_INFINITY;
            }
            Inclusion::SeveralPerEpoch { uses, steps } => {
                self.total += self.sets[uses] - ln_choose(steps, uses);
                self.sets = no_steps(uses);
            }
            _ => {}
        }
    }

    /// The score, nats.
    pub(crate) fn score(&self) -> f64 {
        let Inclusion::SameEveryEpoch(steps) = self.inclusion else { return self.total };
        let sum = self.steps.iter().fold(f64::NEG_INFINITY, |sum, &step| ln_add_exp(sum, step));
        sum - math::ln(*steps as f64)
    }
}

impl LogLikelihoodRatio<'_> {
    /// The score from the steps so far, of which `step` are in the current epoch: a later one of it may
    /// still use the canary.
    pub(super) fn score_so_far(&self, step: usize) -> f64 {
        match self.inclusion {
            Inclusion::OncePerEpoch(weights) => {
                let later = weights[step..].iter().copied().fold(f64::NEG_INFINITY, ln_add_exp);
                self.total + ln_add_exp(self.epoch, later)
            }
            Inclusion::SeveralPerEpoch { uses, steps } => {
                let rest = steps - step;
                // of the sets with j steps so far, so many continue with k − j of the others
                let continued = |(so_far, &set): (usize, &f64)| {
                    let others = uses - so_far;
                    if others > rest { f64::NEG_INFINITY } else { set + ln_choose(rest, others) }
                };
                let sets = self.sets.iter().enumerate().map(continued);
                let sum = sets.fold(f64::NEG_INFINITY, ln_add_exp);
                self.total + sum - ln_choose(*steps, *uses)
            }
            _ => self.score(),
        }
    }
}

/// ln e_j of no steps, for j up to `uses`.
fn no_steps(uses: usize) -> Vec<f64> {
    let mut sets = vec![f64::NEG_INFINITY; uses + 1];
    sets[0] = 0.0;
    sets
}

/// Adds a step with log ratio ℓ to ln e_j.
fn add_step(sets: &mut [f64], ratio: f64) {
    for count in (1..sets.len()).rev() {
        sets[count] = ln_add_exp(sets[count], sets[count - 1] + ratio);
    }
}

/// ln of the number of sets of `count` of `all` steps.
fn ln_choose(all: usize, count: usize) -> f64 {
    // never refused: the arguments are at least 1
    let ln_factorial = |number: usize| ln_gamma(number as f64 + 1.0).unwrap_or(f64::NAN);
    ln_factorial(all) - ln_factorial(count) - ln_factorial(all - count)
}

/// ln(e^a + e^b).
fn ln_add_exp(a: f64, b: f64) -> f64 {
    let (high, low) = if a > b { (a, b) } else { (b, a) };
    if low == f64::NEG_INFINITY { high } else { high + math::ln_1p(math::exp(low - high)) }
}

#[cfg(test)]
mod tests {
    use dpscope_core::mechanism::{ThreatModel, Truncation};
    use dpscope_shaders::train::{Batches, EpochBatches};

    use super::*;

    const STEPS: u32 = 6;
    const BATCH: u32 = 4;
    const EPOCHS: u32 = 5_000;

    /// Batches of a number of records, 24 of which are in whole batches.
    fn mechanism(sampler: BatchSampler, records: u64) -> BatchedGaussian {
        let whole = BatchedGaussian {
            noise_multiplier: 1.0,
            steps_per_epoch: STEPS,
            epochs: 1,
            sampler,
            threat_model: ThreatModel::TargetCanary,
            batch_size: Some(BATCH * sampler.uses_per_epoch().unwrap_or(1)),
            dataset_size: None,
        };
        whole.of_records(records)
    }

    /// Largest distance of the observed steps of a record from its distribution, in standard errors.
    fn distance(mechanism: &BatchedGaussian, observed: u32, described: u32) -> f64 {
        let batches = Batches::of(mechanism);
        let mut counts = [0_u32; STEPS as usize];
        let mut drawn = EpochBatches::default();
        for epoch in 0..EPOCHS {
            // a stream per epoch: a persistent order is drawn once per stream
            batches.draw(3, epoch.into(), 0, &mut drawn);
            for (step, count) in counts.iter_mut().enumerate() {
                *count += u32::from(drawn.members_at(step).contains(&observed));
            }
        }
        let inclusion = Inclusion::new(mechanism, described);
        let chance = |step: usize| match &inclusion {
            Inclusion::EachStep(rate) => *rate,
            Inclusion::OncePerEpoch(weights) => math::exp(weights[step]),
            Inclusion::SeveralPerEpoch { uses, steps } => *uses as f64 / *steps as f64,
            Inclusion::SameEveryEpoch(steps) => 1.0 / *steps as f64,
        };
        let far = |(step, &count): (usize, &u32)| {
            let (chance, epochs) = (chance(step), f64::from(EPOCHS));
            let spread = (epochs * chance * (1.0 - chance)).sqrt().max(0.1);
            (f64::from(count) - epochs * chance).abs() / spread
        };
        counts.iter().enumerate().map(far).fold(0.0, f64::max)
    }

    #[test]
    fn records_are_used_when_their_distribution_says() {
        let samplers = [
            BatchSampler::Poisson,
            BatchSampler::FixedSize,
            BatchSampler::TruncatedPoisson(Truncation { dataset_size: 24, max_batch_size: 4 }),
            BatchSampler::Shuffle,
            BatchSampler::PersistentShuffle,
            BatchSampler::BallsInBins,
            BatchSampler::Deterministic,
            BatchSampler::PartialShuffle { buffer_examples: 10 },
            BatchSampler::SlidingBuffer { buffer_examples: 7 },
            BatchSampler::SlidingBuffer { buffer_examples: 1 },
            BatchSampler::RandomAllocation { uses_per_epoch: 1 },
            BatchSampler::RandomAllocation { uses_per_epoch: 3 },
        ];
        for sampler in samplers {
            for record in [0, 9, 15, 23] {
                let far = distance(&mechanism(sampler, 24), record, record);
                assert!(far < 5.3, "{sampler} {record}: {far}");
            }
        }
        // the mutant: another record's distribution
        for sampler in &samplers[6..10] {
            assert!(distance(&mechanism(*sampler, 24), 0, 23) > 10.0, "{sampler}");
        }
        let truncation = Truncation { dataset_size: 27, max_batch_size: 4 };
        for sampler in [
            BatchSampler::Poisson,
            BatchSampler::FixedSize,
            BatchSampler::TruncatedPoisson(truncation),
            BatchSampler::BallsInBins,
            BatchSampler::RandomAllocation { uses_per_epoch: 3 },
        ] {
            for record in [0, 26] {
                let far = distance(&mechanism(sampler, 27), record, record);
                assert!(far < 5.3, "{sampler} {record} of 27: {far}");
            }
        }
    }

    /// ln of the mean over all sets of `uses` steps of the exponential of the sum of their ratios.
    fn mean_over_sets(ratios: &[f64], uses: u32) -> f64 {
        let sets = (0_u32..1 << ratios.len()).filter(|set| set.count_ones() == uses);
        let sums = sets.map(|set| {
            let used = ratios.iter().enumerate().filter(|(step, _)| set >> step & 1 == 1);
            used.map(|(_, ratio)| ratio).sum::<f64>()
        });
        let ratios: Vec<f64> = sums.map(math::exp).collect();
        math::ln(ratios.iter().sum::<f64>() / ratios.len() as f64)
    }

    #[test]
    fn scores_of_several_steps_are_means_over_their_sets() {
        let epochs = [[0.7, -1.2, 2.5, 0.1, -0.4, 1.1], [-2.0, 0.3, 0.9, 3.1, -0.6, 0.0]];
        for uses in 2..=6 {
            let sampler = BatchSampler::RandomAllocation { uses_per_epoch: uses };
            let inclusion = Inclusion::new(&mechanism(sampler, 24), 0);
            let mut ratio = LogLikelihoodRatio::new(&inclusion);
            let mut expected = 0.0;
            for epoch in &epochs {
                for (step, &of_step) in epoch.iter().enumerate() {
                    // later steps have no ratio yet
                    let so_far = epoch.iter().enumerate();
                    let so_far = so_far.map(|(at, &ratio)| if at < step { ratio } else { 0.0 });
                    let so_far: Vec<f64> = so_far.collect();
                    let mean = expected + mean_over_sets(&so_far, uses);
                    assert!((ratio.score_so_far(step) - mean).abs() < 1e-12, "{uses} {step}");
                    ratio.add(step, of_step);
                }
                ratio.end_epoch();
                expected += mean_over_sets(epoch, uses);
            }
            assert!((ratio.score() - expected).abs() < 1e-12, "{uses}");
            // the mutant: each step with probability k/T
            let rate = Inclusion::EachStep(f64::from(uses) / f64::from(STEPS));
            let mut mutant = LogLikelihoodRatio::new(&rate);
            for of_step in epochs.concat() {
                mutant.add(0, of_step);
            }
            assert!(uses == STEPS || (mutant.score() - expected).abs() > 0.01, "{uses}");
        }
    }

    #[test]
    fn ratios_of_large_scores_are_finite() {
        for inclusion in [
            Inclusion::EachStep(0.1),
            Inclusion::OncePerEpoch(vec![math::ln(0.5), math::ln(0.5)]),
            Inclusion::SeveralPerEpoch { uses: 1, steps: 2 },
            Inclusion::SameEveryEpoch(2),
        ] {
            let mut ratio = LogLikelihoodRatio::new(&inclusion);
            ratio.add(0, 1e5);
            ratio.add(1, -1e5);
            ratio.end_epoch();
            assert!(ratio.score() > 9e4 && ratio.score() < 1e5, "{inclusion:?}");
        }
    }
}
