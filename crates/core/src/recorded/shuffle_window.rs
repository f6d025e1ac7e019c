//! Shuffle-buffer size estimated from recorded outputs.

use super::output_spread::OutputSpread;
use crate::adjacency::World;
use crate::math;
use crate::mechanism::{BatchSampler, MechanismError, OutputScorer, partial_shuffle_candidates};

/// Evidence in recorded outputs for a shuffle over only the first k of T batches.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShuffleWindow {
    /// k: the tested number of batches with the largest likelihood.
    pub prefix: u32,
    /// T.
    pub steps_per_epoch: u32,
    /// ln of the likelihood ratio of k batches against all T, over all pairs of runs.
    pub ln_evidence: f64,
    /// The value that a shuffle over all T batches exceeds with probability at most `significance`,
    /// for any of the tested numbers.
    pub ln_needed: f64,
    /// Shared by all tested numbers.
    pub significance: f64,
}

impl ShuffleWindow {
    /// Whether a shuffle over all batches is refuted.
    #[must_use]
    pub fn is_significant(&self) -> bool {
        self.ln_evidence >= self.ln_needed
    }
}

/// Likelihoods of pairs of runs, one of each world, for each number of first batches.
///
/// The difference y = o − o′ of a run of D and one of D′ cancels every contribution that both
/// worlds share, step by step. If the records are in batches s and s′ of an epoch, y has the
/// density of noise of variance v = 2σ² times e^{l_s + l′_{s′}}, and times e^{m m′/v} if s = s′,
/// with
///
/// l_t = (m·y_t − m²/2)/v, l′_t = (−m′·y_t − m′²/2)/v, m = a − b, m′ = c − b
///
/// So a shuffle within the first k batches has the likelihood (A A′ + (e^{m m′/v} − 1) B)/k², with
/// A, A′ and B the sums of e^{l_t}, e^{l′_t} and e^{l_t + l′_t} over t ≤ k, and over all T the same
/// with k = T.
///
/// # Guarantee
/// Under a shuffle over all T batches with the mechanism's noise, for independent runs whose means
/// are the idealised ones plus a contribution of each step that is equal in all runs, each
/// likelihood ratio has mean 1, so that the largest of K ratios exceeds K/`significance` with
/// probability at most `significance` (Markov and Bonferroni;
/// `unit::full_shuffles_are_rarely_reported_as_short`). Outputs that spread less than that noise,
/// because of less noise or another scale, would indicate a short prefix wherever the record is:
/// they have no window (`unit::outputs_that_vary_too_little_have_no_window`).
#[derive(Debug, Clone)]
pub struct ShuffleEvidence<'a> {
    scorer: &'a OutputScorer,
    /// Ascending; the last is T.
    ends: Vec<u32>,
    /// For each except T.
    sums: Vec<f64>,
    spread: OutputSpread,
}

impl<'a> ShuffleEvidence<'a> {
    /// Without runs yet; none for a sampler that does not shuffle records, and for one batch.
    #[must_use]
    pub fn new(scorer: &'a OutputScorer) -> Option<Self> {
        let mechanism = scorer.mechanism();
        let is_asked = matches!(
            mechanism.sampler,
            BatchSampler::Shuffle
                | BatchSampler::PartialShuffle { .. }
                | BatchSampler::SlidingBuffer { .. }
        );
        let steps = mechanism.steps_per_epoch;
        if !is_asked || steps < 2 {
            return None;
        }
        let mut ends = partial_shuffle_candidates(steps);
        ends.retain(|&prefix| prefix < steps);
        let sums = vec![0.0; ends.len()];
        ends.push(steps);
        Some(ShuffleEvidence { scorer, ends, sums, spread: OutputSpread::default() })
    }

    /// Adds a run of D and one of D′.
    ///
    /// # Errors
    /// A wrong number of outputs, or an output that is not finite; the pair is then not added.
    pub fn add(&mut self, target: &[f64], zero_out: &[f64]) -> Result<(), MechanismError> {
        self.scorer.check(target)?;
        self.scorer.check(zero_out)?;
        let steps = self.scorer.mechanism().steps_per_epoch as usize;
        let pairs = PairLikelihood::new(self.scorer)?;
        for (ours, theirs) in target.chunks_exact(steps).zip(zero_out.chunks_exact(steps)) {
            let likelihoods = pairs.ln_likelihoods(ours, theirs, &self.ends);
            let Some((whole, parts)) = likelihoods.split_last() else { continue };
            // likelihoods that underflow are no evidence
            if !likelihoods.iter().all(|likelihood| likelihood.is_finite()) {
                continue;
            }
            for (sum, part) in self.sums.iter_mut().zip(parts) {
                *sum += part - whole;
            }
            self.spread.add(ours, theirs, self.scorer.mechanism().noise_multiplier);
        }
        Ok(())
    }

