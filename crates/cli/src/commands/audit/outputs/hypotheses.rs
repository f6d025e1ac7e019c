//! The ways to score recorded outputs: one, or one a prefix where a buffer is searched for.

use dpscope_core::adjacency::World;
use dpscope_core::audit::Outcome;
use dpscope_core::audit::bound::{EpsilonEstimate, ThresholdRule};
use dpscope_core::recorded::{OutputSpread, ShuffleEvidence, ShuffleWindow};

use dpscope_core::mechanism::{
    BatchedGaussian, MechanismError, OutputOptions, OutputReference, OutputScorer,
    partial_shuffle_candidates,
};
use dpscope_engine::{RecordedAudit, RecordedScores};

use super::OutputsArgs;
use super::load::{Outputs, searches_buffer};
use crate::failure::Failure;

/// Scores of one way to look at the outputs.
pub(super) struct Look {
    /// Batches of an epoch that were scored.
    prefix: Option<u32>,
    pub(super) target: Vec<f64>,
    pub(super) zero_out: Vec<f64>,
}

pub(super) struct Scored {
    pub(super) looks: Vec<Look>,
    /// How far into an epoch the shuffle reaches, where that can be asked.
    pub(super) reach: Option<ShuffleWindow>,
    spread: OutputSpread,
}

/// Runs of the first half of one world beside those of the second half of the other: where both
/// worlds were run from the same seeds, run i of one and run i of the other are not independent.
fn pairs([target, zero_out]: [&Outputs; 2]) -> impl Iterator<Item = (&[f64], &[f64])> {
    let half = target.runs.min(zero_out.runs) / 2;
    target.iter().take(half).zip(zero_out.iter().skip(half))
}

/// Pairs with a run without a finite score are left out.
fn reach(scorer: &OutputScorer, significance: f64, worlds: [&Outputs; 2]) -> Option<ShuffleWindow> {
    let mut evidence = ShuffleEvidence::new(scorer)?;
    for (target, zero_out) in pairs(worlds) {
        let _ = evidence.add(target, zero_out); // counted among the failed
    }
    evidence.reach(significance)
}

fn spread(noise_multiplier: f64, worlds: [&Outputs; 2]) -> OutputSpread {
    let mut spread = OutputSpread::default();
    for (target, zero_out) in pairs(worlds) {
        spread.add(target, zero_out, noise_multiplier);
    }
    spread
}

impl Scored {
    /// Scores every run in every look.
    ///
    /// A run that has no finite score is an error, or counts against the attack where the user
    /// asked for that.
    pub(super) fn new(
        args: &OutputsArgs,
        mechanism: &BatchedGaussian,
        [target, zero_out]: [&Outputs; 2],
    ) -> Result<Self, Failure> {
        let options =
            OutputOptions { reference: OutputReference::Sum, target_slot: args.target_step };
        let scorer = OutputScorer::new(mechanism, options).map_err(|error| match error {
            MechanismError::BatchSizeMissing { .. } => Failure::input(format!(
                "{error}: --batch-size B, or --per-batch-mean B where outputs are means"
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
            let mut looks = vec![Vec::with_capacity(outputs.runs); prefixes.len()];
            for (index, run) in outputs.iter().enumerate() {
                let scores = match score(run) {
                    Err(_) if args.recorded.count_non_finite => vec![f64::NAN; prefixes.len()],
                    scores => scores.map_err(|error| {
                        let world = world.name();
                        Failure::input(format!("run {index} of the {world} world: {error}"))
                    })?,
                };
                looks.iter_mut().zip(scores).for_each(|(look, score)| look.push(score));
            }
            Ok(looks)
        };
        let worlds =
            scores(World::Target, target)?.into_iter().zip(scores(World::ZeroOut, zero_out)?);
        let looks = prefixes.iter().zip(worlds).map(|(&k, (target, zero_out))| Look {
            prefix: searched.then_some(k),
            target,
            zero_out,
        });
        let worlds = [target, zero_out];
        let reach = reach(&scorer, args.recorded.statement.significance, worlds);
        let spread = spread(mechanism.noise_multiplier, worlds);
        Ok(Scored { looks: looks.collect(), reach, spread })
    }

    /// The best look, its outcome, and the largest uncorrected maximum of all looks; a bound shares
    /// its significance among the looks.
    pub(super) fn audit(
        &self,
        audit: &RecordedAudit,
    ) -> Result<(usize, Outcome, EpsilonEstimate), Failure> {
        let uncorrected = RecordedAudit { threshold_rule: ThresholdRule::MaxUncorrected, ..*audit };
        let shared = match audit.threshold_rule {
            ThresholdRule::MaxUncorrected => *audit,
            _ => {
                let significance = audit.significance / self.looks.len() as f64;
                RecordedAudit { significance, ..*audit }
            }
        };
        let mut outcomes = Vec::with_capacity(self.looks.len());
        let mut estimates = Vec::with_capacity(self.looks.len());
        for Look { target, zero_out, .. } in &self.looks {
            let scores = RecordedScores { target, zero_out, likelihood_ratios: true };
            let (outcome, estimate) = scores.audit(&shared)?;
            outcomes.push(outcome);
            let alone = shared.significance == audit.significance;
            estimates.push(if alone { estimate } else { scores.audit(&uncorrected)?.1 });
        }
        let values = outcomes.iter().map(Outcome::value).enumerate();
        let best = values.max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(index, _)| index);
        let largest = estimates.into_iter().max_by(|a, b| a.value().total_cmp(&b.value()));
        Outcome::best_of(&outcomes)
            .zip(largest)
            .map(|(outcome, largest)| (best, outcome, largest))
            .ok_or_else(|| Failure::input("the significance is too large for this many looks"))
    }

    /// What was searched, and what does not fit the noise, in words.
    pub(super) fn notes(&self, best: usize) -> Vec<String> {
        let looks = self.looks.len();
        let searched = self.looks[best].prefix.map(|k| {
            format!(
                "the buffer was searched for: of {looks} prefixes the first {k} batches of an epoch \
                 leak most; a bound shares its significance among the {looks} looks"
            )
        });
        let ratio = self.spread.ratio().filter(|_| self.spread.is_too_small());
        let quiet = ratio.map(|ratio| {
            format!(
                "outputs of different runs differ {ratio:.2e} times as much as their noise alone would \
                 make them: less noise was added than the noise multiplier says, or the outputs are \
                 on another scale (pass --per-batch-mean B for means over B records, --clip-norm C for \
                 gradients clipped to C)"
            )
        });
        searched.into_iter().chain(quiet).collect()
    }
}
