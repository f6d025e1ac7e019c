//! The hypotheses that recorded outputs are scored under: one, or one per prefix if the shuffle
//! buffer is unknown.

use dpscope_core::adjacency::World;
use dpscope_core::audit::bound::{EpsilonEstimate, ThresholdRule};
use dpscope_core::audit::{AuditOptions, AuditResult, Finding, Outcome, Scores};
use dpscope_core::recorded::{
    NoiseReuse, OutputSpread, ShuffleEvidence, ShuffleWindow, is_noiseless,
};

use super::OutputsArgs;
use super::load::{Outputs, searches_buffer};
use crate::failure::Failure;
use dpscope_core::mechanism::{
    BatchedGaussian, MechanismError, OutputOptions, OutputReference, OutputScorer,
    partial_shuffle_candidates,
};

/// Scores under one of the hypotheses tested, which share the significance (Bonferroni).
pub(super) struct Hypothesis {
    /// Batches of an epoch that are scored.
    prefix: Option<u32>,
    pub(super) target: Vec<f64>,
    pub(super) zero_out: Vec<f64>,
}

impl Hypothesis {
    pub(super) fn scores(&self) -> Scores<'_> {
        Scores { target: &self.target, zero_out: &self.zero_out, likelihood_ratios: true }
    }
}

/// Scores of all runs under every hypothesis.
pub(super) struct ScoredOutputs {
    pub(super) hypotheses: Vec<Hypothesis>,
    /// The shuffle window, if the sampler has one.
    pub(super) shuffle_window: Option<ShuffleWindow>,
    /// Findings about the noise: one for each cause.
    pub(super) noise: Vec<Finding>,
}

/// Pairs runs of the first half of one world with runs of the second half of the other: if both
/// worlds used the same seeds, run i of one and run i of the other are not independent.
fn pairs([target, zero_out]: [&Outputs; 2]) -> impl Iterator<Item = (&[f64], &[f64])> {
    let half = target.runs.min(zero_out.runs) / 2;
    target.iter().take(half).zip(zero_out.iter().skip(half))
}

/// The shuffle window; pairs with a run without a finite score are left out.
fn shuffle_window(
    scorer: &OutputScorer,
    significance: f64,
    worlds: [&Outputs; 2],
) -> Option<ShuffleWindow> {
    let mut evidence = ShuffleEvidence::new(scorer)?;
    for (target, zero_out) in pairs(worlds) {
        let _ = evidence.add(target, zero_out); // counted as failed
    }
    evidence.window(significance)
}

/// Faults of the noise. The first one explains the others.
fn noise_findings(scorer: &OutputScorer, worlds: [&Outputs; 2]) -> Vec<Finding> {
    let noiseless = [World::Target, World::ZeroOut].into_iter().zip(worlds);
    let noiseless: Vec<Finding> = noiseless
        .filter(|(world, outputs)| is_noiseless(scorer, *world, &outputs.values))
        .map(|(world, _)| Finding::NoNoise { world })
        .collect();
    if !noiseless.is_empty() {
        return noiseless;
    }
    let noise_multiplier = scorer.mechanism().noise_multiplier;
    let (mut spread, mut reuse) = (OutputSpread::default(), NoiseReuse::default());
    for (target, zero_out) in pairs(worlds) {
        spread.add(target, zero_out, noise_multiplier);
    }
    for run in worlds.iter().flat_map(|outputs| outputs.iter()) {
        reuse.add(run, noise_multiplier);
    }
    let less = spread.ratio().filter(|_| spread.is_too_small());
    let reused = reuse.share().filter(|_| reuse.is_reused());
    let expected = NoiseReuse::expected();
    less.map(|ratio| Finding::OutputsVaryLessThanNoise { ratio })
        .or(reused.map(|share| Finding::NoiseReused { share, expected }))
        .into_iter()
        .collect()
}