    /// The window that the runs indicate at this significance; none if they spread less than the
    /// noise.
    #[must_use]
    pub fn window(&self, significance: f64) -> Option<ShuffleWindow> {
        if self.spread.is_too_small() {
            return None;
        }
        let best = self.ends.iter().zip(&self.sums).max_by(|a, b| a.1.total_cmp(b.1))?;
        let ln_needed = math::ln(self.sums.len() as f64 / significance);
        let steps_per_epoch = self.scorer.mechanism().steps_per_epoch;
        let (&prefix, &ln_evidence) = best;
        Some(ShuffleWindow { prefix, steps_per_epoch, ln_evidence, ln_needed, significance })
    }
}

/// The distribution of a difference of outputs of both worlds.
#[derive(Clone, Copy)]
struct PairLikelihood {
    /// m
    target: f64,
    /// m′
    zero_out: f64,
    /// 2σ²
    variance: f64,
    /// ln(e^{m m′/v} − 1)
    ln_both: f64,
}

impl PairLikelihood {
    fn new(scorer: &OutputScorer) -> Result<Self, MechanismError> {
        let (target, _) = scorer.shift_and_other(World::Target)?;
        let (zero_out, _) = scorer.shift_and_other(World::ZeroOut)?;
        let noise = scorer.mechanism().noise_multiplier;
        let variance = 2.0 * noise * noise;
        let ln_both = math::ln(math::exp_m1(target * zero_out / variance));
        Ok(PairLikelihood { target, zero_out, variance, ln_both })
    }

    /// ln of the likelihood of a shuffle within each number of first batches.
    fn ln_likelihoods(&self, ours: &[f64], theirs: &[f64], ends: &[u32]) -> Vec<f64> {
        let (mut target, mut zero_out, mut both) = (LnSum::NONE, LnSum::NONE, LnSum::NONE);
        let mut done = 0;
        let mut likelihoods = Vec::with_capacity(ends.len());
        for &end in ends {
            for (o, o_zero) in ours.iter().zip(theirs).take(end as usize).skip(done) {
                let change = o - o_zero;
                let ln_of = |mean: f64| mean * (change - 0.5 * mean) / self.variance;
                let (l, l_zero) = (ln_of(self.target), ln_of(-self.zero_out));
                target.add(l);
                zero_out.add(l_zero);
                both.add(l + l_zero);
            }
            done = end as usize;
            let mut sum = LnSum::NONE;
            sum.add(target.ln() + zero_out.ln());
            sum.add(self.ln_both + both.ln());
            likelihoods.push(sum.ln() - 2.0 * math::ln(f64::from(end)));
        }
        likelihoods
    }
}

/// ln Σ eˣ, updated one value at a time.
#[derive(Clone, Copy)]
struct LnSum {
    largest: f64,
    /// Σ e^{x − largest}
    sum: f64,
}

impl LnSum {
    const NONE: LnSum = LnSum { largest: f64::NEG_INFINITY, sum: 0.0 };

    fn add(&mut self, value: f64) {
        if value > self.largest {
            self.sum = self.sum * math::exp(self.largest - value) + 1.0;
            self.largest = value;
        } else {
            self.sum += math::exp(value - self.largest);
        }
    }

