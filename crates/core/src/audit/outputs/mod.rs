//! Audits of recorded outputs: the attacks that are tested, and what the outputs indicate about the
//! code behind them.

mod behaviour;
mod causes;
mod fixed_step;
mod noise;
mod noiseless_steps;
mod sampler;

use super::finding::Finding;
use super::hypotheses::{Hypotheses, HypothesesError, at_share};
use super::result::AuditResult;
use super::scores::{AuditOptions, Scores, choosing_runs};
use super::slope::ScoreSlope;
use crate::adjacency::World;
use crate::mechanism::{BatchSampler, MechanismError, OutputScorer, partial_shuffle_candidates};
use crate::recorded::independence::{
    CheckedWorld, IndependenceChecks, IndependenceError, RecordedRuns,
};
use crate::recorded::{
    CanarySize, Cells, NoiselessCells, OutputModel, OutputPhase, RecordedUses, SamplerEvidence,
    StepComparison,
};

/// Recorded outputs of runs of both worlds, on the scale of sums in clip norms.
#[derive(Debug, Clone, Copy)]
pub struct RecordedOutputs<'a> {
    /// How a run is scored.
    pub scorer: &'a OutputScorer,
    /// Runs of D.
    pub target: RecordedRuns<'a>,
    /// Runs of D′.
    pub zero_out: RecordedRuns<'a>,
    /// Sums without noise of the runs of D and of D′, if they were recorded. They serve the findings,
    /// never the bound: the attacker does not see them.
    pub sums: Option<[RecordedRuns<'a>; 2]>,
    /// How often each step used the target, of D and of D′, if that was recorded.
    pub uses: Option<[RecordedRuns<'a>; 2]>,
    /// Whether the loader shuffles an unknown number of first batches: each of
    /// [`partial_shuffle_candidates`] is tested. The scorer's sampler is then a shuffle.
    pub searches_buffer: bool,
    /// Whether runs without a finite score count against the attack; otherwise they are an error.
    pub counts_failed_runs: bool,
}

/// An attack on recorded outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(tag = "kind", rename_all = "kebab-case"))]
pub enum OutputAttack {
    /// The likelihood ratio of the scorer's sampler.
    Sampler,
    /// That of a shuffle within the first batches of an epoch.
    Prefix {
        /// Number of batches.
        batches: u32,
    },
    /// That of a target which is always at one step.
    FixedStep {
        /// The step, from 0.
        step: u32,
    },
    /// Whether a step without noise shows the target.
    NoiselessSteps,
}

/// The audit of recorded outputs.
#[derive(Debug, Clone)]
pub struct OutputsAudit {
    /// The largest value of all attacks, and the findings: one for each cause.
    pub result: AuditResult,
    /// The attack behind it.
    pub attack: OutputAttack,
    /// Whether that is the attack on steps without noise; none where every step has noise.
    pub noiseless_steps_decide: Option<bool>,
    /// Scores of that attack, one per run of D.
    pub target: Vec<f64>,
    /// Scores of that attack, one per run of D′.
    pub zero_out: Vec<f64>,
    /// The options at that attack's share of the significance.
    pub options: AuditOptions,
    /// Tests of the independence of the runs.
    pub checks: IndependenceChecks,
    /// Likelihoods of samplers; none where no one set of parameters describes the outputs, or runs are
    /// copies.
    pub samplers: Option<SamplerEvidence>,
    /// The size of the canary, at the significance of the audit.
    pub canary: Option<CanarySize>,
    /// Slope of the log-odds of the worlds on the score of the scorer's sampler.
    pub slope: Option<ScoreSlope>,
    /// What the code did in each phase; empty with too few outputs.
    pub phases: Vec<OutputPhase>,
    /// Parameters of the best explanation of all outputs; none with too few of them.
    pub model: Option<OutputModel>,
    /// The largest ratio below 1 of the noise to the stated one that these outputs find with probability
    /// [`NoisePower::POWER`](crate::recorded::NoisePower::POWER).
    pub noise_ratio_found: Option<f64>,
    /// Which steps of an epoch are tested for noise that differs; none for one step, and where the noise
    /// was not fitted.
    pub step_comparison: Option<StepComparison>,
    /// Uses of the target, where they were recorded.
    pub uses: Option<RecordedUses>,
}

/// Errors of audits of recorded outputs.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OutputsError {
    /// A run that cannot be scored.
    #[error("run {run} of the {} world: {error}", world.name())]
    Run {
        /// Its world.
        world: World,
        /// Its place in the world, from 0.
        run: usize,
        /// What is wrong with it.
        error: MechanismError,
    },
    /// Worlds whose runs differ in shape.
    #[error(transparent)]
    Shape(#[from] IndependenceError),
    /// An attack that does not exist for the mechanism.
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
    /// An error of the audit of the scores.
    #[error(transparent)]
    Scores(#[from] HypothesesError),
}

/// Scores of one attack.
struct Attack {
    kind: OutputAttack,
    share: f64,
    target: Vec<f64>,
    zero_out: Vec<f64>,
}

impl Attack {
    fn scores(&self) -> Scores<'_> {
        Scores {
            target: &self.target,
            zero_out: &self.zero_out,
            likelihood_ratios: self.kind != OutputAttack::NoiselessSteps,
        }
    }
}

/// What the causes are sought in.
#[derive(Clone, Copy)]
struct Examined<'a> {
    checks: &'a IndependenceChecks,
    noiseless: &'a NoiselessCells,
    /// Outputs without a drift; none with too few runs.
    cells: Option<&'a Cells>,
}