impl ScoredOutputs {
    /// Scores every run under every hypothesis.
    ///
    /// A run without a finite score is an error, or counts against the attack with
    /// `--count-non-finite`.
    pub(super) fn new(
        args: &OutputsArgs,
        mechanism: &BatchedGaussian,
        [target, zero_out]: [&Outputs; 2],
    ) -> Result<Self, Failure> {
        let options =
            OutputOptions { reference: OutputReference::Sum, target_slot: args.target_step };
        let scorer = OutputScorer::new(mechanism, options).map_err(|error| match error {
            MechanismError::BatchSizeMissing { .. } => Failure::input(format!(
                "{error}: pass --batch-size B, or --per-batch-mean B if outputs are means"
            )),
            other => other.into(),
        })?;
        let searched = searches_buffer(args);
        let prefixes = if searched {
            partial_shuffle_candidates(mechanism.steps_per_epoch)
        } else {
            vec![mechanism.steps_per_epoch]
        };
        let score = |run: &[f64]| {
            if searched {
                scorer.prefix_scores(run, &prefixes)
            } else {
                Ok(vec![scorer.score(run)?])
            }
        };
        let scores = |world: World, outputs: &Outputs| -> Result<Vec<Vec<f64>>, Failure> {
            let mut all = vec![Vec::with_capacity(outputs.runs); prefixes.len()];
            for (index, run) in outputs.iter().enumerate() {
                let scores = match score(run) {
                    Err(_) if args.recorded.count_non_finite => vec![f64::NAN; prefixes.len()],
                    scores => scores.map_err(|error| {
                        let world = world.name();
                        Failure::input(format!("run {index} of the {world} world: {error}"))
                    })?,
                };
                all.iter_mut().zip(scores).for_each(|(scores, score)| scores.push(score));
            }
            Ok(all)
        };
        let worlds =
            scores(World::Target, target)?.into_iter().zip(scores(World::ZeroOut, zero_out)?);
        let hypotheses = prefixes.iter().zip(worlds).map(|(&k, (target, zero_out))| Hypothesis {
            prefix: searched.then_some(k),
            target,
            zero_out,
        });
        let worlds = [target, zero_out];
        let noise = noise_findings(&scorer, worlds);
        let significance = args.recorded.statement.significance();
        let has_noise = noise.is_empty();
        let shuffle_window =
            has_noise.then(|| shuffle_window(&scorer, significance, worlds)).flatten();
        Ok(ScoredOutputs { hypotheses: hypotheses.collect(), shuffle_window, noise })
    }

    /// The hypothesis that leaks most, with its result and the largest uncorrected maximum of all;
    /// the hypotheses share the significance of a bound.
    pub(super) fn audit(
        &self,
        options: &AuditOptions,
    ) -> Result<(&Hypothesis, AuditResult), Failure> {
        let count = self.hypotheses.len();
        let shared = match options.threshold_rule {
            ThresholdRule::MaxUncorrected => *options,
            _ => AuditOptions { significance: options.significance / count as f64, ..*options },
        };
        let uncorrected =
            AuditOptions { threshold_rule: ThresholdRule::MaxUncorrected, ..*options };
        let mut results = Vec::with_capacity(count);
        let mut estimates: Vec<Option<EpsilonEstimate>> = Vec::with_capacity(count);
        for hypothesis in &self.hypotheses {
            let scores = hypothesis.scores();
            let result = scores.audit(&shared)?;
            estimates.push(match shared == *options {
                true => result.uncorrected_maximum().copied(),
                false => scores.audit(&uncorrected)?.uncorrected_maximum().copied(),
            });
            results.push(result);
        }
        let outcomes: Vec<Outcome> = results.iter().map(|result| *result.outcome()).collect();
        let all = self.hypotheses.iter().zip(results);
        let best = all.max_by(|a, b| a.1.epsilon().total_cmp(&b.1.epsilon()));
        let largest = estimates.into_iter().flatten();
        let largest = largest.max_by(|a, b| a.value().total_cmp(&b.value()));
        let ((hypothesis, result), outcome) =
            best.zip(Outcome::best_of(&outcomes)).ok_or_else(|| {
                Failure::input("the significance is too large for this many hypotheses")
            })?;
        let whole = AuditResult::new(outcome, options.significance)
            .with_uncorrected_maximum(largest)
            .with_findings(result.findings().iter().copied())
            .with_findings(self.searched(hypothesis));
        Ok((hypothesis, whole))
    }

    fn searched(&self, best: &Hypothesis) -> Option<Finding> {
        let hypotheses = self.hypotheses.len() as u32;
        best.prefix.map(|prefix| Finding::BufferSearched { prefix, hypotheses })
    }
}