    fn ln(self) -> f64 {
        self.largest + math::ln(self.sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::{BatchedGaussian, OutputOptions, ThreatModel};
    use crate::special::normal;

    const STEPS: u32 = 20;

    fn scorer(threat_model: ThreatModel) -> OutputScorer {
        let mechanism = BatchedGaussian {
            noise_multiplier: 1.0,
            steps_per_epoch: STEPS,
            epochs: 2,
            sampler: BatchSampler::Shuffle,
            threat_model,
            batch_size: Some(5),
        };
        OutputScorer::new(&mechanism, OutputOptions::default()).unwrap()
    }

    /// Uniform in (0, 1), by a linear congruence of 64 bits.
    struct Uniforms(u64);

    impl Uniforms {
        fn next(&mut self) -> f64 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            ((self.0 >> 12) as f64 + 0.5) / (1_u64 << 52) as f64
        }
    }

    /// The contribution of other records to a step, equal in all runs and decreasing.
    fn drift(step: u32) -> f64 {
        2.0 - 0.05 * f64::from(step)
    }

    /// Runs of both worlds in pairs, the record within the first `reach` batches of each epoch.
    fn runs(scorer: &OutputScorer, reach: u32, pairs: u32, seed: u64, drifts: f64) -> Vec<Pair> {
        let mut uniforms = Uniforms(seed);
        let means = scorer.mechanism().batch_means().unwrap();
        let mut run = |at_slot: f64| {
            let mut outputs = Vec::new();
            for epoch in 0..2 {
                let slot = (uniforms.next() * f64::from(reach)) as u32;
                outputs.extend((0..STEPS).map(|step| {
                    let mean = if step == slot { at_slot } else { means.other };
                    let bias = drifts * drift(epoch * STEPS + step);
                    mean + bias + normal::quantile(uniforms.next())
                }));
            }
            outputs
        };
        (0..pairs).map(|_| [run(means.target), run(means.zero_out)]).collect()
    }

    type Pair = [Vec<f64>; 2];

    fn evidence(scorer: &OutputScorer, runs: &[Pair]) -> ShuffleWindow {
        let mut evidence = ShuffleEvidence::new(scorer).unwrap();
        for [target, zero_out] in runs {
            evidence.add(target, zero_out).unwrap();
        }
        evidence.window(0.05).unwrap()
    }

    /// A broken twin: runs of D without differences.
    fn without_differences(scorer: &OutputScorer, runs: &[Pair]) -> ShuffleWindow {
        let mut evidence = ShuffleEvidence::new(scorer).unwrap();
        let means = scorer.mechanism().batch_means().unwrap();
        let noise = scorer.mechanism().noise_multiplier;
        let alone = PairLikelihood {
            target: means.target - means.other,
            zero_out: 0.0,
            variance: noise * noise,
            ln_both: f64::NEG_INFINITY,
        };
        let nothing = [means.other; STEPS as usize];
        for epoch in runs.iter().flat_map(|[target, _]| target.chunks_exact(STEPS as usize)) {
            let likelihoods = alone.ln_likelihoods(epoch, &nothing, &evidence.ends);
            let (whole, parts) = likelihoods.split_last().unwrap();
            for (sum, part) in evidence.sums.iter_mut().zip(parts) {
                *sum += part - whole;
            }
        }
        evidence.window(0.05).unwrap()
    }

    #[test]
    fn full_shuffles_are_rarely_reported_as_short() {
        for threat_model in [ThreatModel::PartiallyInformed, ThreatModel::TargetCanary] {
            let scorer = scorer(threat_model);
            for drifts in [0.0, 1.0] {
                let drawn: Vec<_> =
                    (0..300).map(|seed| runs(&scorer, STEPS, 20, seed, drifts)).collect();
                let reached = drawn.iter().map(|runs| evidence(&scorer, runs));
                let reached: Vec<ShuffleWindow> = reached.collect();
                // an expected 15 at most, and 32 or more once in 10⁴ times
                let shown = reached.iter().filter(|reach| reach.is_significant()).count();
                assert!(shown < 32, "{threat_model}: {shown}");
                // broken twin: a threshold of ½ refutes often
                let positive = reached.iter().filter(|reach| reach.ln_evidence > -0.7).count();
                assert!(positive >= 32, "{threat_model}: {positive}");
                let alone = drawn.iter().map(|runs| without_differences(&scorer, runs));
                let wrong = alone.filter(ShuffleWindow::is_significant).count();
                assert_eq!(wrong >= 32, drifts > 0.0, "{threat_model}: {wrong}");
            }
        }
    }

    #[test]
    fn a_short_buffer_is_detected() {
        let scorer = scorer(ThreatModel::PartiallyInformed);
        for drifts in [0.0, 1.0] {
            for reach in [1, 2, 6, 10] {
                let found = evidence(&scorer, &runs(&scorer, reach, 60, 5, drifts));
                assert!(found.is_significant(), "{found:?}");
                let share = f64::from(found.prefix) / f64::from(reach);
                assert!((share - 1.0).abs() < 0.5, "{found:?}");
            }
            assert!(!evidence(&scorer, &runs(&scorer, STEPS, 60, 5, drifts)).is_significant());
        }
        assert!(!evidence(&scorer, &[]).is_significant());
    }

    #[test]
    fn outputs_that_vary_too_little_have_no_window() {
        let scorer = scorer(ThreatModel::PartiallyInformed);
        let other = scorer.mechanism().batch_means().unwrap().other;
        let scaled = |factor: f64, by: fn(f64, f64, f64) -> f64| {
            let mut runs = runs(&scorer, STEPS, 200, 5, 0.0);
            let outputs = runs.iter_mut().flatten().flatten();
            outputs.for_each(|output| *output = by(*output, other, factor));
            let mut evidence = ShuffleEvidence::new(&scorer).unwrap();
            runs.iter().for_each(|[target, zero_out]| evidence.add(target, zero_out).unwrap());
            evidence
        };
        // means over batches in place of sums; less noise around the same means, except for the
        // record's
        let averaged = scaled(0.2, |output, _, factor| factor * output);
        let quiet = scaled(0.3, |output, other, factor| other + factor * (output - other));
        for evidence in [averaged, quiet] {
            assert_eq!(evidence.window(0.05), None);
            // broken twin: the spread is ignored
            let blind = ShuffleEvidence { spread: OutputSpread::default(), ..evidence };
            assert!(blind.window(0.05).unwrap().is_significant());
        }
        for factor in [0.99, 1.0, 2.0] {
            let near = scaled(factor, |output, _, factor| factor * output);
            assert!(!near.window(0.05).unwrap().is_significant(), "{factor}");
        }
    }

    /// The sums against an enumeration of the places of both records.
    #[test]
    fn likelihoods_are_means_over_both_places() {
        for threat_model in [ThreatModel::PartiallyInformed, ThreatModel::TargetCanary] {
            let pair = PairLikelihood::new(&scorer(threat_model)).unwrap();
            let [ours, theirs] =
                [3.0, 7.0].map(|turn| (0..8).map(|t| math::sin(turn * f64::from(t))).collect());
            let (ours, theirs): (Vec<f64>, Vec<f64>) = (ours, theirs);
            let seen = pair.ln_likelihoods(&ours, &theirs, &[1, 3, 8]);
            for (seen, end) in seen.into_iter().zip([1_usize, 3, 8]) {
                let mut sum = 0.0;
                for (s, s_zero) in (0..end).flat_map(|s| (0..end).map(move |t| (s, t))) {
                    let mean = |t| {
                        let ours = if t == s { pair.target } else { 0.0 };
                        ours - if t == s_zero { pair.zero_out } else { 0.0 }
                    };
                    let exponent =
                        |t: usize| mean(t) * (ours[t] - theirs[t] - 0.5 * mean(t)) / pair.variance;
                    sum += math::exp((0..8).map(exponent).sum::<f64>());
                }
                let plain = math::ln(sum / (end * end) as f64);
                assert!((seen - plain).abs() < 1e-12, "{threat_model} {end}: {seen} {plain}");
                let apart = PairLikelihood { ln_both: f64::NEG_INFINITY, ..pair };
                let broken = apart.ln_likelihoods(&ours, &theirs, &[1])[0];
                let is_same = pair.zero_out == 0.0;
                assert!(end > 1 || is_same == ((broken - plain).abs() < 1e-12), "{broken}");
            }
        }
    }

    #[test]
    fn only_shuffles_have_a_window_and_broken_runs_change_nothing() {
        let mut mechanism = *scorer(ThreatModel::TargetCanary).mechanism();
        let asked = |mechanism: &BatchedGaussian| {
            let scorer = OutputScorer::new(mechanism, OutputOptions::default()).unwrap();
            ShuffleEvidence::new(&scorer).is_some()
        };
        assert!(asked(&mechanism));
        mechanism.sampler = BatchSampler::Poisson;
        assert!(!asked(&mechanism));
        let scorer = scorer(ThreatModel::TargetCanary);
        let mut evidence = ShuffleEvidence::new(&scorer).unwrap();
        assert!(evidence.add(&[0.0; 39], &[0.0; 40]).is_err());
        let mut outputs = [0.0; 40];
        outputs[39] = f64::NAN;
        assert!(evidence.add(&[0.0; 40], &outputs).is_err());
        assert_eq!(evidence.window(0.05).unwrap().ln_evidence, 0.0);
        let [huge, opposite] = [[1e308; 40], [-1e308; 40]];
        evidence.add(&huge, &opposite).unwrap();
        assert_eq!(evidence.window(0.05).unwrap().ln_evidence, 0.0);
    }
}