impl RecordedOutputs<'_> {
    /// Share of the attack that takes the target to be always at one step, if there is another attack on
    /// the sampler.
    pub const FIXED_STEP_SHARE: f64 = 0.1;

    /// Share of the attack on steps without noise, if there are such steps; the others have the rest.
    pub const NOISELESS_SHARE: f64 = 0.9;

    /// Scores the runs by every attack, bounds ε by the best of them, and looks for faults of the
    /// code behind the outputs.
    ///
    /// The attacks are the scorer's, or one for each prefix if the buffer is unknown, and the one
    /// that takes the target to be always at one step of an epoch. The latter has
    /// a tenth of the significance, the others share the rest equally. The step is the one
    /// where the worlds differ most in the runs that choose thresholds, which the bound does not
    /// evaluate. If some steps of some epochs have no noise in those runs of D, the attack that looks only at
    /// whether they show the target has nine tenths of the significance.
    ///
    /// # Guarantee
    /// If runs are independent and their number and the seed were fixed beforehand, the bound
    /// exceeds ε with probability at most `significance`, however the runs were batched: given the
    /// runs that choose, each attack is a fixed function of a run, and [`Hypotheses`] shares the
    /// significance. Nothing depends on the findings, so there is no choice of the attack to correct
    /// for (`tests/coverage/outputs.rs::bounds_of_outputs_cover_for_every_order`). A loader that
    /// never shuffles is audited as deterministic (`tests/cli/faults.rs::a_loader_that_never_shuffles_is_audited_as_deterministic`).
    ///
    /// # Errors
    /// A run without a finite score, too few runs, or an argument outside its domain.
    pub fn audit(&self, options: &AuditOptions) -> Result<OutputsAudit, OutputsError> {
        let mut attacks = self.attacks(options)?;
        let hypotheses = attacks
            .iter()
            .fold(Hypotheses::default(), |all, attack| all.with(attack.scores(), attack.share));
        let shared = hypotheses.audit(options)?;
        let sampled = self.best_for_sampler(&attacks, &shared.each);
        let sampler = (!self.searches_buffer).then_some(self.scorer.mechanism().sampler);
        let Attack { target, zero_out, .. } = &attacks[sampled];
        let noiseless = self.noiseless_cells();
        let cells = self.cells(&noiseless);
        let checked = |world: World, scores| {
            let runs = self.world(world);
            let without_drift = cells.as_ref().map_or(runs, |cells| cells.runs(world));
            CheckedWorld { runs, without_drift, scores }
        };
        let checks = IndependenceChecks::of(
            sampler,
            checked(World::Target, target),
            checked(World::ZeroOut, zero_out),
        )?;
        let is_ratio = self.scorer.distribution().is_likelihood_ratio();
        let slope = match self.searches_buffer {
            false if is_ratio => ScoreSlope::of_scores(target, zero_out),
            _ => None, // the sampler is unknown, or the score is no likelihood ratio
        };
        let searched = match attacks[sampled].kind {
            OutputAttack::Prefix { batches } => {
                let hypotheses = partial_shuffle_candidates(self.steps_per_epoch()).len() as u32;
                Some(Finding::BufferSearched { prefix: batches, hypotheses })
            }
            _ => None,
        };
        let fixed_step = attacks.iter().find_map(|attack| match attack.kind {
            OutputAttack::FixedStep { step } => Some(u64::from(step)),
            _ => None,
        });
        let found = self.causes(
            &Examined { checks: &checks, noiseless: &noiseless, cells: cells.as_ref() },
            fixed_step,
            shared.each[sampled].findings(),
        );
        let result = shared.result.with_findings(searched).with_findings(found.findings);
        let is_noiseless = |attack: &Attack| attack.kind == OutputAttack::NoiselessSteps;
        let noiseless_steps_decide =
            attacks.iter().any(is_noiseless).then(|| is_noiseless(&attacks[shared.best]));
        let Attack { kind, share, target, zero_out } = attacks.swap_remove(shared.best);
        Ok(OutputsAudit {
            result,
            attack: kind,
            noiseless_steps_decide,
            target,
            zero_out,
            options: at_share(options, share),
            checks,
            samplers: found.samplers,
            canary: self.canary().map(|canary| canary.size(options.significance)),
            slope,
            phases: found.phases,
            model: found.model,
            noise_ratio_found: found.noise_ratio_found,
            step_comparison: found.step_comparison,
            uses: found.uses,
        })
    }

    /// The best attack that assumes the scorer's sampler.
    fn best_for_sampler(&self, attacks: &[Attack], each: &[AuditResult]) -> usize {
        let indices = (0..attacks.len()).rev();
        let assumes_sampler = |&index: &usize| {
            let kind = attacks[index].kind;
            !matches!(kind, OutputAttack::FixedStep { .. } | OutputAttack::NoiselessSteps)
        };
        let largest = |a: &usize, b: &usize| each[*a].epsilon().total_cmp(&each[*b].epsilon());
        indices.filter(assumes_sampler).max_by(largest).unwrap_or(0)
    }

    fn steps_per_epoch(&self) -> u32 {
        self.scorer.mechanism().steps_per_epoch
    }

    /// Epochs and steps of a run.
    fn shape(&self) -> [usize; 2] {
        let mechanism = self.scorer.mechanism();
        [mechanism.epochs, mechanism.steps_per_epoch].map(|count| count as usize)
    }

    fn attacks(&self, options: &AuditOptions) -> Result<Vec<Attack>, OutputsError> {
        let mut attacks = match self.searches_buffer {
            true => self.prefixes()?,
            false => {
                let score = |run: &[f64]| self.scorer.score(run);
                let [target, zero_out] = self.scored(&score)?;
                vec![Attack { kind: OutputAttack::Sampler, share: 1.0, target, zero_out }]
            }
        };
        let fixed = match self.scorer.mechanism().sampler {
            BatchSampler::Deterministic => None,
            _ => self.fixed_step(options),
        };
        let noiseless = self.noiseless_steps(options);
        let all = if noiseless.is_some() { 1.0 - Self::NOISELESS_SHARE } else { 1.0 };
        let for_fixed = if fixed.is_some() { Self::FIXED_STEP_SHARE * all } else { 0.0 };
        let for_sampler = all - for_fixed;
        let share = for_sampler / attacks.len() as f64;
        attacks.iter_mut().for_each(|attack| attack.share = share);
        if let Some(step) = fixed {
            let scorer = self.scorer.at_fixed_step(step)?;
            let [target, zero_out] = self.scored(&|run: &[f64]| scorer.score(run))?;
            let kind = OutputAttack::FixedStep { step };
            attacks.push(Attack { kind, share: for_fixed, target, zero_out });
        }
        if let Some(noiseless) = noiseless {
            let [target, zero_out] = self.scored(&|run: &[f64]| noiseless.score(run))?;
            let kind = OutputAttack::NoiselessSteps;
            attacks.push(Attack { kind, share: Self::NOISELESS_SHARE, target, zero_out });
        }
        Ok(attacks)
    }

    /// The step at which the worlds differ most in the runs that choose thresholds.
    fn fixed_step(&self, options: &AuditOptions) -> Option<u32> {
        let chosen = |world, runs: RecordedRuns<'_>| choosing_runs(options, world, runs.len());
        let target = (self.target, &chosen(World::Target, self.target)[..]);
        let zero_out = (self.zero_out, &chosen(World::ZeroOut, self.zero_out)[..]);
        fixed_step::step_of_largest_difference(target, zero_out)
    }

    fn prefixes(&self) -> Result<Vec<Attack>, OutputsError> {
        let prefixes = partial_shuffle_candidates(self.steps_per_epoch());
        let of_world = |world: World| -> Result<Vec<Vec<f64>>, OutputsError> {
            let mut scores = vec![Vec::new(); prefixes.len()];
            for (index, run) in self.world(world).runs().enumerate() {
                let of_run = self.scorer.prefix_scores(run, &prefixes);
                let of_run =
                    self.counted(of_run, || vec![f64::NAN; prefixes.len()], world, index)?;
                scores.iter_mut().zip(of_run).for_each(|(scores, score)| scores.push(score));
            }
            Ok(scores)
        };
        let worlds = of_world(World::Target)?.into_iter().zip(of_world(World::ZeroOut)?);
        Ok(prefixes
            .iter()
            .zip(worlds)
            .map(|(&batches, (target, zero_out))| Attack {
                kind: OutputAttack::Prefix { batches },
                share: 1.0,
                target,
                zero_out,
            })
            .collect())
    }

    fn world(&self, world: World) -> RecordedRuns<'_> {
        match world {
            World::Target => self.target,
            World::ZeroOut => self.zero_out,
        }
    }

    /// One score per run of both worlds.
    fn scored(
        &self,
        score: &dyn Fn(&[f64]) -> Result<f64, MechanismError>,
    ) -> Result<[Vec<f64>; 2], OutputsError> {
        let of_world = |world: World| -> Result<Vec<f64>, OutputsError> {
            let runs = self.world(world).runs().enumerate();
            runs.map(|(index, run)| self.counted(score(run), || f64::NAN, world, index)).collect()
        };
        Ok([of_world(World::Target)?, of_world(World::ZeroOut)?])
    }

    /// The score of a run, or that of a failed run if those are counted.
    fn counted<T>(
        &self,
        score: Result<T, MechanismError>,
        failed: impl Fn() -> T,
        world: World,
        run: usize,
    ) -> Result<T, OutputsError> {
        match score {
            Err(_) if self.counts_failed_runs => Ok(failed()),
            score => score.map_err(|error| OutputsError::Run { world, run, error }),
        }
    }
}

#[cfg(test)]
mod tests;
